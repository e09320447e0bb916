package ui_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"deedkeep/app/config"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/ui"
	"deedkeep/app/vaulttest"
)

// wrongTokens are tokens that someone may guess, who doesn't know the setup link.
func wrongTokens(t *testing.T, token string) (list []string) {
	t.Helper()
	for range 200 {
		other, err := secret.NewToken(vaulttest.Rand())
		if err != nil {
			t.Fatalf("secret.NewToken: %v", err)
		}
		list = append(list, other)
	}
	return append(list, token[:len(token)-1], token+"A", strings.ToLower(token), strings.ToUpper(token), token+"%00", token+"%0d%0a",
		"%20"+token, strings.Repeat("A", len(token)), strings.Repeat("A", 7000), "*", "1", "null")
}

// Wrong setup links don't work, reveal nothing, and don't lock out the administrator who has the right one.
func TestGuessedSetupLink(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, nil)
	token, err := h.vault.Users.NewFirstLink(t.Context())
	vaulttest.NoError(t, err)
	form := newPasswordForm(goodPassword)
	form.Set("name", "eve")
	for _, wrong := range wrongTokens(t, token) {
		path := "/join/" + wrong
		for name, got := range map[string]reply{"GET": h.send(t, "GET", path), "POST": h.post(t, 404, path, form)} {
			if text := string(got.body); got.StatusCode != 404 || got.Header.Get("Set-Cookie") != "" || strings.Contains(text, token) ||
				strings.Contains(text, "administrator account") {
				t.Fatalf("%s %.80s: got status %d and %s", name, path, got.StatusCode, got.main())
			}
		}
	}
	if users, err := h.vault.Users.List(t.Context()); err != nil || len(users) != 0 {
		t.Fatalf("users: got %v, %v, want none", users, err)
	}
	form.Set("name", "kim")
	h.post(t, 303, "/join/"+token, form)
}

// sendForm sends a form, even if the server responds before it has read all of it.
func (ts *testServer) sendForm(t *testing.T, path, body string, header ...string) reply {
	t.Helper()
	conn := ts.dial(t)
	defer conn.Close()
	lines := append([]string{"Host: vault.test", "Connection: close", "Content-Type: application/x-www-form-urlencoded",
		fmt.Sprint("Content-Length: ", len(body))}, header...)
	go func() {
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%s\r\n\r\n%s", path, strings.Join(lines, "\r\n"), body)
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodPost})
	if err != nil {
		t.Errorf("POST %s: %v", path, err)
		return reply{Response: &http.Response{}}
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("POST %s: %v", path, err)
	}
	return newReply(response, content)
}

// The setup link works once, for a day, until there is an administrator, and until the next start.
func TestReplayedSetupLink(t *testing.T) {
	t.Parallel()
	link := func(h *testServer) string {
		t.Helper()
		token, err := h.vault.Users.NewFirstLink(t.Context())
		vaulttest.NoError(t, err)
		return "/join/" + token
	}
	form := newPasswordForm(goodPassword)
	form.Set("name", "kim")

	t.Run("at the same time", func(t *testing.T) {
		t.Parallel()
		h := newEmptyTestServer(t, nil)
		path := link(h)
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				own := newPasswordForm(goodPassword)
				own.Set("name", fmt.Sprint("kim", n))
				h.sendForm(t, path, own.Encode())
			})
		}
		all.Wait()
		if users, err := h.vault.Users.List(t.Context()); err != nil || len(users) != 1 {
			t.Errorf("users: got %v, %v, want one", users, err)
		}
		h.request(t, 404, "GET", path)
		h.post(t, 404, path, form)
	})
	t.Run("a replaced link", func(t *testing.T) {
		t.Parallel()
		h := newEmptyTestServer(t, nil)
		before, after := link(h), link(h) // as a restart does
		h.post(t, 404, before, form)
		h.request(t, 200, "GET", after)
	})
	t.Run("an expired link", func(t *testing.T) {
		t.Parallel()
		h := newEmptyTestServer(t, nil)
		path := link(h)
		h.clock.Advance(model.PasswordLinkTTL - 1)
		h.request(t, 200, "GET", path)
		h.clock.Advance(1)
		h.request(t, 404, "GET", path)
		h.post(t, 404, path, form)
	})
	t.Run("another administrator", func(t *testing.T) {
		t.Parallel()
		h := newEmptyTestServer(t, nil)
		path := link(h)
		h.createUser(t, "ada", model.RoleAdmin)
		h.request(t, 404, "GET", path)
		h.post(t, 404, path, form)
	})
	t.Run("another site", func(t *testing.T) {
		t.Parallel()
		h := newEmptyTestServer(t, nil)
		path := link(h)
		for _, from := range otherSites {
			h.post(t, 403, path, form, from)
		}
		h.request(t, 200, "GET", path)
	})
}

