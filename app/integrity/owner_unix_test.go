//go:build !windows

package integrity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckOwner(t *testing.T) {
	data := t.TempDir()
	if err := CheckOwner(data); err != nil {
		t.Errorf("no vault: got %v, want no error", err)
	}
	if err := CheckOwner(filepath.Join(data, "missing")); err != nil {
		t.Errorf("no directory: got %v, want no error", err)
	}
	if err := os.WriteFile(filepath.Join(data, "vault.db"), nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if err := CheckOwner(data); err != nil {
		t.Errorf("own vault: got %v, want no error", err)
	}
	if uid, _, known := DataOwner(data); !known || uid != os.Geteuid() {
		t.Errorf("DataOwner: got user %d, known %v, want %d", uid, known, os.Geteuid())
	}
	text := (&OwnerError{Dir: "/srv/deedkeep", Database: "root", Directory: "deedkeep", Owner: "deedkeep"}).Error()
	if !strings.HasSuffix(text, "run: chown -R deedkeep: /srv/deedkeep") {
		t.Errorf("got %q, want the chown command at the end", text)
	}
}
