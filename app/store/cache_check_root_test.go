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

	"deedkeep/app/model"
	"deedkeep/app/vaulttest/blockdev"
)

// A disk that fails every write of a meta page, and a server that is restarted as it
// asks: whenever the power fails, the disk has every commit that was acknowledged, and
// is sound. Without the check that Open does, it is not.
// go test -tags root ./app/store -run MetaPages (as root).
func TestFailingMetaPages(t *testing.T) {
	const restarts = 20
	for _, row := range []struct {
		name    string
		checks  bool
		damaged bool
	}{
		{"checked at every start", true, false},
		{"a start that believes in a clean stop", false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			disk := blockdev.New(t, 48<<20)
			disk.Mkfs(t, "ext4")
			var fails atomic.Bool
			disk.FailWrites(func(_ int64, data []byte) bool { return fails.Load() && hasMeta(data) })
			path := filepath.Join(disk.Mount(t), "vault.db")
			start := func() *Store {
				t.Helper()
				if mark := path + cleanMarkSuffix; !row.checks {
					believe(t, path, mark)
				}
				s, err := Open(t.Context(), path, testOptions())
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			end := func(s *Store) {
				t.Helper()
				if err := s.Close(); err != nil {
					t.Error(err)
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
				t.Fatalf("got %d commits on a sound disk, want 100", acknowledged)
			}
			fails.Store(true)
			damaged := 0
			for range restarts {
				write(s)
				end(s)
				s = start()
				if (s.Failure() != nil) != row.checks {
					t.Fatalf("a start on a disk that fails: got %v", s.Failure())
				}
				write(s)
				if err := lookAfterPowerCut(t, disk, acknowledged); err != nil {
					t.Logf("%.100s", err)
					if damaged++; row.damaged {
						break
					}
				}
			}
			if acknowledged != 100 {
				t.Errorf("got %d commits on a disk that fails, want none", acknowledged-100)
			}
			end(s)
			if t.Logf("%d of %d damaged", damaged, restarts); (damaged > 0) != row.damaged {
				t.Errorf("got %d of %d images damaged, want some %v", damaged, restarts, row.damaged)
			}
			if fails.Store(false); row.damaged {
				return
			}
			s = start()
			write(s)
			end(s)
			if err := lookAfterPowerCut(t, disk, 101); err != nil || acknowledged != 101 {
				t.Errorf("on a disk that works again: %d acknowledged, %v", acknowledged, err)
			}
			disk.Unmount(t)
		})
	}
}

// hasMeta reports whether a write has a meta page of bbolt in it.
func hasMeta(data []byte) bool {
	for ; len(data) >= minPageSize; data = data[minPageSize:] {
		if binary.NativeEndian.Uint32(data[pageHeader:]) == metaMagic {
			return true
		}
	}
	return false
}

// believe leaves the mark of a clean stop beside whatever memory has.
func believe(t *testing.T, path, mark string) {
	t.Helper()
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	state, err := cleanMarkText(file)
	if err := errors.Join(err, file.Close(), os.WriteFile(mark, []byte(state), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// lookAfterPowerCut opens what the disk has now and counts its orders.
func lookAfterPowerCut(t *testing.T, disk *blockdev.Disk, want int) error {
	t.Helper()
	// Of the bytes alone: bbolt doesn't let go of a file over which it fell.
	image, path := disk.Copy(t), filepath.Join(t.TempDir(), "vault.db")
	file, err := os.ReadFile(filepath.Join(image.Mount(t), "vault.db"))
	if err := errors.Join(err, os.WriteFile(path, file, 0o600)); err != nil {
		t.Fatal(err)
	}
	image.Unmount(t)
	s, err := Open(t.Context(), path, testOptions())
	if err != nil {
		return err
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	found := check(t, s)
	have := uint64(0)
	if err := s.View(t.Context(), func(tx *Tx) error { have = tx.Count(CountOrders); return nil }); err != nil {
		return err
	}
	if len(found) > 0 || have != uint64(want) {
		return fmt.Errorf("got %d orders of %d, %d findings", have, want, len(found))
	}
	return nil
}
