//go:build root && unix

package integrity

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// If vault.db is a symbolic link that another user created, the link counts, and not the
// file to which it points. Otherwise, the link would make root work in that user's directory.
func TestOwnerOfSymlinkedVault(t *testing.T) {
	const otherUser = 65534
	data := t.TempDir()
	link := filepath.Join(data, "vault.db")
	if err := os.Symlink("/", link); err != nil { // root owns "/"
		t.Fatalf("create symlink: %v", err)
	}
	if err := CheckOwner(data); err != nil {
		t.Errorf("link of root in a directory of root: got %v, want no error", err)
	}
	if err := os.Lchown(link, otherUser, otherUser); err != nil {
		t.Fatalf("change owner: %v", err)
	}
	mismatch, ok := errors.AsType[*OwnerError](CheckOwner(data))
	if !ok || mismatch.Owner != UserName(otherUser) {
		t.Errorf("link of another user: got %+v, want a mismatch", mismatch)
	}
}
