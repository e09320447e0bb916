//go:build root && linux

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// TestFullDisk uses a file system with a size of one megabyte. Run it as root: go test -tags root
// ./app/store
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatalf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount tmpfs: %v", err)
		}
	})
	s := open(t, filepath.Join(dir, "vault.db"))
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 400_000), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	write := func(n int) error {
		return s.Update(t.Context(), nil, func(tx *Tx) error {
			id, err := tx.NewOrderID()
			if err != nil {
				return err
			}
			return tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(n), Property: model.Property{Address: strings.Repeat("x", 20_000)}})
		})
	}
	written := 0
	for failed := 0; failed < 2 && written < 1000; { // one more update can fit into pages that the last one freed
		switch err := write(written); {
		case err == nil:
			written, failed = written+1, 0
		case errs.KindOf(err) != errs.InsufficientStorage || written == 0:
			t.Fatalf("update %d: got %v, want errs.InsufficientStorage after some updates", written, err)
		default:
			failed++
		}
	}
	if written == 1000 {
		t.Error("1,000 updates fit on the disk, want errs.InsufficientStorage")
	}
	view(t, s, func(tx *Tx) error {
		if n := tx.Count(CountOrders); n != uint64(written) {
			t.Errorf("got %d orders, want %d", n, written)
		}
		_, err := tx.Order(uint64(written))
		return err
	})
	if _, err := s.Snapshot(t.Context(), filepath.Join(dir, "copy.db")); errs.KindOf(err) != errs.InsufficientStorage {
		t.Errorf("Snapshot: got %v, want errs.InsufficientStorage", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if err := write(written); err != nil {
		t.Errorf("update with free space: %v", err)
	}
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %+v, want none", findings)
	}
}
