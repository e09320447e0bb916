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

// droppedSamples are twelve documents as they lie in somebody's folder, of which the last two
// are refused.
var droppedSamples = append(slices.Clone(chainDocuments),
	namedSample{"10_Recorded deed.tif", "title/deed-pages-lzw.tif"},
	namedSample{"11_Mortgage with a password.pdf", "refuse/mortgage-user-password.pdf"},
	namedSample{"12_setup.exe", "refuse/setup.exe"})

// copySamples puts documents into a folder under their names, and gives their paths.
func copySamples(t *testing.T, filings []namedSample) (paths []string) {
	t.Helper()
	folder := t.TempDir()
	for _, f := range filings {
		content, err := os.ReadFile(sampleFile(t, f.sample))
		if err != nil {
			t.Fatalf("read file: %v", err)
		}
		path := filepath.Join(folder, f.name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatalf("write file: %v", err)
		}
		paths = append(paths, path)
	}
	return paths
}

// createAbstract makes one without documents, and gives its id.
func createAbstract(t *testing.T, c *client.Client) string {
	t.Helper()
	made, err := c.CreateAbstract(t.Context(), client.AbstractDraft{Address: "14 Orchard Ridge Road", CustomFields: map[string]any{"file_number": "A-1"}})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	return made.Data.ID
}

// checkDocuments fails unless the abstract has exactly these documents, byte for byte.
func checkDocuments(t *testing.T, c *client.Client, id string, paths []string) {
	t.Helper()
	abstract, err := c.Abstract(t.Context(), id)
	if err != nil {
		t.Fatalf("get abstract: %v", err)
	}
	if len(abstract.Files) != len(paths) {
		t.Errorf("%d documents are filed, not %d", len(abstract.Files), len(paths))
	}
	for _, path := range paths {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("read file: %v", err)
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
			t.Fatalf("download: %v", err)
		}
		got, err := io.ReadAll(body)
		if err = errors.Join(err, body.Close()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s came back as %d bytes of %d, %v", filepath.Base(path), len(got), len(want), err)
		}
	}
}

// Twelve documents are dropped on an abstract at once: ten are filed, each shown with
// its picture as soon as there is one, and two are refused where they are.
func testDropDocuments(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	id := createAbstract(t, c)
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	paths := copySamples(t, droppedSamples)
	b.expect("status of 422") // of what is refused for its name alone
	b.dropFiles("h1", paths...)
	b.waitVisible("li.upload .problem | PDF is password-protected")
	b.waitVisible("li.upload .problem | File type not supported. Accepted types: PDF")
	b.waitFor(`document.querySelectorAll(".documents .document").length == 10`)
	b.screenshot("scene-twelve-dropped")
	for _, f := range droppedSamples[:10] {
		b.waitVisible(".documents .document-name | " + f.name)
	}
	// Without loading the page anew.
	b.waitFor(`document.querySelectorAll(".documents .document .thumb img").length >= 7`)
	b.waitFor(`[...document.querySelectorAll(".documents .thumb img")].every(i => i.loading == "lazy" && !i.complete || i.naturalWidth > 0)`)
	b.checkAccessible(t, "after uploads")
	checkDocuments(t, c, id, paths[:10])
}

// writeTextFile is a document of so many bytes that says nothing.
func writeTextFile(t *testing.T, name string, size int) string {
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
		t.Fatalf("write file: %v", err)
	}
	return path
}

// progressJS is how much of an upload is done, from 0 to 1.
const progressJS = `(() => { const p = document.querySelector("li.upload progress"); return p ? p.value / p.max : 0 })()`

