package instance_test

import (
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// What lies beside the file that a restore writes is somebody's.
func TestRestoreFileSparesWhatLiesBesideIt(t *testing.T) {
	t.Parallel()
	_, files, to := backedUp(t, 1)
	opts := vaulttest.RestoreOptions(t, to)
	dir := t.TempDir()
	path := filepath.Join(dir, "deed.pdf")
	if err := os.WriteFile(path+".part", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.RestoreFile(t.Context(), to, archive.Latest, opts.Archive, files[0].ID, path); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path + ".part"); err != nil || string(raw) != "mine" {
		t.Errorf("%q, %v", raw, err)
	}
	if got := vaulttest.FilesUnder(t, dir, "."); len(got) != 2 {
		t.Errorf("%v", got)
	}
	_, err := backup.RestoreFile(t.Context(), to, archive.Latest, opts.Archive, files[0].ID, path)
	vaulttest.WantKind(t, "over a file", err, errs.Conflict)
}

// A reserve, or a size, near the end of all numbers is no room at all.
func TestRestoreRoomDoesNotOverflow(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 2)
	opts := vaulttest.RestoreOptions(t, to)
	opts.Vault.Settings.DiskReserve = 1<<64 - 1
	_, err := instance.Restore(t.Context(), opts)
	vaulttest.WantKind(t, "no room", err, errs.InsufficientStorage)
}
