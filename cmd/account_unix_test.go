//go:build !windows

package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// A vault.db that a user linked to a file of root belongs to that user. Otherwise the link
// would make root work in the user's directory.
func TestOwnerOfSymlinkedVault(t *testing.T) {
	data, want := t.TempDir(), os.Getuid()
	link := filepath.Join(data, "vault.db")
	if err := os.Symlink("/", link); err != nil { // "/" belongs to root
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
