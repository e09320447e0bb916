//go:build root && linux

package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"deedkeep/app/store"
	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// small4M mounts a small disk of its own as the data directory.
func small4M(t *testing.T, dir string) {
	t.Helper()
	done(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"))
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// readAll is what must work on a disk that takes no byte: a verification without
// findings, and a backup to another disk.
func readAll(t *testing.T, v *vault.Vault) {
	t.Helper()
	if r, err := v.Verify(t.Context(), func(int, int) {}); err != nil || !r.OK() || r.Blobs != 1 {
		t.Errorf("verify: got %+v, %v; want 1 document and no findings", r, err)
	}
	if made, err := v.Backups.Create(t.Context(), clerk, t.TempDir(), func(vault.BackupProgress) {}); err != nil || made.Files != 1 {
		t.Errorf("backup: got %+v, %v; want 1 document", made, err)
	}
	if page, err := v.Events.List(t.Context(), store.Query{}); err != nil || len(page.Items) == 0 {
		t.Errorf("events: got %d, %v; want some", len(page.Items), err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "deedkeep-*.db")); err != nil || len(left) > 0 {
		t.Errorf("copies of the database that stayed: %v, %v", left, err)
	}
}

// A read-only disk can be verified and backed up, by a server that is running and by a
// command, and refuses changes.
func TestReadOnlyDisk(t *testing.T) {
	opts := vaulttest.Options(t)
	t.Setenv("TMPDIR", t.TempDir())
	small4M(t, opts.Dir)
	v, err := vault.Open(t.Context(), opts)
	done(t, err)
	upload(t, v, pdf("1.pdf", "1"))
	closed(t, v)
	done(t, syscall.Mount("", opts.Dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	opts.Create = false
	v, err = vault.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	readAll(t, v)
	_, err = v.Orders.Create(t.Context(), clerk, title.OrderDraft{Number: title.Given("A-1")}, vault.Keep[title.Order]{})
	kind(t, "an order", err, title.Closing)
}

// At zero bytes free, too, with the copy of the database on another disk.
func TestFullDiskIsReadable(t *testing.T) {
	opts := vaulttest.Options(t)
	t.Setenv("TMPDIR", t.TempDir())
	small4M(t, opts.Dir)
	v, err := vault.Open(t.Context(), opts)
	done(t, err)
	upload(t, v, pdf("1.pdf", "1"))
	ballast, err := os.Create(filepath.Join(opts.Dir, "tmp", "ballast"))
	done(t, err)
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	if done(t, ballast.Close()); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	readAll(t, v)
	closed(t, v)
	opts.Create = false
	v, err = vault.Open(t.Context(), opts)
	done(t, err)
	defer closed(t, v)
	readAll(t, v)
}
