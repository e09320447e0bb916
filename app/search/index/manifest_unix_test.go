//go:build unix

package index

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening an index does not block if the manifest is a named pipe.
func TestNamedPipeIsNotManifest(t *testing.T) {
	dir, _ := singleSegmentIndex(t)
	path := filepath.Join(dir, manifestName)
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	requireDamaged(t, dir, "not a regular file")
}
