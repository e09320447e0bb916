package archive

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriterCreatesReadLock checks that the writer creates the file for the read lock. If
// a reader that runs as root created it, the server couldn't lock it and might remove
// files while they are being read.
func TestWriterCreatesReadLock(t *testing.T) {
	h := newTestVault("a deed")
	dir := filepath.Join(t.TempDir(), "backup")
	h.backUp(t, dir, h.options(Encryption{}))
	if info, err := os.Stat(filepath.Join(dir, readingName)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("got %v, %v, want the file %q after a backup", info, err, readingName)
	}
}
