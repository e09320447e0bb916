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

	"deedkeep/app/vaulttest/client"
)

// droppedSamples are twelve files. The server rejects the last two.
var droppedSamples = append(slices.Clone(chainDocuments),
	namedSample{"10_Recorded deed.tif", "title/deed-pages-lzw.tif"},
	namedSample{"11_Mortgage with a password.pdf", "refuse/mortgage-user-password.pdf"},
	namedSample{"12_setup.exe", "refuse/setup.exe"})

// copySamples copies samples to a temporary directory and returns their paths.
func copySamples(t *testing.T, samples []namedSample) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, s := range samples {
		content, err := os.ReadFile(sampleFile(t, s.sample))
		if err != nil {
			t.Fatalf("read sample: %v", err)
		}
		path := filepath.Join(dir, s.name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatalf("write sample: %v", err)
		}
		paths = append(paths, path)
	}
	return paths
}

// createAbstract creates an abstract without documents and returns its ID.
func createAbstract(t *testing.T, c *client.Client) string {
	t.Helper()
	created, err := c.CreateAbstract(t.Context(), client.AbstractDraft{
		Address: "14 Orchard Ridge Road", CustomFields: map[string]any{"file_number": "A-1"},
	})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	return created.Data.ID
}

// checkDocuments checks that an abstract contains exactly the documents at paths, byte for
// byte.
func checkDocuments(t *testing.T, c *client.Client, id string, paths []string) {
	t.Helper()
	abstract, err := c.Abstract(t.Context(), id)
	if err != nil {
		t.Fatalf("get abstract: %v", err)
	}
	if len(abstract.Files) != len(paths) {
		t.Errorf("documents of the abstract: got %d, want %d", len(abstract.Files), len(paths))
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
			t.Errorf("documents of the abstract: got no %s", filepath.Base(path))
			continue
		}
		body, err := c.Download(t.Context(), abstract.Files[at].ID)
		if err != nil {
			t.Fatalf("download: %v", err)
		}
		got, err := io.ReadAll(body)
		if err = errors.Join(err, body.Close()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("download %s: got %d bytes, %v, want the %d bytes of the file", filepath.Base(path), len(got), err, len(want))
		}
	}
}

// When twelve files are dropped on an abstract, the page shows two of them as rejected. It
// shows the previews of the other ten as soon as they are processed.
func testDropDocuments(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	id := createAbstract(t, c)
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + id)
	paths := copySamples(t, droppedSamples)
	b.expect("status of 422") // for the file whose name is rejected
	b.dropFiles("h1", paths...)
	b.waitVisible("li.upload .problem | PDF is password-protected")
	b.waitVisible("li.upload .problem | File type not supported. Accepted types: PDF")
	b.waitFor(`document.querySelectorAll(".documents .document").length == 10`)
	b.screenshot("scene-twelve-dropped")
	for _, f := range droppedSamples[:10] {
		b.waitVisible(".documents .document-name | " + f.name)
	}
	// The page isn't reloaded.
	b.waitFor(`document.querySelectorAll(".documents .document .thumb img").length >= 7`)
	b.waitFor(`[...document.querySelectorAll(".documents .thumb img")].every(i => i.loading == "lazy" && !i.complete || i.naturalWidth > 0)`)
	b.checkAccessible(t, "after uploads")
	checkDocuments(t, c, id, paths[:10])
}

// writeTextFile writes a text file of random words and returns its path.
func writeTextFile(t *testing.T, name string, size int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 5))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%x ", rng.Uint64())
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

// progressJS is a JavaScript expression for the progress of an upload, from 0 to 1.
const progressJS = `(() => { const p = document.querySelector("li.upload progress"); return p ? p.value / p.max : 0 })()`

// The page shows the progress of an upload, and the user can cancel it.
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
		t.Errorf("progress: got %v, want at least 6 increasing values up to 1", seen)
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

// If the server stops during an upload, the page resumes the upload when the server is
// running again. The test stops the server twice: with SIGKILL and with SIGTERM.
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
	for _, row := range []struct {
		name     string
		progress float64
		stop     func()
	}{{"killed", 0.2, srv.kill}, {"stopped", 0.5, srv.stop}} {
		b.waitFor(fmt.Sprintf("%s > %v", progressJS, row.progress))
		row.stop()
		if got := eval[float64](b, progressJS); got > 0.95 {
			t.Errorf("progress when the server is %s: got %v, want at most 0.95", row.name, got)
		}
		b.screenshot("scene-" + row.name)
		if eval[bool](b, findJS(".no-documents")+` != null`) {
			t.Error("during an upload: got “No documents yet”, want only the upload")
		}
		srv.start()
	}
	b.limitUpload(0)
	b.waitVisible(".documents .document-name | Whole chain.txt")
	checkDocuments(t, c, id, []string{path})
	b.allow("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "status of 503",
		"ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONNECTED")
}

// If a directory is dropped on the vault, its subdirectories become folders. Abstracts
// don't have folders, so the page of an abstract says that subdirectories are flattened.
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
	b.expect("status of 422") // for the file whose name is rejected
	b.dropFiles("h1", top)
	b.waitVisible("[data-upload] > p.muted | 3 uploaded to 2 folders, 1 not uploaded.")
	b.waitVisible("#folders a | County starters")
	b.screenshot("scene-folders-dropped")
	b.checkAccessible(t, "after dropping a directory")
	folders, err := c.Folders(t.Context())
	if err != nil {
		t.Fatalf("list folders: %v", err)
	}
	var names []string
	for _, f := range folders {
		names = append(names, f.Name)
	}
	for name, want := range map[string]int{"County starters": 1, "Wexcombe": 1, "Twp A": 1, "Refused": 0} {
		if got := len(slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other != name })); got != want {
			t.Errorf("%s: got %d folders, want %d of %q", name, got, want, names)
		}
	}
	b.goTo("/abstracts/" + createAbstract(t, c))
	b.waitVisible(".hint | Subfolders aren't kept")
	b.dropFiles("h1", top)
	b.waitVisible(".documents .document-name | three.txt")
	b.waitFor(`document.querySelectorAll(".documents .document").length == 3`)
	// On a phone, a row has two lines. A button shows the row's tools in a third line.
	b.setSize(360, 740)
	b.goTo(eval[string](b, `location.pathname`))
	const rowHeight = `Math.max(...[...document.querySelectorAll(".documents .document")].map(d => d.getBoundingClientRect().height))`
	if got := eval[float64](b, rowHeight); got > 76 {
		t.Errorf("height of a row at a width of 360 px: got %v px, want at most 76 px", got)
	}
	b.screenshot("scene-phone-rows")
	b.click(".document .more > summary")
	b.waitVisible(".document .document-tools | Rename")
	b.checkFits(360)
	b.checkAccessible(t, "tools of a row open")
	b.screenshot("scene-phone-row-open")
}
