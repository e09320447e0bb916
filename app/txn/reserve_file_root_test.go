//go:build root && linux

package txn_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// fullDisk is an instance on a tmpfs that another program keeps full.
type fullDisk struct {
	*instance.Instance
	mount string
}

// fill writes to a file next to the data directory until there are no free blocks.
func (d *fullDisk) fill(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(d.mount, "ballast"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	vaulttest.NoError(t, err)
	defer func() { vaulttest.NoError(t, f.Close()) }()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else {
			vaulttest.NoError(t, err)
		}
	}
	var st syscall.Statfs_t
	vaulttest.NoError(t, syscall.Statfs(d.mount, &st))
	if st.Bavail != 0 {
		t.Fatalf("free blocks = %d, want 0", st.Bavail)
	}
}

// wantUploadsRejected checks that the disk is too full for uploads.
func (d *fullDisk) wantUploadsRejected(t *testing.T) {
	t.Helper()
	_, err := d.Files.Stage(t.Context())
	vaulttest.WantKind(t, "stage an upload", err, errs.InsufficientStorage)
}

// On a real disk without a free byte, uploads are rejected, but documents can be moved to
// the trash, restored, and purged. A purge frees space, and then uploads work again without
// a restart. The same is true if the server starts when the disk is full.
//
// Run this test as root: go test -tags root ./app/txn
func TestPurgeOnFullDisk(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			mount := t.TempDir()
			if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=64m"); err != nil {
				t.Fatalf("mount tmpfs: %v", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(mount, 0); err != nil {
					t.Errorf("unmount tmpfs: %v", err)
				}
			})
			opts := vaulttest.Options(t)
			opts.Dir, opts.Settings.DiskReserve, opts.Settings.Spare = filepath.Join(mount, "data"), 4<<20, 8<<20
			opts.Load = vaulttest.With(map[string]string{"retention.keep": "20y"})
			v, err := instance.Open(t.Context(), opts)
			vaulttest.NoError(t, err)
			d := &fullDisk{v, mount}
			d.Start(1 << 40)
			largeDoc := func(name string) vaulttest.Doc {
				return vaulttest.NewDoc(name, []byte(name+strings.Repeat("x", 5<<20)))
			}
			files := vaulttest.UploadDocs(t, d.Instance, largeDoc("1.txt"), largeDoc("2.txt"))
			abstract := vaulttest.CreateAbstract(t, d.Instance, largeDoc("3.txt"))
			for n := range 200 { // so many records that a change needs new pages in the database
				vaulttest.CreateOrder(t, d.Instance, fmt.Sprintf("%d %s", n, strings.Repeat("n", 100)))
			}
			// Processing would use the space of the reserve file while it is lent.
			vaulttest.Eventually(t, "the queue is empty", func() bool { return vaulttest.Status(t, d.Instance).Queue == 0 })
			d.fill(t)
			if restart {
				vaulttest.Close(t, d.Instance)
				d.fill(t) // fill the space that was freed by closing the search index
				d.Instance, err = instance.Open(t.Context(), opts)
				vaulttest.NoError(t, err)
				d.Start(1 << 40)
			}
			defer func() { vaulttest.Close(t, d.Instance) }()
			d.testAccounts(t)
			d.testPurge(t, files, abstract.Files[0])
		})
	}
}

