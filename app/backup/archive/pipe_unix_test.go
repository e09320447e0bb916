//go:build !windows

package archive

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in the place of a file keeps nobody waiting.
func TestAPipeInPlaceOfAFile(t *testing.T) {
	opts := forms(t)["passphrase"]
	rows := map[string]string{"head": headName, "key": keyName, "lock": lockName, "manifest": "snapshots/*.manifest", "database": "snapshots/*.db", "document": "blobs/*/*"}
	for what, pattern := range rows {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "b")
			h := newHouse("a deed")
			h.take(t, dir, opts)
			path := only(t, dir, pattern)
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			if what != "lock" {
				if err := h.back(dir, opts, Latest); !errors.Is(err, ErrDamaged) {
					t.Errorf("read: %v", err)
				}
			}
			_, _, err := h.try(t.Context(), t, dir, opts)
			// A document is not there, then: it is copied anew.
			if what == "head" || what == "key" || what == "lock" {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("add: %v", err)
				}
			} else if err != nil {
				t.Errorf("add: %v", err)
			}
		})
	}
}
