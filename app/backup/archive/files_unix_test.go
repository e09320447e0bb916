//go:build !windows

package archive

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipeDoesNotBlock checks that no operation blocks on a pipe that replaces a file.
func TestPipeDoesNotBlock(t *testing.T) {
	opts := allFormats(t)["passphrase"]
	patterns := map[string]string{"header": headerName, "key": keyName, "lock": lockName, "manifest": "snapshots/*.manifest",
		"database": "snapshots/*.db", "document": "blobs/*/*"}
	for name, pattern := range patterns {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "b")
			h := newTestVault("a deed")
			h.backUp(t, dir, opts)
			path := firstFile(t, dir, pattern)
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatalf("replace file by a pipe: %v", err)
			}
			if name != "lock" {
				if err := h.checkSnapshot(dir, opts, Latest); !errors.Is(err, ErrDamaged) {
					t.Errorf("checkSnapshot = %v, want ErrDamaged", err)
				}
			}
			_, _, err := h.tryBackUp(t.Context(), t, dir, opts)
			// A pipe doesn't count as a blob, so the document is stored again.
			if name == "header" || name == "key" || name == "lock" {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("tryBackUp = %v, want ErrDamaged", err)
				}
			} else if err != nil {
				t.Errorf("tryBackUp: %v", err)
			}
		})
	}
}
