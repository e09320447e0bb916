package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/vaulttest"
)

// A share that is not mounted leaves an empty directory: nothing goes into it, and
// the note says why. The same for one that holds another archive of this vault.
func TestABackupDirectoryThatLostItsArchive(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	to := filepath.Join(t.TempDir(), "nas")
	vaulttest.CreateBackup(t, v, to)
	other := filepath.Join(t.TempDir(), "other")
	vaulttest.CreateBackup(t, v, other)
	gone := func(what string) {
		t.Helper()
		before := vaulttest.FilesUnder(t, to, ".")
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {})
		vaulttest.WantKind(t, what, err, errs.Conflict)
		if err == nil || !strings.Contains(err.Error(), "mounted") || !strings.Contains(err.Error(), "--new") {
			t.Errorf("%s: %v", what, err)
		}
		if after := vaulttest.FilesUnder(t, to, "."); len(after) != len(before) {
			t.Errorf("%s: %v", what, after)
		}
		if s, err := v.Backups.State(); err != nil || s.Failed == nil || s.Failed.To != to {
			t.Errorf("%s: %+v, %v", what, s, err)
		}
	}
	away := to + "-away"
	if err := os.Rename(to, away); err != nil {
		t.Fatalf("rename: %v", err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	gone("an empty mount point")
	if err := os.Remove(to); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if err := os.CopyFS(to, os.DirFS(other)); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	gone("another archive")
	if err := os.RemoveAll(to); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if err := os.Rename(away, to); err != nil {
		t.Fatalf("rename: %v", err)
	}
	vaulttest.CreateBackup(t, v, to) // it is back
	if err := os.RemoveAll(to); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if err := v.Backups.ForgetArchive(to); err != nil {
		t.Fatalf("Backups.ForgetArchive: %v", err)
	}
	vaulttest.CreateBackup(t, v, to)
	vaulttest.CreateBackup(t, v, other)
}

// A backup takes nothing of the reserve of the data's own disk.
func TestABackupLeavesRoomForUploads(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	free, err := blobstore.FreeSpace(opts.Dir)
	if err != nil {
		t.Fatalf("free space: %v", err)
	}
	to := filepath.Join(t.TempDir(), "b")
	for _, reserve := range []uint64{2 * free, 1<<64 - 1} {
		v.MinFree = reserve
		_, err = v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {})
		vaulttest.WantKind(t, "no room for the copy", err, errs.InsufficientStorage)
		if err == nil || !strings.Contains(err.Error(), "first copies") || !strings.Contains(err.Error(), "disk.reserve") {
			t.Errorf("%v", err)
		}
	}
	if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
