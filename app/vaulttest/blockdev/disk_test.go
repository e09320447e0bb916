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

// write writes a file but doesn't sync it.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("write %s: %v", path, err)
	}
}

// sync syncs a file or directory.
func sync(t *testing.T, path string) error {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatalf("open %s: %v", path, err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// attached reports whether a loop device has a backing file.
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
		t.Error("writes that FailWrites saw: got 0, want at least 1")
	}
	// The kernel marks its pages as written, but the disk doesn't have them.
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text) {
		t.Errorf("in the page cache: got %d bytes, %v, want %d", len(got), err, len(text))
	}
	d.FailWrites(nil)
	write(t, path+"2", text)
	if err := sync(t, path+"2"); err != nil {
		t.Errorf("sync of a healthy disk: %v", err)
	}
	d.Unmount(t)
	folder := d.Mount(t)
	if got, err := os.ReadFile(filepath.Join(folder, "deed")); err != nil || bytes.Equal(got, text) {
		t.Errorf("on the disk: got %d bytes, %v, want other content than was written", len(got), err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "deed2")); err != nil || !bytes.Equal(got, text) {
		t.Errorf("on the healthy disk: got %d bytes, %v, want %d", len(got), err, len(text))
	}
}

// At every position after a sync, the synced data is present. At some positions, unsynced data is missing.
func TestReplay(t *testing.T) {
	for _, row := range []struct {
		kind string
		size int64 // minimum size for the file system
		step int   // distance between replayed positions
	}{{"ext4", size, 3}, {"xfs", 320 << 20, 8}} {
		t.Run(row.kind, func(t *testing.T) {
			d := blockdev.New(t, row.size)
			d.Mkfs(t, row.kind)
			folder := d.Mount(t)
			record := d.Record(t)
			var syncs []int // for each file, the position after its sync
			for n := range 5 {
				path := filepath.Join(folder, strings.Repeat("x", n+1))
				write(t, path, text)
				if err := errors.Join(sync(t, path), sync(t, folder)); err != nil {
					t.Fatalf("sync %s: %v", path, err)
				}
				syncs = append(syncs, record.Len())
			}
			write(t, filepath.Join(folder, "unsynced"), text)
			record.Stop()
			flushes := record.Flushes()
			if len(flushes) < len(syncs) || flushes[len(flushes)-1] > record.Len() {
				t.Fatalf("got flushes at %v, want one before each sync of %v", flushes, syncs)
			}
			replayer := record.Replayer(t)
			rng := rand.New(rand.NewPCG(1, 2))
			missing := 0
			for position := 0; position <= record.Len(); position += row.step {
				state, err := replayer.Replay(position, rng)
				if err != nil {
					t.Fatalf("replay %d: %v", position, err)
				}
				folder := state.Mount(t)
				for n, at := range syncs {
					got, err := os.ReadFile(filepath.Join(folder, strings.Repeat("x", n+1)))
					if bytes.Equal(got, text) {
						continue
					}
					missing++
					if position >= at {
						t.Errorf("position %d, file %d synced at %d: got %d bytes, %v, want %d", position, n, at, len(got), err, len(text))
					}
				}
				state.Unmount(t)
			}
			if missing == 0 {
				t.Error("missing files at all positions: got 0, want at least 1")
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
		t.Fatalf("sync: %v", err)
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

// The cleanup of a test must unmount its disks and remove their files and devices.
func TestCleanup(t *testing.T) {
	var device, folder string
	t.Run("disk", func(t *testing.T) {
		d := blockdev.New(t, size)
		d.Mkfs(t, "ext4")
		device, folder = d.Device(), d.Mount(t)
		if !attached(device) {
			t.Errorf("backing file of %s: got none, want one", device)
		}
	})
	if _, err := os.Stat(filepath.Dir(folder)); !os.IsNotExist(err) {
		t.Errorf("%s: got %v, want that it does not exist", filepath.Dir(folder), err)
	}
	if attached(device) {
		t.Errorf("backing file of %s after the cleanup: got one, want none", device)
	}
}
