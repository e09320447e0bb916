//go:build root && linux

package instance_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// mountSmallDisk mounts a 4 MB file system at dir.
func mountSmallDisk(t *testing.T, dir string) {
	t.Helper()
	vaulttest.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"))
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("Unmount: %v", err)
		}
	})
}

// readAll checks that a full disk can be verified without findings and backed up to another disk.
func readAll(t *testing.T, v *instance.Instance, to string) {
	t.Helper()
	if r, err := v.Integrity.Verify(t.Context(), func(int, int) {}); err != nil || !r.OK() || r.Blobs != 1 {
		t.Errorf("verify: got %+v, %v; want 1 document and no findings", r, err)
	}
	if created, err := v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {}); err != nil || created.Files != 1 {
		t.Errorf("backup: got %+v, %v; want 1 document", created, err)
	}
	if left, err := filepath.Glob(filepath.Join(to, "tmp", "*")); err != nil || len(left) > 0 {
		t.Errorf("files in the backup's tmp = %v, %v; want none", left, err)
	}
	if page, err := v.Events.List(t.Context(), store.Query{}); err != nil || len(page.Items) == 0 {
		t.Errorf("events: got %d, %v; want some", len(page.Items), err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "deedkeep-*.db")); err != nil || len(left) > 0 {
		t.Errorf("copies of the database = %v, %v; want none", left, err)
	}
}

// A running server and a command can verify and back up a read-only disk. Changes are rejected.
func TestReadOnlyDisk(t *testing.T) {
	opts := vaulttest.Options(t)
	t.Setenv("TMPDIR", t.TempDir())
	mountSmallDisk(t, opts.Dir)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	vaulttest.Close(t, v)
	vaulttest.NoError(t, syscall.Mount("", opts.Dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	opts.Create = false
	v, err = instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer vaulttest.Close(t, v)
	readAll(t, v, t.TempDir())
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("A-1")}},
		vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "create an order", err, errs.Unavailable)
}

// fillDisk writes to the disk until it is full.
func fillDisk(t *testing.T, dir string) {
	t.Helper()
	ballast, err := os.OpenFile(filepath.Join(dir, "tmp", "ballast"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("open file: %v", err)
	}
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	if vaulttest.NoError(t, ballast.Close()); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill disk: got %v, want ENOSPC", err)
	}
}

// A full disk can be verified and backed up by a running server and by a command, even if the temporary directory is on
// the same disk. Damage is still found.
func TestFullDiskIsReadable(t *testing.T) {
	opts := vaulttest.Options(t)
	mountSmallDisk(t, opts.Dir)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	aside := filepath.Join(opts.Dir, "aside")
	vaulttest.NoError(t, os.Mkdir(aside, 0o700))
	t.Setenv("TMPDIR", aside)
	to := t.TempDir() // below TMPDIR, which is on another disk (64 MB)
	vaulttest.NoError(t, syscall.Mount("tmpfs", to, "tmpfs", 0, "size=64m"))
	t.Cleanup(func() { vaulttest.NoError(t, syscall.Unmount(to, syscall.MNT_DETACH)) })
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	fillDisk(t, opts.Dir)
	readAll(t, v, filepath.Join(to, "server"))
	vaulttest.Close(t, v)
	fillDisk(t, opts.Dir)
	opts.Create = false
	v, err = instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	readAll(t, v, filepath.Join(to, "command"))
	vaulttest.Close(t, v)
	// Even for an encrypted archive, the database isn't copied unencrypted to the archive's disk.
	opts.Settings.Backup.Passphrase = "a passphrase of some length"
	v, err = instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer vaulttest.Close(t, v)
	_, err = v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(to, "encrypted"), func(backup.Progress) {})
	vaulttest.WantKind(t, "an encrypted backup without space for a copy", err, errs.InsufficientStorage)
	t.Setenv("TMPDIR", to)
	readAll(t, v, filepath.Join(to, "encrypted"))
	blob := filepath.Join(opts.Dir, "blobs", files[0].Digest[:2], files[0].Digest)
	vaulttest.NoError(t, os.Chmod(blob, 0o600))
	f, err := os.OpenFile(blob, os.O_WRONLY, 0)
	if err != nil {
		t.Fatalf("open file: %v", err)
	}
	_, err = f.WriteAt([]byte("#"), 0)
	vaulttest.NoError(t, errors.Join(err, f.Close()))
	t.Setenv("TMPDIR", aside)
	if r := vaulttest.VerifyReport(t, v); len(r.Findings) != 1 || r.Findings[0].Kind != "file" {
		t.Errorf("a damaged document: got %+v, want one finding about it", r.Findings)
	}
}