// otherSites are the headers that browsers send with a form of another site.
var otherSites = []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://elsewhere.example",
	"Origin: http://vault.test.elsewhere.example", "Origin: null"}

// settingRoutes returns the addresses of all forms that change settings.
func settingRoutes() (paths []string) {
	for _, r := range ui.Routes() {
		path, isPost := strings.CutPrefix(r.Pattern, "POST ")
		if !isPost || !strings.HasPrefix(path, "/admin/settings") && !strings.HasPrefix(path, "/admin/setup") {
			continue
		}
		switch {
		case strings.Contains(path, "{group}"):
			for _, g := range config.Groups() {
				paths = append(paths, strings.Replace(path, "{group}", g.Name, 1))
			}
		case strings.Contains(path, "{step}"):
			for _, step := range []string{"firm", "two-factor", "access", "backup", "retention", "done"} {
				paths = append(paths, strings.Replace(path, "{step}", step, 1))
			}
		default:
			paths = append(paths, path)
		}
	}
	return paths
}

// hostileSettings has a value for each field of the forms for settings.
func hostileSettings() url.Values {
	form := url.Values{"reach": {"public"}, "host": {"elsewhere.example"}, "patterns": {"# stolen\n"}, "logo_remove": {"true"}}
	for _, g := range config.Groups() {
		for _, s := range g.Settings {
			form.Set(s.Key, map[string]string{"firm.name": "stolen", "users.session_idle": "1h", "users.require_two_factor": "true",
				"ocr.enabled": "true", "listen": ":9000", "backup.to": "/tmp/stolen", "trash.keep": "1h"}[s.Key])
		}
	}
	return form
}

// Only administrators on this site change settings, also after the setup is complete. A form of another size than pages send is
// rejected.
func TestForeignSettings(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin, staff, viewer := h.newUser(t, "ada", model.RoleAdmin), h.newUser(t, "tom", model.RoleStaff), h.newUser(t, "vera", model.RoleViewer)
	form := hostileSettings()
	paths := settingRoutes()
	if len(paths) < 15 {
		t.Fatalf("addresses: got %v, want all forms of settings", paths)
	}
	large := strings.Repeat("x", 10<<20)
	for _, path := range paths {
		h.post(t, 303, path, form).checkHeaders(t, map[string]string{"Location": "/sign-in"})
		h.post(t, 303, path, form, "Cookie: deedkeep="+strings.Repeat("A", 43)).checkHeaders(t, map[string]string{"Location": "/sign-in"})
		staff.post(t, 403, path, form)
		viewer.post(t, 403, path, form)
		for _, from := range otherSites {
			admin.post(t, 403, path, form, from)
		}
		if got := h.sendForm(t, path, "firm.name="+large, admin.cookie); got.StatusCode != 413 {
			t.Errorf("POST %s with 10 MB: got status %d, want 413", path, got.StatusCode)
		}
		if got := h.sendForm(t, path, "firm.name="+large); got.StatusCode != 303 {
			t.Errorf("POST %s with 10 MB, signed out: got status %d, want 303", path, got.StatusCode)
		}
	}
	if stored, err := h.vault.Stored.Stored(t.Context()); err != nil || len(stored) != 0 ||
		h.vault.Stored.Patterns().Text != "" || h.restarts.Load() != 0 {
		t.Errorf("after denied forms: stored %v, %v, %d restarts, want none", stored, err, h.restarts.Load())
	}
	admin.post(t, 303, "/admin/settings/firm", form) // the form works for the administrator
	if got := h.vault.Stored.Current().Firm.Name; got != "stolen" {
		t.Errorf("name of the firm: got %q, want the submitted one", got)
	}
}

