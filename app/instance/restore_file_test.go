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

// Restoring a file doesn't change other files in the directory, and doesn't replace an existing file.
func TestRestoreFileKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	_, files, to := backedUp(t, 1)
	opts := vaulttest.RestoreOptions(t, to)
	dir := t.TempDir()
	path := filepath.Join(dir, "deed.pdf")
	if err := os.WriteFile(path+".part", []byte("mine"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if _, err := backup.RestoreFile(t.Context(), to, archive.Latest, opts.Archive, files[0].ID, path); err != nil {
		t.Fatalf("restore file: %v", err)
	}
	if raw, err := os.ReadFile(path + ".part"); err != nil || string(raw) != "mine" {
		t.Errorf("deed.pdf.part = %q, %v; want it unchanged", raw, err)
	}
	if got := vaulttest.FilesUnder(t, dir, "."); len(got) != 2 {
		t.Errorf("files = %v, want 2", got)
	}
	_, err := backup.RestoreFile(t.Context(), to, archive.Latest, opts.Archive, files[0].ID, path)
	vaulttest.WantKind(t, "restore over a file", err, errs.Conflict)
}

// A disk reserve near the maximum value doesn't cause an overflow in the free space check.
func TestRestoreFreeSpaceDoesNotOverflow(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 2)
	opts := vaulttest.RestoreOptions(t, to)
	opts.Vault.Settings.DiskReserve = 1<<64 - 1
	_, err := instance.Restore(t.Context(), opts)
	vaulttest.WantKind(t, "no free space", err, errs.InsufficientStorage)
}
