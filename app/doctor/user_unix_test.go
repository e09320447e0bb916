//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/config"
)

func TestUser(t *testing.T) {
	dir := t.TempDir()
	c := config.Default()
	c.Data = dir
	if got := checkUser(c); len(got) != 0 {
		t.Errorf("no vault: got %+v, want nothing", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "vault.db"), nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	want := OK
	if os.Geteuid() == 0 {
		want = Warn
	}
	if got := checkUser(c); len(got) != 1 || got[0].State != want {
		t.Errorf("vault of user %d: got %+v, want %s", os.Geteuid(), got, want)
	}
	if got := diagnoseUser(0, dir); got.State != Warn || !strings.Contains(got.Message, "runs as root") || !strings.Contains(got.Action, dir) {
		t.Errorf("root: got %+v, want a warning with the directory", got)
	}
	if got := diagnoseUser(12345, dir); got.State != OK || !slices.Contains(strings.Fields(got.Message), "12345,") {
		t.Errorf("another user: got %+v, want OK with user 12345", got)
	}
}

func TestSecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "phrase")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatalf("write passphrase file: %v", err)
	}
	c := config.Default()
	c.Backup.PassphraseFile = file
	for mode, want := range map[os.FileMode]string{0o600: OK, 0o644: Warn} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatalf("change mode: %v", err)
		}
		got := checkSecrets(c)
		if got.State != want || (want == Warn) != (got.Action == "give only the service account access: chmod go= "+file) {
			t.Errorf("mode %o: got %+v, want %s", mode, got, want)
		}
	}
}
