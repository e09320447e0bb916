//go:build harness

// This test repeatedly kills an import: without a server, while a server is running, and
// together with the server. In the end, every document must have been imported exactly once.
//
//	go test -tags harness -run TestImportKilled -v ./cmd
//
//	DEEDKEEP_TEST_IMPORT_KILLS   number of kills; default 20

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

// writeDocumentTree creates a directory tree of small documents. Every tenth document has the
// same content as one in a different folder. Both are imported.
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

// startImport starts an import without waiting for it to finish.
func (h *harness) startImport(dir string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	h.t.Helper()
	cmd = exec.Command(h.program, "import", dir, "--folder", "Old/Files", "--data", h.dir, "--json")
	cmd.Env = append(os.Environ(), "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "DEEDKEEP_OCR_ENABLED=false")
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	setProcessGroup(cmd)
	if err := cmd.Start(); err != nil {
		h.t.Fatalf("start import: %v", err)
	}
	return cmd, stdout, stderr
}

// importAll runs an import to completion and returns its report.
func (h *harness) importAll(dir string) (report apitypes.ImportReport) {
	h.t.Helper()
	cmd, stdout, stderr := h.startImport(dir)
	if err := cmd.Wait(); err != nil {
		h.t.Fatalf("import: %v\n%s", err, stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		h.t.Fatalf("decode report: %v\n%s", err, stdout)
	}
	return report
}

func TestImportKilled(t *testing.T) {
	kills := 20
	if value := os.Getenv("DEEDKEEP_TEST_IMPORT_KILLS"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			t.Fatalf("DEEDKEEP_TEST_IMPORT_KILLS: got %q, want a number greater than 0", value)
		}
		kills = n
	}
	dir := writeDocumentTree(t)
	h := newHarness(t)
	h.newVault()
	filesBefore := h.verify().Files
	midway := 0
	for n := range kills {
		var s *serverProcess
		if n%3 > 0 {
			s = h.start()
		}
		cmd, _, stderr := h.startImport(dir)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = cmd.Wait() // usually an error, because the import is killed
		}()
		select {
		case <-done:
			t.Logf("kill %d: import had ended: %v\n%s", n, cmd.ProcessState, stderr)
		case <-time.After(time.Duration(200+h.rng.IntN(1500)) * time.Millisecond):
			midway++
			if n%3 == 2 {
				s.kill() // the import continues without the server or fails
				select {
				case err := <-done:
					t.Logf("kill %d: import ended: %v", n, err)
				case <-time.After(time.Duration(h.rng.IntN(100)) * time.Millisecond):
					killProcessGroup(cmd)
					t.Logf("kill %d: %v", n, <-done)
				}
			} else {
				killProcessGroup(cmd)
				t.Logf("kill %d: %v", n, <-done)
			}
		}
		if s != nil {
			s.kill()
		}
	}
	last := h.importAll(dir)
	t.Logf("killed %d times, %d midway; the last run imported %d documents and found %d existing ones", kills, midway, last.Imported,
		last.Existing)
	if last.Imported+last.Existing != importDocuments || last.Existing == 0 || midway < kills/2 {
		t.Errorf("last import: got %+v after %d of %d kills midway, want %d documents in total", last, midway, kills, importDocuments)
	}
	again := h.importAll(dir)
	if again.Existing != importDocuments || again.Imported != 0 {
		t.Errorf("repeated import: got %+v, want %d existing documents and no imported ones", again, importDocuments)
	}
	s := h.start() // the sweep at startup removes leftovers of the kills
	defer s.kill()
	report := h.verify()
	for deadline := time.Now().Add(sweepLimit); report.Orphans+report.Leftovers > 0 && time.Now().Before(deadline); report = h.verify() {
		time.Sleep(20 * time.Millisecond)
	}
	if !report.OK || report.Orphans+report.Leftovers > 0 {
		t.Errorf("verify: got %+v, want no findings, orphans, or leftovers", report)
	}
	// The import stores at most one document per path, so no document was imported twice.
	if report.Files != filesBefore+importDocuments {
		t.Errorf("got %d imported files, want %d", report.Files-filesBefore, importDocuments)
	}
}

// waitImported waits until an import has created the record of a document. Each worker may have
// stored content without a record, so waitImported waits for more stored files than there are
// workers.
func (h *harness) waitImported() {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		blobs, err := filepath.Glob(filepath.Join(h.dir, "blobs", "*", "*"))
		if err != nil || time.Now().After(deadline) {
			h.t.Fatalf("got %d stored files after a minute, want more than 40: %v", len(blobs), err)
		}
		if len(blobs) > 40 {
			return
		}
	}
}

// Ctrl-C stops an import immediately and without leaving damage.
func TestImportInterrupted(t *testing.T) {
	dir := writeDocumentTree(t)
	h := newHarness(t)
	h.newVault()
	cmd, _, stderr := h.startImport(dir)
	h.waitImported()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatalf("interrupt import: %v", err)
	}
	start := time.Now()
	err := cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	took := time.Since(start)
	if !ok || exit.ExitCode() != 130 || took > 5*time.Second ||
		!bytes.Contains(stderr.Bytes(), []byte("run the same command again to resume where it stopped")) {
		t.Fatalf("interrupted import: got %v after %v, want exit code 130 within 5s\n%s", err, took, stderr)
	}
	if report := h.verify(); !report.OK || report.Leftovers > 0 {
		t.Errorf("verify: got %+v, want no findings or leftovers", report)
	}
	if last := h.importAll(dir); last.Imported+last.Existing != importDocuments || last.Existing == 0 {
		t.Errorf("second import: got %+v, want %d documents in total, some of them existing", last, importDocuments)
	}
}
