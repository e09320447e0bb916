package archive

import (
	"os"
	"path/filepath"
	"testing"
)

// The one that writes creates the lock of readers: created by root, who reads, the
// server couldn't lock it, and would remove what someone reads.
func TestTheWriterCreatesTheLockOfReaders(t *testing.T) {
	h := newHouse("a deed")
	dir := filepath.Join(t.TempDir(), "backup")
	h.take(t, dir, h.options(Encryption{}))
	if info, err := os.Stat(filepath.Join(dir, readingName)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("got %v, %v, want the file %q after a backup", info, err, readingName)
	}
}
