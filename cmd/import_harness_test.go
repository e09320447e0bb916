//go:build harness

// The import is killed in the middle, over and over: with no server, with one, and the
// server itself. In the end every document is there exactly once.
//
//	go test -tags harness -run TestImportKilled -v ./cmd
//
//	DEEDKEEP_TEST_IMPORT_KILLS   how many kills; 20 when not set

package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest"
)

const importDocuments = 3000

// writeDocumentTree makes a tree of small documents in folders; every tenth has the bytes of
// another, in another folder, and so is a document of its own.
func writeDocumentTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for n := range importDocuments {
		folder := filepath.Join(dir, fmt.Sprintf("county %d", n%7), fmt.Sprintf("book %d", n%30))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatalf("create directory: %v", err)
		}
		salt := n
		if n%10 == 9 {
			salt = n - 1
		}
		text := fmt.Sprintf("This deed, number %d.\n", salt)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("deed %d.txt", n)), []byte(text), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	return dir
}

// startImport starts an import, without waiting for it.
func (h *harness) startImport(dir string) (cmd *exec.Cmd, out, said *bytes.Buffer) {
	h.t.Helper()
	cmd = exec.Command(h.program, "import", dir, "--folder", "Old/Files", "--data", h.dir, "--json")
	cmd.Env = append(os.Environ(), "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir())
	out, said = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, said
	setProcessGroup(cmd)
	if err := cmd.Start(); err != nil {
		h.t.Fatalf("start cmd: %v", err)
	}
	return cmd, out, said
}

// importAll imports to the end and gives the report.
func (h *harness) importAll(dir string) (r apitypes.ImportReport) {
	h.t.Helper()
	cmd, out, said := h.startImport(dir)
	if err := cmd.Wait(); err != nil {
		h.t.Fatalf("import: %v\n%s", err, said)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		h.t.Fatalf("%v\n%s", err, out)
	}
	return r
}

func TestImportKilled(t *testing.T) {
	kills := 20
	if text := os.Getenv("DEEDKEEP_TEST_IMPORT_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DEEDKEEP_TEST_IMPORT_KILLS is %q", text)
		}
		kills = n
	}
	dir := writeDocumentTree(t)
	h := newHarness(t, "")
	h.newVault()
	had := h.verify().Files
	inTheMiddle := 0
	for n := range kills {
		var s *serverProcess
		if n%3 > 0 {
			s = h.start()
		}
		cmd, _, said := h.startImport(dir)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait() // it is killed, mostly
		}()
		select {
		case <-ended:
			t.Logf("kill %d: it had ended: %v\n%s", n, cmd.ProcessState, said)
		case <-time.After(time.Duration(200+h.rng.IntN(1500)) * time.Millisecond):
			inTheMiddle++
			if n%3 == 2 {
				s.kill() // the server; the import goes on without it, or ends
				select {
				case err := <-ended:
					t.Logf("kill %d: it ended: %v", n, err)
				case <-time.After(time.Duration(h.rng.IntN(100)) * time.Millisecond):
					killProcessGroup(cmd)
					t.Logf("kill %d: %v", n, <-ended)
				}
			} else {
				killProcessGroup(cmd)
				t.Logf("kill %d: %v", n, <-ended)
			}
		}
		if s != nil {
			s.kill()
		}
	}
	last := h.importAll(dir)
	t.Logf("killed %d times, %d in the middle; the last run filed %d, found %d there", kills, inTheMiddle, last.Imported, last.Existing)
	if last.Imported+last.Existing != importDocuments || last.Existing == 0 || inTheMiddle < kills/2 {
		t.Errorf("%+v", last)
	}
	again := h.importAll(dir)
	if again.Existing != importDocuments || again.Imported != 0 {
		t.Errorf("once more: %+v", again)
	}
	s := h.start() // whose sweep takes away what the kills left
	defer s.kill()
	report := h.verify()
	for end := time.Now().Add(sweepLimit); report.Orphans+report.Leftovers > 0 && time.Now().Before(end); report = h.verify() {
		time.Sleep(20 * time.Millisecond)
	}
	if !report.OK || report.Orphans+report.Leftovers > 0 {
		t.Errorf("%+v", report)
	}
	// As many as there are places, and each place has its own: none is there twice.
	if report.Files != had+importDocuments {
		t.Errorf("%d files of %d", report.Files-had, importDocuments)
	}
}

// waitImported waits until an import has filed its first document. So many have their bytes
// kept at once as there are workers, whose records may not be there yet; with more,
// one is.
func (h *harness) waitImported() {
	h.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		kept, err := filepath.Glob(filepath.Join(h.dir, "blobs", "*", "*"))
		if err != nil || time.Now().After(end) {
			h.t.Fatalf("nothing is filed: %d, %v", len(kept), err)
		}
		if len(kept) > 40 {
			return
		}
	}
}

// Ctrl-C ends an import at once and cleanly.
func TestImportInterrupted(t *testing.T) {
	dir := writeDocumentTree(t)
	h := newHarness(t, "")
	h.newVault()
	cmd, _, said := h.startImport(dir)
	h.waitImported()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatalf("Signal: %v", err)
	}
	begun := time.Now()
	err := cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 130 || time.Since(begun) > 5*time.Second || !bytes.Contains(said.Bytes(), []byte("run the same command again to resume where it stopped")) {
		t.Fatalf("%v after %v\n%s", err, time.Since(begun), said)
	}
	if report := h.verify(); !report.OK || report.Leftovers > 0 {
		t.Errorf("%+v", report)
	}
	if last := h.importAll(dir); last.Imported+last.Existing != importDocuments || last.Existing == 0 {
		t.Errorf("%+v", last)
	}
}
