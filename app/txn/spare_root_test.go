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

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// A real disk that another program fills to its last byte: go test -tags root ./app/vault
// (as root). Uploads are refused; deleting, restoring, and purging work, and give room
// back, with which uploads work again without a restart. A server that starts there can
// do the same.
func TestPurgeOnADiskWithoutAByte(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			dir := t.TempDir()
			if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(dir, 0); err != nil {
					t.Error(err)
				}
			})
			opts := vaulttest.Options(t)
			opts.Dir, opts.Settings.DiskReserve, opts.Settings.Spare = filepath.Join(dir, "data"), 4<<20, 8<<20
			opts.Settings.Retention = vault.Retention{Default: 20 * vaulttest.Year}
			v, err := instance.Open(t.Context(), opts)
			vaulttest.NoError(t, err)
			v.Start(1 << 40)
			large := func(name string) vaulttest.Doc {
				return vaulttest.NewDoc(name, []byte(name+strings.Repeat("x", 5<<20)))
			}
			files := vaulttest.UploadDocs(t, v, large("1.txt"), large("2.txt"))
			filed := vaulttest.CreateAbstract(t, v, large("3.txt"))
			for n := range 200 { // records enough that a change needs pages that are not there
				vaulttest.CreateOrder(t, v, fmt.Sprintf("%d %s", n, strings.Repeat("n", 100)))
			}
			fill := func() {
				t.Helper()
				f, err := os.OpenFile(filepath.Join(dir, "ballast"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
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
				vaulttest.NoError(t, syscall.Statfs(dir, &st))
				if st.Bavail != 0 {
					t.Fatalf("%d blocks are free", st.Bavail)
				}
			}
			fill()
			if restart {
				vaulttest.Close(t, v)
				fill() // what the search index gave back as it closed
				v, err = instance.Open(t.Context(), opts)
				vaulttest.NoError(t, err)
				v.Start(1 << 40)
			}
			defer func() { vaulttest.Close(t, v) }()
			refused := func() {
				t.Helper()
				_, err := v.Files.Stage(t.Context())
				vaulttest.WantKind(t, "an upload", err, errs.InsufficientStorage)
			}
			refused()
			for range 20 { // each on a disk that is full again
				vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, files[0].ID, vault.Match{}))
				fill()
				_, err = v.Files.Restore(t.Context(), vaulttest.Operator, files[0].ID, vault.Idempotency[model.File]{})
				vaulttest.NoError(t, err)
				fill()
			}
			vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
			for n := range uint64(200) {
				vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, n+1, vault.Match{}))
			}
			fill()
			_, err = v.Trash.Purge(t.Context(), vaulttest.Operator, "abstract", 1, "")
			vaulttest.WantKind(t, "what the retention keeps", err, errs.Conflict)
			vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, files[0].ID, vault.Match{}))
			fill()
			refused()
			gone, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "file", files[0].ID, "")
			if err != nil || gone.FreedBytes != files[0].Size {
				t.Fatalf("purge: %+v, %v", gone, err)
			}
			if free := vaulttest.Status(t, v).DiskFree; free < 4<<20 {
				t.Errorf("%d bytes are free after %d were freed", free, gone.FreedBytes)
			}
			vaulttest.UploadDocs(t, v, vaulttest.NewDoc("again.txt", []byte("again")))
			fill()
			refused()
			vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, files[1].ID, vault.Match{}))
			fill()
			if gone, err = v.Trash.Empty(t.Context(), vaulttest.Operator); err != nil || gone.FreedBytes != files[1].Size || gone.Records != 201 || gone.Kept != 1 {
				t.Fatalf("empty: %+v, %v", gone, err)
			}
			vaulttest.UploadDocs(t, v, vaulttest.NewDoc("more.txt", []byte("more")))
			_, err = v.Abstracts.Restore(t.Context(), vaulttest.Operator, 1, vault.Idempotency[vault.AbstractWithFiles]{})
			vaulttest.NoError(t, err)
			_, bytes, err := v.Files.Open(t.Context(), filed.Files[0].ID)
			vaulttest.NoError(t, err)
			n, err := io.Copy(io.Discard, bytes)
			if err = errors.Join(err, bytes.Close()); err != nil || n != filed.Files[0].Size {
				t.Errorf("%d bytes, %v, want %d", n, err, filed.Files[0].Size)
			}
			vaulttest.Verify(t, v)
		})
	}
}
