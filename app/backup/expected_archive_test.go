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

// If a network share isn't mounted, its mount point is an empty directory. A backup fails
// there, as it does if the share contains another archive of the same vault. The state
// shows the reason.
func TestBackupToMissingArchive(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	to := filepath.Join(t.TempDir(), "nas")
	vaulttest.CreateBackup(t, v, to)
	other := filepath.Join(t.TempDir(), "other")
	vaulttest.CreateBackup(t, v, other)
	wantConflict := func(name string) {
		t.Helper()
		before := vaulttest.FilesUnder(t, to, ".")
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {})
		vaulttest.WantKind(t, name, err, errs.Conflict)
		if err == nil || !strings.Contains(err.Error(), "mounted") || !strings.Contains(err.Error(), "--new") {
			t.Errorf("%s: %v, want \"mounted\" and \"--new\" in it", name, err)
		}
		if after := vaulttest.FilesUnder(t, to, "."); len(after) != len(before) {
			t.Errorf("%s: files = %v, want %v", name, after, before)
		}
		if s := v.Backups.State(); s.Failed == nil || s.Failed.To != to {
			t.Errorf("%s: State() = %+v; want a failure for %s", name, s, to)
		}
	}
	away := to + "-away"
	if err := os.Rename(to, away); err != nil {
		t.Fatalf("rename: %v", err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	wantConflict("an empty mount point")
	if err := os.Remove(to); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if err := os.CopyFS(to, os.DirFS(other)); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	wantConflict("another archive")
	if err := os.RemoveAll(to); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if err := os.Rename(away, to); err != nil {
		t.Fatalf("rename: %v", err)
	}
	vaulttest.CreateBackup(t, v, to) // with the first archive in place again
	if err := os.RemoveAll(to); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if err := v.Backups.ForgetArchive(to); err != nil {
		t.Fatalf("Backups.ForgetArchive: %v", err)
	}
	vaulttest.CreateBackup(t, v, to)
	vaulttest.CreateBackup(t, v, other)
}

// A backup doesn't use the disk space reserved for the data directory.
func TestBackupKeepsDiskReserve(t *testing.T) {
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
		vaulttest.WantKind(t, "no free space for the copy", err, errs.InsufficientStorage)
		if err == nil || !strings.Contains(err.Error(), "first copies") || !strings.Contains(err.Error(), "disk.reserve") {
			t.Errorf("Create: %v, want \"first copies\" and \"disk.reserve\" in it", err)
		}
	}
	if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) != 0 {
		t.Errorf("files in tmp = %v, want none", left)
	}
}
