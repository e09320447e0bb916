// Package pagecache compares vault.db in the page cache of the operating system with the disk. It
// also reads the meta pages of the file and manages its clean mark.
package pagecache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/kv"
)

// If a write fails, Linux still marks the cached page as clean, so the page cache contains
// a commit that never reached the disk. A process that continues from that state overwrites
// pages that the newest meta page on disk still uses. The next power failure then destroys
// the database. So if the last session didn't close cleanly, Open syncs vault.db, drops it
// from the page cache, and reads it from the disk again:
//
//	Linux    posix_fadvise drops the pages, and mincore shows which ones remained. O_DIRECT
//	         bypasses the cache to compare the meta pages and all remaining pages.
//	macOS    Nothing drops the pages of a single file, and F_NOCACHE still returns cached
//	         data. Syncs use F_FULLFSYNC, so a commit waits for the disk itself.
//	Windows  FILE_FLAG_NO_BUFFERING bypasses the cache only while no other handle or
//	         mapping uses the file, and nothing shows which pages are cached.
//
// If the check isn't possible, Open continues and sets SkipReason of the result. On those
// systems, restart the machine after a disk error to clear the page cache.

// extent is a range of bytes in a file.
type extent struct{ offset, size int64 }

// pageCache reads one file through the page cache and directly from the disk.
type pageCache interface {
	ReadAt(p []byte, at int64) (int, error) // reads from the page cache if the data is cached
	WriteAt(p []byte, at int64) (int, error)
	Sync() error
	// Drop removes the file from the page cache and returns the ranges that are still
	// cached.
	Drop() (remaining []extent, err error)
	// ReadDisk reads from the disk without using the page cache. It reads only complete
	// pages, at most compareChunk bytes.
	ReadDisk(p []byte, at int64) (int, error)
	Close() error
}

// errNotSupported is wrapped by the errors of Drop and ReadDisk if the operating system or
// the file system doesn't support the operation.
var errNotSupported = errors.New("not supported on this system")

// compareChunk is the number of bytes that are compared at a time.
const compareChunk = 1 << 20

// checkPageCache verifies that the page cache and the disk contain the same database. It
// returns an error if they differ or if the disk can't be read.
func checkPageCache(file pageCache, name string) (r kv.OpenState, err error) {
	start := time.Now()
	defer func() { r.Elapsed = time.Since(start) }()
	// If the sync fails, the unwritten data is dropped along with the rest of the cache. No
	// successful commit depends on it.
	r.LostWrites = file.Sync()
	cached, err := file.Drop()
	if errors.Is(err, errNotSupported) {
		r.SkipReason = err.Error()
		return r, nil
	}
	if err != nil {
		return r, err
	}
	valid, err := ReadMetas(file)
	if err != nil {
		return r, unreadableError(name, err)
	}
	newest := NewestMeta(valid)
	if len(valid) > 0 {
		cached = append(cached, extent{0, 2 * newest.PageSize})
	}
	for _, s := range cached {
		err := compareRange(file, s, name)
		if errors.Is(err, errNotSupported) {
			r.SkipReason = err.Error()
			break
		}
		if err != nil {
			return r, err
		}
	}
	if len(valid) > 0 {
		r.WriteError = testWrite(file, inactiveMetaOffset(valid), newest.PageSize)
	}
	return r, nil
}

// inactiveMetaOffset returns the offset of the meta page that is not the current one, even
// if that page is invalid.
func inactiveMetaOffset(valid []Meta) (offset int64) {
	if newest := NewestMeta(valid); newest.Offset == 0 {
		return newest.PageSize
	}
	return 0
}

// compareRange returns an error if a range of the file differs between the page cache and
// the disk.
func compareRange(file pageCache, s extent, name string) error {
	disk, memory := make([]byte, min(s.size, compareChunk)), make([]byte, min(s.size, compareChunk))
	for offset := s.offset; offset < s.offset+s.size; offset += int64(len(disk)) {
		n, err := ReadFull(file.ReadDisk, disk, offset)
		if errors.Is(err, errNotSupported) {
			return err
		}
		if err != nil {
			return unreadableError(name, err)
		}
		m, err := ReadFull(file.ReadAt, memory, offset)
		if err != nil {
			return unreadableError(name, err)
		}
		if n = min(n, m); !bytes.Equal(disk[:n], memory[:n]) {
			return &errs.Error{Message: fmt.Sprintf("The content of %s in memory differs from the disk near byte %d. "+
				"Check the disk, then restart the machine. If this message appears again, restore a backup to another disk.", name, offset)}
		}
	}
	return nil
}

// unreadableError returns the error for a database that can't be read from the disk.
func unreadableError(name string, err error) error {
	return &errs.Error{Message: fmt.Sprintf(
		"%s can't be read from the disk (%v). Check the disk. If it failed, restore a backup to another disk.", name, err), Err: err}
}

// ReadFull calls read and treats the end of the file as success.
func ReadFull(read func([]byte, int64) (int, error), p []byte, at int64) (n int, err error) {
	if n, err = read(p, at); errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}

// testWrite rewrites the inactive meta page at the given offset with its existing content
// and syncs the file. A full disk is not an error.
func testWrite(file pageCache, offset, size int64) error {
	page := make([]byte, size)
	if _, err := file.ReadAt(page, offset); errors.Is(err, io.EOF) {
		return nil // too short for a database; bbolt rejects it
	} else if err != nil {
		return err
	}
	if _, err := file.WriteAt(page, offset); err != nil {
		if durable.IsFullWrite(err) {
			return nil
		}
		return err
	}
	return file.Sync()
}

// Compare verifies that the page cache and the disk contain the same database. It returns an error
// if they differ or if the disk can't be read.
func Compare(file *os.File) (kv.OpenState, error) {
	cache, err := newPageCache(file)
	if err != nil {
		return kv.OpenState{}, err
	}
	r, err := checkPageCache(cache, file.Name())
	return r, errors.Join(err, cache.Close())
}