// testAccounts manages keys and users and signs in, many times, on a disk that is filled again
// before each step.
func (d *fullDisk) testAccounts(t *testing.T) {
	t.Helper()
	d.wantUploadsRejected(t)
	step := func(name string, do func() error) {
		t.Helper()
		d.fill(t)
		if err := do(); err != nil {
			t.Fatalf("%s on a full disk: %v", name, err)
		}
	}
	p := vaulttest.UserFixture{Instance: d.Instance}
	for n := range 20 {
		var key model.Key
		var user model.User
		var in auth.SignedIn
		var folder model.Folder
		name := fmt.Sprintf("user%d", n)
		password := vaulttest.GoodPassword
		step("create key", func() (err error) {
			_, key, err = d.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: strings.Repeat("k", 100)})
			return err
		})
		step("rotate key", func() (err error) {
			_, key, err = d.Keys.Rotate(t.Context(), vaulttest.Operator, key.ID, 0)
			return err
		})
		step("revoke key", func() error {
			_, err := d.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
			return err
		})
		step("create user", func() (err error) {
			draft := model.UserDraft{Name: name, Role: model.RoleStaff, Password: &password}
			_, user, err = d.Users.Create(t.Context(), vaulttest.Operator, draft)
			return err
		})
		step("sign in", func() (err error) {
			in, err = p.TrySignIn(t, name, password, "", "192.0.2.1")
			return err
		})
		step("sign out", func() error { return d.Sessions.SignOut(t.Context(), in.Token, "192.0.2.1") })
		step("reset user", func() error {
			_, _, err := d.Users.Reset(t.Context(), vaulttest.Operator, user.ID)
			return err
		})
		step("read folders", func() error {
			folders, err := d.Folders.List(t.Context())
			folder = folders[len(folders)-1]
			return err
		})
		if n < 3 {
			step("delete folder", func() error { return d.Folders.Remove(t.Context(), vaulttest.Operator, folder.ID, vault.Match{}) })
		}
	}
}

// testPurge moves files, orders, and the abstract of the attached file to the trash,
// restores them, and purges them.
func (d *fullDisk) testPurge(t *testing.T, files []model.File, attached model.File) {
	t.Helper()
	d.wantUploadsRejected(t)
	for range 20 { // the disk is filled again before each step
		vaulttest.NoError(t, d.Files.Trash(t.Context(), vaulttest.Operator, files[0].ID, vault.Match{}))
		d.fill(t)
		_, err := d.Files.Restore(t.Context(), vaulttest.Operator, files[0].ID, vault.Idempotency[model.File]{})
		vaulttest.NoError(t, err)
		d.fill(t)
	}
	vaulttest.NoError(t, d.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	for n := range uint64(200) {
		vaulttest.NoError(t, d.Orders.Trash(t.Context(), vaulttest.Operator, n+1, vault.Match{}))
	}
	d.fill(t)
	_, err := d.Purger.Purge(t.Context(), vaulttest.Operator, "abstract", 1, "")
	vaulttest.WantKind(t, "purge an abstract within its retention", err, errs.Conflict)
	vaulttest.NoError(t, d.Files.Trash(t.Context(), vaulttest.Operator, files[0].ID, vault.Match{}))
	d.fill(t)
	d.wantUploadsRejected(t)
	purged, err := d.Purger.Purge(t.Context(), vaulttest.Operator, "file", files[0].ID, "")
	if err != nil || purged.FreedBytes != files[0].Size {
		t.Fatalf("Purge() = %+v, %v; want %d freed bytes", purged, err, files[0].Size)
	}
	if free := vaulttest.Status(t, d.Instance).DiskFree; free < 4<<20 {
		t.Errorf("free space after %d bytes were freed = %d bytes, want at least %d", purged.FreedBytes, free, 4<<20)
	}
	vaulttest.UploadDocs(t, d.Instance, vaulttest.NewDoc("again.txt", []byte("again")))
	d.fill(t)
	d.wantUploadsRejected(t)
	vaulttest.NoError(t, d.Files.Trash(t.Context(), vaulttest.Operator, files[1].ID, vault.Match{}))
	d.fill(t)
	purged, err = d.Purger.Empty(t.Context(), vaulttest.Operator)
	if err != nil || purged.FreedBytes != files[1].Size || purged.Records != 201 || purged.Kept != 1 {
		t.Fatalf("Empty() = %+v, %v; want 201 records, %d freed bytes, and 1 kept", purged, err, files[1].Size)
	}
	vaulttest.UploadDocs(t, d.Instance, vaulttest.NewDoc("more.txt", []byte("more")))
	_, err = d.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	_, content, err := d.Files.Open(t.Context(), attached.ID)
	vaulttest.NoError(t, err)
	n, err := io.Copy(io.Discard, content)
	if err = errors.Join(err, content.Close()); err != nil || n != attached.Size {
		t.Errorf("read the restored file: %d bytes, %v; want %d bytes", n, err, attached.Size)
	}
	vaulttest.Verify(t, d.Instance)
}
