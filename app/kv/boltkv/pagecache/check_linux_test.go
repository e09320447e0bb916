package pagecache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// After Drop, no page of a file that was just written is cached, unless Drop returns
// errNotSupported.
func TestDropFromPageCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1<<20+100), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("open file: %v", err)
	}
	cache, err := newPageCache(file)
	if err != nil {
		t.Fatalf("open page cache: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cache.Close(), file.Close()); err != nil {
			t.Errorf("close page cache: %v", err)
		}
	})
	before, err := cache.(*linuxPageCache).residentExtents()
	if want := int64(1<<20 + os.Getpagesize()); err != nil || len(before) != 1 || before[0] != (extent{0, want}) {
		t.Fatalf("before: got %v, %v, want all %d bytes", before, err, want)
	}
	if err := cache.Sync(); err != nil {
		t.Fatalf("sync file: %v", err)
	}
	cached, err := cache.Drop()
	if errors.Is(err, errNotSupported) { // tmpfs
		t.Log(err)
		return
	}
	if err != nil || len(cached) != 0 {
		t.Errorf("got %v, %v, want nothing cached", cached, err)
	}
	// Reading the end of the file caches it again with the content from the disk.
	if err := compareRange(cache, extent{1 << 20, int64(os.Getpagesize())}, path); err != nil && !errors.Is(err, errNotSupported) {
		t.Errorf("compare the end of the file: %v", err)
	}
	if after, err := cache.(*linuxPageCache).residentExtents(); err != nil || len(after) == 0 || after[0].offset == 0 {
		t.Errorf("after a read of the end: got %v, %v, want only that part", after, err)
	}
}
