//go:build root && linux

package blockdev_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deedkeep/app/vaulttest/blockdev"
)

const size = 64 << 20

var text = bytes.Repeat([]byte("a deed of trust "), 4096)

// write writes a file without a sync.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sync returns the error of a file's sync.
func sync(t *testing.T, path string) error {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// attached reports whether a device has a file attached.
func attached(device string) bool {
	_, err := os.Stat(filepath.Join("/sys/block", filepath.Base(device), "loop/backing_file"))
	return err == nil
}

func TestFailWrites(t *testing.T) {
	d := blockdev.New(t, size)
	d.Mkfs(t, "ext4")
	path := filepath.Join(d.Mount(t), "deed")
	write(t, path, text)
	seen := 0
	d.FailWrites(func(_ int64, data []byte) bool {
		if bytes.Contains(data, []byte("deed of trust")) {
			seen++
			return true
		}
		return false
	})
	if err := sync(t, path); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync: got %v, want %v", err, syscall.EIO)
	}
	if seen == 0 {
		t.Error("no write was seen")
	}
	// The kernel marks its pages as written, but the disk doesn't have them.
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text) {
		t.Errorf("in the page cache: got %d bytes, %v, want %d", len(got), err, len(text))
	}
	d.FailWrites(nil)
	write(t, path+"2", text)
	if err := sync(t, path+"2"); err != nil {
		t.Errorf("sync of a sound disk: %v", err)
	}
	d.Unmount(t)
	folder := d.Mount(t)
	if got, err := os.ReadFile(filepath.Join(folder, "deed")); err != nil || bytes.Equal(got, text) {
		t.Errorf("on the disk: got %d bytes, %v, want others than were written", len(got), err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "deed2")); err != nil || !bytes.Equal(got, text) {
		t.Errorf("on the sound disk: got %d bytes, %v, want %d", len(got), err, len(text))
	}
}

// Synced data is present at every later position. Most unsynced data is missing.
func TestReplay(t *testing.T) {
	for _, row := range []struct {
		kind string
		size int64 // the smallest
		step int   // between the moments that are played
	}{{"ext4", size, 3}, {"xfs", 320 << 20, 8}} {
		t.Run(row.kind, func(t *testing.T) {
			d := blockdev.New(t, row.size)
			d.Mkfs(t, row.kind)
			folder := d.Mount(t)
			record := d.Record(t)
			var since []int // by file, the moment of its sync
			for n := range 5 {
				path := filepath.Join(folder, strings.Repeat("x", n+1))
				write(t, path, text)
				if err := errors.Join(sync(t, path), sync(t, folder)); err != nil {
					t.Fatal(err)
				}
				since = append(since, record.Len())
			}
			write(t, filepath.Join(folder, "unsynced"), text)
			record.Stop()
			flushes := record.Flushes()
			if len(flushes) < len(since) || flushes[len(flushes)-1] > record.Len() {
				t.Fatalf("flushes at %v, syncs at %v", flushes, since)
			}
			player := record.Replayer(t)
			rng := rand.New(rand.NewPCG(1, 2))
			missing := 0
			for moment := 0; moment <= record.Len(); moment += row.step {
				state, err := player.Replay(moment, rng)
				if err != nil {
					t.Fatal(err)
				}
				folder := state.Mount(t)
				for n, at := range since {
					got, err := os.ReadFile(filepath.Join(folder, strings.Repeat("x", n+1)))
					if bytes.Equal(got, text) {
						continue
					}
					missing++
					if moment >= at {
						t.Errorf("at %d, file %d synced at %d: %d bytes, %v", moment, n, at, len(got), err)
					}
				}
				state.Unmount(t)
			}
			if missing == 0 {
				t.Error("nothing was ever missing")
			}
		})
	}
}

func TestCopyOmitsUnwrittenData(t *testing.T) {
	d := blockdev.New(t, size)
	d.Mkfs(t, "ext4")
	folder := d.Mount(t)
	write(t, filepath.Join(folder, "synced"), text)
	if err := errors.Join(sync(t, filepath.Join(folder, "synced")), sync(t, folder)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "unsynced"), text)
	after := d.Copy(t).Mount(t)
	if got, err := os.ReadFile(filepath.Join(after, "synced")); err != nil || !bytes.Equal(got, text) {
		t.Errorf("synced: got %d bytes, %v, want %d", len(got), err, len(text))
	}
	if got, err := os.ReadFile(filepath.Join(after, "unsynced")); bytes.Equal(got, text) {
		t.Errorf("unsynced: got %d bytes, %v, want none", len(got), err)
	}
}

// The test cleanup removes mounted and unmounted disks completely.
func TestCleanup(t *testing.T) {
	var device, folder string
	t.Run("disk", func(t *testing.T) {
		d := blockdev.New(t, size)
		d.Mkfs(t, "ext4")
		device, folder = d.Device(), d.Mount(t)
		if !attached(device) {
			t.Errorf("%s is not attached", device)
		}
	})
	if _, err := os.Stat(filepath.Dir(folder)); !os.IsNotExist(err) {
		t.Errorf("%s: got %v, want that it is gone", filepath.Dir(folder), err)
	}
	if attached(device) {
		t.Errorf("%s is attached still", device)
	}
}
