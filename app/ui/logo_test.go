package ui_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// logoForm returns the form of the firm at path with a logo and other fields, as browsers send it.
func (tu *testUser) logoForm(t *testing.T, path, logo string, fields url.Values) (body, kind string) {
	t.Helper()
	fields = tu.settingForm(t, path, fields)
	var b strings.Builder
	for name := range fields {
		fmt.Fprintf(&b, "--XX\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", name, fields.Get(name))
	}
	b.WriteString("--XX\r\nContent-Disposition: form-data; name=\"logo\"; filename=\"logo.png\"\r\nContent-Type: image/png\r\n\r\n")
	b.WriteString(logo + "\r\n")
	return b.String() + "--XX--\r\n", "Content-Type: multipart/form-data; boundary=XX"
}

func coloredPNG(t *testing.T, c color.Color) string {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, 60, 30), color.Palette{c})
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatalf("png.Encode: %v", err)
	}
	return out.String()
}

var logoAddress = regexp.MustCompile(`src="(/logo/[0-9a-f]+)"`)

// The logo is uploaded with the other facts of the firm, shown where the firm is named, replaced, and removed.
func TestLogo(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Reader = vaulttest.ImageReader{} })
	h.createUser(t, "Owner", model.RoleAdmin)
	admin, viewer := h.newUser(t, "ada", model.RoleAdmin), h.newUser(t, "vera", model.RoleViewer)
	abstract, _ := h.createAbstract(t, vaulttest.Operator, nil, model.Property{})
	post := func(want int, path, logo string, fields url.Values) reply {
		t.Helper()
		body, kind := admin.logoForm(t, path, logo, fields)
		return h.sendBody(t, want, "POST", path, body, admin.cookie, kind)
	}
	const firm, setup = "/admin/settings/firm", "/admin/setup/firm"
	name := url.Values{"firm.name": {"Kern & Vail"}}
	post(422, firm, "<svg/>", name).has(t, `id="logo-problem"`, "is not a PNG or JPEG image", `value="Kern &amp; Vail"`,
		`enctype="multipart/form-data"`)
	post(422, firm, strings.Repeat("x", 3<<20), name).has(t, "The logo is larger than 1 MB. Choose a smaller file.")
	whole, kind := admin.logoForm(t, firm, coloredPNG(t, color.Black), name)
	h.sendBody(t, 400, "POST", firm, whole[:len(whole)-20], admin.cookie, kind).has(t, "Nothing was saved")
	if c := h.vault.Stored.Current(); c.Firm.Name != "" || h.vault.Stored.Logo().Version != "" {
		t.Fatalf("after rejected forms: got the firm %q and the logo %q, want none", c.Firm.Name, h.vault.Stored.Logo().Version)
	}
	h.request(t, 200, "GET", "/sign-in").lacks(t, "/logo/")

	post(303, setup, coloredPNG(t, color.Black), name).checkHeaders(t, map[string]string{"Location": "/admin/setup/two-factor"})
	first := logoAddress.FindSubmatch(admin.get(t, 200, setup, `alt="Current logo"`, "Remove the logo").body)
	if first == nil {
		t.Fatal("the form doesn't show the logo")
	}
	address := string(first[1])
	shown := `<img class="logo" src="` + address + `" alt="Kern &amp; Vail">`
	h.request(t, 200, "GET", "/sign-in").has(t, shown)
	viewer.get(t, 200, abstract+"/print", `<address class="print-firm">`+shown+"<b>Kern &amp; Vail</b>")
	shownImage := h.request(t, 200, "GET", address)
	shownImage.checkHeaders(t, map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff",
		"Cache-Control": "private, max-age=31536000, immutable"})
	if _, err := png.Decode(bytes.NewReader(shownImage.body)); err != nil {
		t.Errorf("the logo: %v", err)
	}
	admin.get(t, 200, "/admin/activity", "Logo: added")

	post(303, firm, "", name) // without a file, the logo stays
	h.request(t, 200, "GET", address)
	post(303, firm, coloredPNG(t, color.White), name).checkHeaders(t, map[string]string{"Location": "/admin/settings"})
	h.request(t, 404, "GET", address)
	h.request(t, 200, "GET", "/sign-in").has(t, `src="/logo/`)
	h.request(t, 200, "GET", "/sign-in").lacks(t, address)
	name.Set("logo_remove", "true")
	post(303, firm, "", name)
	h.request(t, 200, "GET", "/sign-in").lacks(t, "/logo/")
	viewer.get(t, 200, abstract+"/print").lacks(t, "/logo/")
	admin.get(t, 200, "/admin/activity", "Logo: replaced", "Logo: removed")

	body, kind := admin.logoForm(t, firm, coloredPNG(t, color.Black), name)
	h.sendBody(t, 403, "POST", firm, body, viewer.cookie, kind)
	h.sendBody(t, 403, "POST", firm, body, admin.cookie, kind, "Sec-Fetch-Site: cross-site")
	if got := h.vault.Stored.Logo().Version; got != "" {
		t.Errorf("logo after denied requests: got %s, want none", got)
	}
}