// Long values and values that would be dangerous elsewhere are rejected with the reason, and aren't stored.
func TestHostileSettings(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const line = "\r\nSet-Cookie: deedkeep=x"
	for _, row := range []struct{ path, key, value, want string }{
		{"/admin/settings/firm", "firm.name", "Kern" + line, "Must be one line of text."},
		{"/admin/settings/firm", "firm.email", "a@example.com" + line, "firm.email-problem"},
		{"/admin/settings/access", "public_url", "https://vault.example.com" + line, "must be a URL without a path"},
		{"/admin/settings/access", "public_url", "https://vault.example.com/x", "must be a URL without a path"},
		{"/admin/settings/access", "public_url", "https://kim@vault.example.com", "must be a URL without a path"},
		{"/admin/settings/access", "public_url", "javascript:alert(1)", "must be a URL without a path"},
		{"/admin/settings/access", "allowed_hosts", "vault" + line, "allowed_hosts-problem"},
		{"/admin/settings/access", "listen", "127.0.0.1:8080" + line, "listen-problem"},
		{"/admin/settings/access", "trusted_proxies", "0.0.0.0/0" + line, "trusted_proxies-problem"},
		{"/admin/setup/access", "host", "vault.example.com" + line, "must be a URL without a path"},
		{"/admin/setup/access", "host", "vault.example.com@elsewhere.example", "must be a URL without a path"},
		{"/admin/setup/access", "host", "vault.example.com#", "must be a URL without a path"},
		{"/admin/setup/access", "host", "[::1]:x", "must be a URL without a path"},
		{"/admin/settings/backup", "backup.to", "/srv/\x00x", "is not a valid path"},
		{"/admin/settings/backup", "backup.to", "/srv" + line, "is not a valid path"},
		{"/admin/settings/ocr", "ocr.languages", "../../etc/passwd", "ocr.languages-problem"},
		{"/admin/settings/retention", "retention.templates", "1=-5y", "retention.templates-problem"},
		{"/admin/settings/retention", "retention.keep", "-1s", "retention.keep-problem"},
		{"/admin/settings/users", "users.session_idle", "0s", "users.session_idle-problem"},
		{"/admin/settings/documents", "limits.file_size", "99999999999999999999 GB", "limits.file_size-problem"},
	} {
		t.Run(row.key+" "+row.value, func(t *testing.T) {
			form := admin.settingForm(t, row.path, url.Values{row.key: {row.value}, "reach": {"public"}})
			got := admin.post(t, 422, row.path, form)
			got.has(t, row.want)
			if cookie := got.Header.Get("Set-Cookie"); strings.Contains(cookie, "deedkeep=x") {
				t.Errorf("Set-Cookie: got %q", cookie)
			}
		})
	}
	for _, g := range config.Groups() {
		path := "/admin/settings/" + g.Name
		for _, s := range g.Settings {
			form := admin.settingForm(t, path, url.Values{s.Key: {strings.Repeat("9", 1<<20)}})
			if s.Key == "time_zone" || !strings.Contains(string(admin.get(t, 200, path).body), `name="`+s.Key+`" value="true"`) {
				want := 422
				if g.Name == "firm" {
					want = 413 // its form has a smaller limit, because it can have a logo
				}
				got := admin.post(t, want, path, form)
				if len(got.body) > 100<<10 {
					t.Errorf("%s: the page with the problem has %d bytes, want less than the value", s.Key, len(got.body))
				}
			}
		}
	}
	if stored, err := h.vault.Stored.Stored(t.Context()); err != nil || len(stored) != 0 {
		t.Errorf("stored: got %v, %v, want none", stored, err)
	}
}

// Forms that are too large don't fill the memory.
func TestLargeSetupForms(t *testing.T) {
	h := newEmptyTestServer(t, nil)
	token, err := h.vault.Users.NewFirstLink(t.Context())
	vaulttest.NoError(t, err)
	large := "password=" + strings.Repeat("x", 10<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		h.sendForm(t, "/join/"+token, large).has(t, "Form too large")
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 200<<20 { // the test itself needs more than half of it
		t.Errorf("memory for 10 forms of 10 MB: got %d MB, want less than 200 MB", got>>20)
	}
	h.request(t, 200, "GET", "/join/"+token)
}
