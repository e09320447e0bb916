//go:build browser

package cmd_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	pageproto "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

const (
	readmeScreenshots   = "../.github/screenshots"
	guideScreenshots    = "../app/guides/screenshots"
	maxScreenshotsBytes = 1_000_000 // of all screenshots together
)

// The screenshots in README.md and in the guides can be taken, and together they are small. If
// DEEDKEEP_RETAKE_SCREENSHOTS is set, the test saves them:
//
//	DEEDKEEP_RETAKE_SCREENSHOTS=1 go test -tags browser -run TestDocumentScreenshots ./cmd
func TestDocumentScreenshots(t *testing.T) {
	b, open, certified := newBrowserEnv(t).newExampleFirm(t)
	shots := takeScreenshots(t, b, open, certified)
	for path, picture := range shots {
		if os.Getenv("DEEDKEEP_RETAKE_SCREENSHOTS") == "" {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("screenshot %s: %v", path, err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("create directory: %v", err)
		}
		if err := os.WriteFile(path, picture, 0o644); err != nil {
			t.Fatalf("write screenshot: %v", err)
		}
	}
	total := 0
	for _, dir := range []string{readmeScreenshots, guideScreenshots} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatalf("list screenshots: %v", err)
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil {
				t.Fatalf("stat screenshot: %v", err)
			}
			total += int(info.Size())
			if _, taken := shots[dir+"/"+entry.Name()]; !taken {
				t.Errorf("%s/%s: this test doesn't take it", dir, entry.Name())
			}
		}
	}
	if total > maxScreenshotsBytes {
		t.Errorf("screenshots: got %d bytes, want at most %d", total, maxScreenshotsBytes)
	}
}

// newExampleFirm starts a server with the example firm, and signs in its examiner. It returns the first abstract, which
// has a gap, and one that is certified.
func (env *browserEnv) newExampleFirm(t *testing.T) (b *tab, open, certified apitypes.Abstract) {
	t.Helper()
	srv := env.newServer(t, "DEEDKEEP_TIME_ZONE=America/New_York")
	var made apitypes.Demo
	if err := json.Unmarshal([]byte(srv.command("", "demo", "--json")), &made); err != nil {
		t.Fatalf("decode the example firm: %v", err)
	}
	link, err := url.Parse(made.Users[1].Link)
	if err != nil {
		t.Fatalf("parse link: %v", err)
	}
	b = env.newTab(t, srv.origin)
	b.setSize(1280, 800)
	b.setTheme("light")
	b.goTo(link.Path)
	b.fill("input[name=password]", password)
	b.fill("input[name=again]", password)
	b.clickLink("main button")
	b.waitVisible(".person | " + made.Users[1].Data.Name)
	c := srv.apiClient()
	page, err := c.AbstractPage(t.Context(), client.ListOptions{Sort: "created_at", PerPage: 2})
	if err != nil || len(page.Data) != 2 {
		t.Fatalf("list abstracts: got %d, %v, want 2", len(page.Data), err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		pending := 0
		for file, err := range c.Files(t.Context(), client.ListOptions{}) {
			if err != nil {
				t.Fatalf("list documents: %v", err)
			}
			if file.IsProcessing {
				pending++
			}
		}
		if pending == 0 {
			return b, page.Data[0], page.Data[1]
		}
		if time.Now().After(end) {
			t.Fatalf("after 2 minutes: got %d documents in processing, want none", pending)
		}
	}
}

// takeScreenshots returns the compressed screenshots by path.
func takeScreenshots(t *testing.T, b *tab, open, certified apitypes.Abstract) map[string][]byte {
	shots := map[string][]byte{}
	take := func(name string, dirs ...string) {
		b.waitImages()
		picture := b.compressedScreenshot(t)
		for _, dir := range dirs {
			shots[dir+"/"+name+".png"] = picture
		}
	}
	viewed := fmt.Sprintf("/documents/%d?in=abstract:%s", open.Files[len(open.Files)-1].ID, open.ID)

	b.goTo(viewed)
	b.waitPageImage(1)
	b.waitImages()
	b.press("i")
	b.waitFor(inType)
	b.waitVisible(".panel-suggested | Grantor")
	b.pressWith(withShift, kb.F4)
	b.waitFor(`document.getElementById("instrument-grantors").value !== ""`)
	take("panel", readmeScreenshots, guideScreenshots)

	b.setSize(1500, 900)
	b.expect("dialog: beforeunload") // the form in the panel isn't saved
	b.goTo("/abstracts/" + open.ID)
	b.waitVisible(".runsheet .gap")
	b.scrollTo("#runsheet")
	take("runsheet", readmeScreenshots, guideScreenshots)
	b.setSize(1280, 800)
	b.goTo("/")
	b.waitImages()
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("harrowgate")
	b.waitResults("Warranty")
	take("search", readmeScreenshots)

	b.setSize(1000, 620)
	b.goTo("/")
	take("desk", guideScreenshots)
	b.goTo("/abstracts/" + open.ID)
	b.scrollTo("#documents")
	take("documents", guideScreenshots)
	b.goTo(viewed)
	b.waitPageImage(1)
	b.press("?")
	b.waitVisible("[data-dialog=keys]")
	take("viewer", guideScreenshots)
	b.goTo("/find?q=harrowgate")
	take("search", guideScreenshots)

	b.setSize(1280, 600)
	b.goTo("/abstracts/" + certified.ID + "/print")
	b.scrollTo("#print-names")
	take("certificate", readmeScreenshots, guideScreenshots)
	return shots
}

// scrollTo scrolls an element to the top of the window.
func (ta *tab) scrollTo(selector string) {
	ta.t.Helper()
	eval[bool](ta, fmt.Sprintf(`(() => { document.querySelector(%q).scrollIntoView(); return true })()`, selector))
}

// compressedScreenshot returns the window as a PNG file with the 256 most frequent colors.
func (ta *tab) compressedScreenshot(t *testing.T) []byte {
	t.Helper()
	eval[bool](ta, `(() => { document.activeElement?.matches("main, body") || document.querySelector("dialog[open]") || document.activeElement.blur(); return true })()`)
	captured := call(ta, pageproto.CaptureScreenshot, pageproto.CaptureScreenshotParams{Format: pageproto.CaptureScreenshotFormatPng})
	full, err := png.Decode(bytes.NewReader(captured.Data))
	if err != nil {
		t.Fatalf("decode screenshot: %v", err)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, withPalette(full)); err != nil {
		t.Fatalf("encode screenshot: %v", err)
	}
	return out.Bytes()
}

// withPalette returns the picture with its 256 most frequent colors. Other colors become the
// nearest one of them.
func withPalette(full image.Image) *image.Paletted {
	area := full.Bounds()
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA {
		c, _ := color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)
		return c
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range frequent[:min(len(frequent), 256)] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for c := range count {
		nearest[c] = uint8(palette.Index(c)) // the palette has at most 256 colors
	}
	out := image.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	return out
}
