package instance_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// After an upgrade, the archive contains backups that this version can't read. The latest is
// then the newest that it can read. A newer one is rejected before the directory exists.
func TestRestoreSkipsNewerSchema(t *testing.T) {
	t.Parallel()
	v, files, to := backedUp(t, 2)
	created := v.Backups.State().LastGood
	newer := vaulttest.AddNewerSnapshot(t, v, to)
	opts := vaulttest.RestoreOptions(t, to)
	opts.Snapshot = newer
	_, err := instance.Restore(t.Context(), opts)
	vaulttest.WantKind(t, "a newer schema", err, errs.Conflict)
	if !errors.Is(err, archive.ErrNewerVersion) || !strings.Contains(err.Error(), "v99.0.0") {
		t.Errorf("Restore(%s) = %v, want ErrNewerVersion with the version", newer, err)
	}
	if _, err := os.Stat(opts.Vault.Dir); !os.IsNotExist(err) {
		t.Errorf("data directory: %v, want that it doesn't exist", err)
	}
	if _, err := instance.TestRestore(t.Context(), filepath.Join(t.TempDir(), "drill"), opts); !errors.Is(err, archive.ErrNewerVersion) {
		t.Errorf("TestRestore: got %v, want ErrNewerVersion, not a failed test", err)
	}
	out := filepath.Join(t.TempDir(), "deed.pdf")
	if _, err := backup.RestoreFile(t.Context(), to, newer, opts.Archive, files[0].ID, out); !errors.Is(err, archive.ErrNewerVersion) {
		t.Errorf("RestoreFile: got %v, want ErrNewerVersion", err)
	}
	if _, err := backup.RestoreFile(t.Context(), to, archive.Latest, opts.Archive, files[0].ID, out); err != nil {
		t.Errorf("RestoreFile of the latest: %v", err)
	}
	opts.Snapshot = archive.Latest
	if r, err := instance.Restore(t.Context(), opts); err != nil || r.Info.Snapshot != created.Snapshot {
		t.Errorf("Restore(latest) = %+v, %v; want %s", r.Info, err, created.Snapshot)
	}
}

// A full disk is noticed before the directory is created.
func TestRestoreChecksSpaceFirst(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 1)
	opts := vaulttest.RestoreOptions(t, to)
	opts.Vault.Settings.DiskReserve = 1 << 60
	_, err := instance.Restore(t.Context(), opts)
	vaulttest.WantKind(t, "no free space", err, errs.InsufficientStorage)
	if _, err := os.Stat(opts.Vault.Dir); !os.IsNotExist(err) {
		t.Errorf("data directory: %v, want that it doesn't exist", err)
	}
}

// An interrupted restore is not in the way of a restore of another backup.
func TestRestoreReplacesUnfinishedOne(t *testing.T) {
	t.Parallel()
	v, files, to := backedUp(t, 2)
	first := v.Backups.State().LastGood.Snapshot
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("New.pdf", "new"))
	second := vaulttest.CreateBackup(t, v, to).Snapshot
	opts := vaulttest.RestoreOptions(t, to)
	ctx, cancel := context.WithCancel(t.Context())
	opts.Progress = func(done, total int64) {
		if done == total {
			cancel()
		}
	}
	if _, err := instance.Restore(ctx, opts); !errors.Is(err, context.Canceled) {
		t.Fatalf("Restore: got %v, want context canceled", err)
	}
	opts.Progress, opts.Snapshot = vaulttest.NoProgress, first
	r, err := instance.Restore(t.Context(), opts)
	if err != nil || r.Replaced != second || r.Info.Snapshot != first {
		t.Fatalf("Restore(%s) = %+v, %v; want that it replaces %s", first, r, err, second)
	}
	restored := vaulttest.Open(t, opts.Vault)
	if !bytes.Equal(vaulttest.Content(t, restored, files[1].ID), vaulttest.PDF(1, "1")) {
		t.Error("the restored document differs")
	}
	if s, err := restored.Status(t.Context()); err != nil || s.Files != 2 {
		t.Errorf("Status() = %d files, %v; want 2", s.Files, err)
	}
}

// If the restored vault can't be deleted, the restore test still has its result, and no
// document stays readable. The next test removes the rest.
func TestRestoreTestNotDeleted(t *testing.T) {
	t.Parallel()
	_, files, to := backedUp(t, 2)
	scratch := filepath.Join(t.TempDir(), "drill")
	opts := vaulttest.RestoreOptions(t, to)
	stuck := filepath.Join(scratch, "data", "blobs", files[0].Digest[:2], files[0].Digest)
	opts.Remove = func(path string) error {
		if path == stuck {
			return errors.New("invalid function")
		}
		return os.Remove(path)
	}
	d, err := instance.TestRestore(t.Context(), scratch, opts)
	if err != nil || !d.OK() || d.NotDeleted == nil || !strings.Contains(d.NotDeleted.Error(), "invalid function") {
		t.Fatalf("TestRestore() = %+v, %v; want a passed test and what wasn't deleted", d, err)
	}
	if left := vaulttest.FilesUnder(t, scratch, "data"); len(left) != 1 || left[0] != stuck {
		t.Errorf("files left = %v, want %s", left, stuck)
	}
	if info, err := os.Stat(stuck); err != nil || info.Size() != 0 {
		t.Errorf("stuck document = %v, %v; want it empty", info, err)
	}
	opts = vaulttest.RestoreOptions(t, to)
	if d, err := instance.TestRestore(t.Context(), scratch, opts); err != nil || !d.OK() || d.NotDeleted != nil {
		t.Errorf("next TestRestore() = %+v, %v; want a passed test", d, err)
	}
	if _, err := os.Stat(scratch); !os.IsNotExist(err) {
		t.Errorf("scratch directory: %v, want that it doesn't exist", err)
	}
}
