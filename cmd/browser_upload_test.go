//go:build browser

package cmd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/client"
)

// dropped are twelve documents as they lie in somebody's folder, of which the last two
// are refused.
var dropped = append(slices.Clone(chain),
	filing{"10_Recorded deed.tif", "title/deed-pages-lzw.tif"},
	filing{"11_Mortgage with a password.pdf", "refuse/mortgage-user-password.pdf"},
	filing{"12_setup.exe", "refuse/setup.exe"})

// lay puts documents into a folder under their names, and gives their paths.
func lay(t *testing.T, filings []filing) (paths []string) {
	t.Helper()
	folder := t.TempDir()
	for _, f := range filings {
		content, err := os.ReadFile(sampleFile(t, f.sample))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, f.name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// newAbstract makes one without documents, and gives its id.
func newAbstract(t *testing.T, c *client.Client) string {
	t.Helper()
	made, err := c.CreateAbstract(t.Context(), client.AbstractDraft{Address: "14 Orchard Ridge Road", CustomFields: map[string]any{"file_number": "A-1"}})
	if err != nil {
		t.Fatal(err)
	}
	return made.Data.ID
}

// holds fails unless the abstract has exactly these documents, byte for byte.
func holds(t *testing.T, c *client.Client, id string, paths []string) {
	t.Helper()
	abstract, err := c.Abstract(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(abstract.Files) != len(paths) {
		t.Errorf("%d documents are filed, not %d", len(abstract.Files), len(paths))
	}
	for _, path := range paths {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := -1
		for i, f := range abstract.Files {
			if f.Filename == filepath.Base(path) {
				at = i
			}
		}
		if at < 0 {
			t.Errorf("%s is not filed", filepath.Base(path))
			continue
		}
		body, err := c.Download(t.Context(), abstract.Files[at].ID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		if err = errors.Join(err, body.Close()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s came back as %d bytes of %d, %v", filepath.Base(path), len(got), len(want), err)
		}
	}
}

// Twelve documents are dropped on an abstract at once: ten are filed, each shown with
// its picture as soon as there is one, and two are refused where they are.
func twelveDropped(t *testing.T, on *bench) {
	h := on.staffed(t)
	c := h.api()
	id := newAbstract(t, c)
	b := on.tab(t, h.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	paths := lay(t, dropped)
	b.expect("status of 422") // of what is refused for its name alone
	b.drop("h1", paths...)
	b.sees("li.upload .problem | PDF is password-protected")
	b.sees("li.upload .problem | File type not supported. Accepted types: PDF")
	b.until(`document.querySelectorAll(".documents .document").length == 10`)
	b.screenshot("scene-twelve-dropped")
	for _, f := range dropped[:10] {
		b.sees(".documents .document-name | " + f.name)
	}
	// Without loading the page anew.
	b.until(`document.querySelectorAll(".documents .document .thumb img").length >= 7`)
	b.until(`[...document.querySelectorAll(".documents .thumb img")].every(i => i.loading == "lazy" && !i.complete || i.naturalWidth > 0)`)
	b.noBarriers(t, "after uploads")
	holds(t, c, id, paths[:10])
}

// words is a document of so many bytes that says nothing.
func words(t *testing.T, name string, size int) string {
	t.Helper()
	chance := rand.New(rand.NewPCG(3, 5))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%x ", chance.Uint64())
		if b.Len()%97 == 0 {
			b.WriteByte('\n')
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()[:size]), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// progressOf is how much of an upload is done, from 0 to 1.
const progressOf = `(() => { const p = document.querySelector("li.upload progress"); return p ? p.value / p.max : 0 })()`

// Progress is seen moving, and it can be canceled in the middle.
func progressMoves(t *testing.T, on *bench) {
	h := on.staffed(t)
	c := h.api()
	id := newAbstract(t, c)
	b := on.tab(t, h.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	b.sends(1 << 20)
	path := words(t, "Long search.txt", 3<<20)
	b.drop("h1", path)
	seen := []float64{0}
	for end := time.Now().Add(patience); time.Now().Before(end) && len(seen) < 6; time.Sleep(20 * time.Millisecond) {
		if now := value[float64](b, progressOf); now != seen[len(seen)-1] {
			seen = append(seen, now)
		}
	}
	if len(seen) < 6 || !slices.IsSorted(seen) || seen[len(seen)-1] > 1 {
		t.Errorf("progress was seen at %v", seen)
	}
	b.screenshot("scene-progress")
	b.sends(0)
	b.sees(".documents .document-name | Long search.txt")
	holds(t, c, id, []string{path})

	b.sends(256 << 10)
	b.drop("h1", words(t, "Not wanted.txt", 2<<20))
	b.until(progressOf + ` > 0.05`)
	b.click("li.upload button | Cancel")
	b.until(`![...document.querySelectorAll("li.upload")].some(u => u.innerText.includes("Not wanted") && u.querySelector("progress"))`)
	b.sends(0)
	holds(t, c, id, []string{path})
}

// The server is really ended in the middle of a document, twice: by kill -9, and by an
// administrator. The page goes on by itself when it is back.
func serverStopsInMidFile(t *testing.T, on *bench) {
	h := on.staffed(t)
	c := h.api()
	id := newAbstract(t, c)
	b := on.tab(t, h.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	b.sends(2 << 20)
	path := words(t, "Whole chain.txt", 12<<20)
	b.drop("h1", path)
	for _, stop := range []struct {
		name string
		at   float64
		end  func()
	}{{"killed", 0.2, h.kill}, {"stopped", 0.5, h.stop}} {
		b.until(fmt.Sprintf("%s > %v", progressOf, stop.at))
		stop.end()
		if now := value[float64](b, progressOf); now > 0.95 {
			t.Errorf("%s at %v", stop.name, now)
		}
		b.screenshot("scene-" + stop.name)
		h.start()
	}
	b.sends(0)
	b.sees(".documents .document-name | Whole chain.txt")
	holds(t, c, id, []string{path})
	b.tolerate("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "status of 503", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED")
}

// A folder of folders that is dropped on the vault keeps its folders; an abstract says
// that it has none.
func foldersDropped(t *testing.T, on *bench) {
	h := on.staffed(t)
	c := h.api()
	top := filepath.Join(t.TempDir(), "County starters")
	for _, name := range []string{"Wexcombe/Twp A/one.txt", "Wexcombe/Twp A/two.txt", "Wexcombe/three.txt", "Refused/setup.exe"} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := on.tab(t, h.origin)
	b.signIn(staff)
	b.goTo("/vault")
	b.expect("status of 422") // of what is rejected for its name alone
	b.drop("h1", top)
	b.sees("[data-upload] > p.muted | 3 uploaded to 2 folders, 1 not uploaded.")
	b.sees("#folders a | County starters")
	b.screenshot("scene-folders-dropped")
	b.noBarriers(t, "after a folder was dropped")
	folders, err := c.Folders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range folders {
		names = append(names, f.Name)
	}
	for name, want := range map[string]int{"County starters": 1, "Wexcombe": 1, "Twp A": 1, "Refused": 0} {
		if got := len(slices.DeleteFunc(slices.Clone(names), func(one string) bool { return one != name })); got != want {
			t.Errorf("%s: got %d folders, want %d of %q", name, got, want, names)
		}
	}
	b.goTo("/abstracts/" + newAbstract(t, c))
	b.sees(".hint | Folders are flattened")
	b.drop("h1", top)
	b.sees(".documents .document-name | three.txt")
	b.until(`document.querySelectorAll(".documents .document").length == 3`)
	// On a phone a row is two lines, and its tools are one more that opens.
	b.size(360, 740)
	b.goTo(value[string](b, `location.pathname`))
	if high := value[float64](b, `Math.max(...[...document.querySelectorAll(".documents .document")].map(d => d.getBoundingClientRect().height))`); high > 76 {
		t.Errorf("a row is %v px high at a width of 360", high)
	}
	b.screenshot("scene-phone-rows")
	b.click(".document .more > summary")
	b.sees(".document .document-tools | Rename")
	b.fits(360)
	b.noBarriers(t, "with the tools of a row open")
	b.screenshot("scene-phone-row-open")
}
