//go:build !windows

package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// If vault.db is a symbolic link to a file owned by root, dataOwner returns the user who
// created the link. Otherwise, the link would make root work in that user's directory.
func TestOwnerOfSymlinkedVault(t *testing.T) {
	data, want := t.TempDir(), os.Getuid()
	link := filepath.Join(data, "vault.db")
	if err := os.Symlink("/", link); err != nil { // root owns "/"
		t.Fatalf("create symlink: %v", err)
	}
	if want == 0 {
		want = 65534
		if err := os.Lchown(link, want, want); err != nil {
			t.Fatalf("change owner: %v", err)
		}
	}
	if uid, _, known := dataOwner(data); !known || uid != want {
		t.Errorf("dataOwner: got user %d, known %v, want %d", uid, known, want)
	}
	if err := os.Remove(link); err != nil {
		t.Fatalf("remove symlink: %v", err)
	}
	if uid, _, known := dataOwner(data); !known || uid != os.Getuid() {
		t.Errorf("dataOwner without vault.db: got user %d, known %v, want %d", uid, known, os.Getuid())
	}
}
