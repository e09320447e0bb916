//go:build !windows

package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// A vault.db that its user linked to a file of root doesn't keep root as root.
func TestOwnerOfSymlinkedVault(t *testing.T) {
	data, want := t.TempDir(), os.Getuid()
	link := filepath.Join(data, "vault.db")
	if err := os.Symlink("/", link); err != nil { // which belongs to root
		t.Fatal(err)
	}
	if want == 0 {
		want = 65534
		if err := os.Lchown(link, want, want); err != nil {
			t.Fatal(err)
		}
	}
	if uid, _, known := dataOwner(data); !known || uid != want {
		t.Errorf("got user %d, known %v, want %d", uid, known, want)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if uid, _, known := dataOwner(data); !known || uid != os.Getuid() {
		t.Errorf("without vault.db: got user %d, known %v, want %d", uid, known, os.Getuid())
	}
}