// Progress is seen moving, and it can be canceled in the middle.
func testUploadProgress(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	id := createAbstract(t, c)
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	b.limitUpload(1 << 20)
	path := writeTextFile(t, "Long search.txt", 3<<20)
	b.dropFiles("h1", path)
	seen := []float64{0}
	for end := time.Now().Add(tabTimeout); time.Now().Before(end) && len(seen) < 6; time.Sleep(20 * time.Millisecond) {
		if now := eval[float64](b, progressJS); now != seen[len(seen)-1] {
			seen = append(seen, now)
		}
	}
	if len(seen) < 6 || !slices.IsSorted(seen) || seen[len(seen)-1] > 1 {
		t.Errorf("progress was seen at %v", seen)
	}
	b.screenshot("scene-progress")
	b.limitUpload(0)
	b.waitVisible(".documents .document-name | Long search.txt")
	checkDocuments(t, c, id, []string{path})

	b.limitUpload(256 << 10)
	b.dropFiles("h1", writeTextFile(t, "Not wanted.txt", 2<<20))
	b.waitFor(progressJS + ` > 0.05`)
	b.click("li.upload button | Cancel")
	b.waitFor(`![...document.querySelectorAll("li.upload")].some(u => u.innerText.includes("Not wanted") && u.querySelector("progress"))`)
	b.limitUpload(0)
	checkDocuments(t, c, id, []string{path})
}

// The server is really ended in the middle of a document, twice: by kill -9, and by an
// administrator. The page goes on by itself when it is back.
func testServerStopsDuringUpload(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	id := createAbstract(t, c)
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	b.limitUpload(2 << 20)
	path := writeTextFile(t, "Whole chain.txt", 12<<20)
	b.dropFiles("h1", path)
	for _, stop := range []struct {
		name string
		at   float64
		end  func()
	}{{"killed", 0.2, srv.kill}, {"stopped", 0.5, srv.stop}} {
		b.waitFor(fmt.Sprintf("%s > %v", progressJS, stop.at))
		stop.end()
		if now := eval[float64](b, progressJS); now > 0.95 {
			t.Errorf("%s at %v", stop.name, now)
		}
		b.screenshot("scene-" + stop.name)
		srv.start()
	}
	b.limitUpload(0)
	b.waitVisible(".documents .document-name | Whole chain.txt")
	checkDocuments(t, c, id, []string{path})
	b.allow("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "status of 503", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED")
}

// A folder of folders that is dropped on the vault keeps its folders; an abstract says
// that it has none.
func testDropFolder(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	top := filepath.Join(t.TempDir(), "County starters")
	for _, name := range []string{"Wexcombe/Twp A/one.txt", "Wexcombe/Twp A/two.txt", "Wexcombe/three.txt", "Refused/setup.exe"} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("create directory: %v", err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/vault")
	b.expect("status of 422") // of what is rejected for its name alone
	b.dropFiles("h1", top)
	b.waitVisible("[data-upload] > p.muted | 3 uploaded to 2 folders, 1 not uploaded.")
	b.waitVisible("#folders a | County starters")
	b.screenshot("scene-folders-dropped")
	b.checkAccessible(t, "after a folder was dropped")
	folders, err := c.Folders(t.Context())
	if err != nil {
		t.Fatalf("list folders: %v", err)
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
	b.goTo("/abstracts/" + createAbstract(t, c))
	b.waitVisible(".hint | Folders are flattened")
	b.dropFiles("h1", top)
	b.waitVisible(".documents .document-name | three.txt")
	b.waitFor(`document.querySelectorAll(".documents .document").length == 3`)
	// On a phone a row is two lines, and its tools are one more that opens.
	b.setSize(360, 740)
	b.goTo(eval[string](b, `location.pathname`))
	if high := eval[float64](b, `Math.max(...[...document.querySelectorAll(".documents .document")].map(d => d.getBoundingClientRect().height))`); high > 76 {
		t.Errorf("a row is %v px high at a width of 360", high)
	}
	b.screenshot("scene-phone-rows")
	b.click(".document .more > summary")
	b.waitVisible(".document .document-tools | Rename")
	b.checkFits(360)
	b.checkAccessible(t, "with the tools of a row open")
	b.screenshot("scene-phone-row-open")
}
