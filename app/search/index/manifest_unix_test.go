//go:build unix

package index

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Nobody waits for what a pipe would say.
func TestPipesAreNoManifests(t *testing.T) {
	dir, _ := lone(t)
	path := filepath.Join(dir, manifestName)
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, "no file")
}
