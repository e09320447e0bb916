//go:build root && linux

package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"deedkeep/app/kv/boltkv/pagecache"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest/blockdev"
)

// The disk fails every write of a meta page, and the server is restarted repeatedly. Whenever the
// power fails, the database on the disk is intact and has every acknowledged commit. Without the
// check in Open, it would be damaged.
//
// Run as root: go test -tags root ./app/store -run MetaPage
func TestFailingMetaPageWrites(t *testing.T) {
	const restarts = 20
	for _, row := range []struct {
		name    string
		checks  bool
		damaged bool
	}{
		{"check at every start", true, false},
		{"forged clean mark", false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			disk := blockdev.New(t, 48<<20)
			disk.Mkfs(t, "ext4")
			var fails atomic.Bool
			disk.FailWrites(func(_ int64, data []byte) bool { return fails.Load() && hasMeta(data) })
			path := filepath.Join(disk.Mount(t), "vault.db")
			start := func() *Store {
				t.Helper()
				if mark := path + pagecache.CleanMarkSuffix; !row.checks {
					forgeCleanMark(t, path, mark)
				}
				s, err := Open(t.Context(), path, testOptions())
				if err != nil {
					t.Fatalf("open store: %v", err)
				}
				return s
			}
			end := func(s *Store) {
				t.Helper()
				if err := s.Close(); err != nil {
					t.Errorf("close store: %v", err)
				}
			}
			acknowledged, attempts := 0, 0
			write := func(s *Store) {
				attempts++
				err := s.Update(t.Context(), nil, func(tx *Tx) error {
					id, err := tx.NewOrderID()
					if err != nil {
						return err
					}
					return tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(attempts), CreatedAt: testTime})
				})
				if err == nil {
					acknowledged++
				}
			}
			s := start()
			for range 100 {
				write(s)
			}
			if acknowledged != 100 {
				t.Fatalf("got %d commits on a working disk, want 100", acknowledged)
			}
			fails.Store(true)
			damaged := 0
			for range restarts {
				write(s)
				end(s)
				s = start()
				if (s.Failure() != nil) != row.checks {
					t.Fatalf("start on a failing disk: got %v, want an error %v", s.Failure(), row.checks)
				}
				write(s)
				if err := openAfterPowerCut(t, disk, acknowledged); err != nil {
					t.Logf("%.100s", err)
					if damaged++; row.damaged {
						break
					}
				}
			}
			if acknowledged != 100 {
				t.Errorf("got %d commits on a failing disk, want none", acknowledged-100)
			}
			end(s)
			if t.Logf("%d of %d damaged", damaged, restarts); (damaged > 0) != row.damaged {
				t.Errorf("got %d of %d images damaged, want any: %v", damaged, restarts, row.damaged)
			}
			if fails.Store(false); row.damaged {
				return
			}
			s = start()
			write(s)
			end(s)
			if err := openAfterPowerCut(t, disk, 101); err != nil || acknowledged != 101 {
				t.Errorf("on a working disk: got %d acknowledged, %v; want 101", acknowledged, err)
			}
			disk.Unmount(t)
		})
	}
}

// hasMeta reports whether a write to the disk contains a meta page of bbolt.
func hasMeta(data []byte) bool {
	for ; len(data) >= pagecache.MinPageSize; data = data[pagecache.MinPageSize:] {
		if binary.NativeEndian.Uint32(data[pageHeader:]) == pagecache.MetaMagic {
			return true
		}
	}
	return false
}

// forgeCleanMark writes a clean mark for the database state in memory.
func forgeCleanMark(t *testing.T, path, mark string) {
	t.Helper()
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatalf("open file: %v", err)
	}
	state, err := pagecache.CleanMarkText(file)
	if err := errors.Join(err, file.Close(), os.WriteFile(mark, []byte(state), 0o600)); err != nil {
		t.Fatalf("close file: %v", err)
	}
}

// openAfterPowerCut opens a copy of the database in its current state on disk. It returns an error
// if the database can't be opened, is inconsistent, or doesn't have want orders.
func openAfterPowerCut(t *testing.T, disk *blockdev.Disk, want int) error {
	t.Helper()
	// Open a copy of the file, because bbolt doesn't close the file if it panics.
	image, path := disk.Copy(t), filepath.Join(t.TempDir(), "vault.db")
	file, err := os.ReadFile(filepath.Join(image.Mount(t), "vault.db"))
	if err := errors.Join(err, os.WriteFile(path, file, 0o600)); err != nil {
		t.Fatalf("write file: %v", err)
	}
	image.Unmount(t)
	s, err := Open(t.Context(), path, testOptions())
	if err != nil {
		return err
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	}()
	findings := check(t, s)
	got := uint64(0)
	if err := s.View(t.Context(), func(tx *Tx) error { got = tx.Count(CountOrders); return nil }); err != nil {
		return err
	}
	if len(findings) > 0 || got != uint64(want) {
		return fmt.Errorf("got %d orders of %d, %d findings", got, want, len(findings))
	}
	return nil
}
