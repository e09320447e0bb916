package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
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
// If the check isn't possible, Open continues and sets CacheCheck.SkipReason. On those
// systems, restart the machine after a disk error to clear the page cache.

// CacheCheck is the result of comparing vault.db in the page cache with the disk.
type CacheCheck struct {
	Clean      bool          // the last session closed cleanly or the file is new, so nothing was compared
	SkipReason string        // why the comparison wasn't possible; "" if it was
	LostWrites error         // error from syncing data that the previous session left in the cache; that data was dropped
	WriteError error         // error from the test write; if set, the store is read-only
	Elapsed    time.Duration // duration of the check
}

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
func checkPageCache(file pageCache, name string) (r CacheCheck, err error) {
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
	valid, err := readValidMetas(file)
	if err != nil {
		return r, unreadableError(name, err)
	}
	newest := newestMeta(valid)
	if len(valid) > 0 {
		cached = append(cached, extent{0, 2 * newest.pageSize})
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
		r.WriteError = testWrite(file, inactiveMetaOffset(valid), newest.pageSize)
	}
	return r, nil
}

// inactiveMetaOffset returns the offset of the meta page that is not the current one, even
// if that page is invalid.
func inactiveMetaOffset(valid []metaPage) (offset int64) {
	if newest := newestMeta(valid); newest.offset == 0 {
		return newest.pageSize
	}
	return 0
}

// compareRange returns an error if a range of the file differs between the page cache and
// the disk.
func compareRange(file pageCache, s extent, name string) error {
	disk, memory := make([]byte, min(s.size, compareChunk)), make([]byte, min(s.size, compareChunk))
	for offset := s.offset; offset < s.offset+s.size; offset += int64(len(disk)) {
		n, err := readFull(file.ReadDisk, disk, offset)
		if errors.Is(err, errNotSupported) {
			return err
		}
		if err != nil {
			return unreadableError(name, err)
		}
		m, err := readFull(file.ReadAt, memory, offset)
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

// readFull calls read and treats the end of the file as success.
func readFull(read func([]byte, int64) (int, error), p []byte, at int64) (n int, err error) {
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
		if isDiskFull(err) {
			return nil
		}
		return err
	}
	return file.Sync()
}

// fileOpener opens the database file for bbolt. Before bbolt reads the file, fileOpener
// locks it and compares the page cache with the disk.
type fileOpener struct {
	isNew       bool // the file was just created and synced
	lockTimeout time.Duration
	file        *os.File
	cacheCheck  CacheCheck
}

func (o *fileOpener) open(path string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	if o.cacheCheck, err = o.lockAndCheck(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	o.file = file
	return file, nil
}

// lockAndCheck locks the file and runs the page cache check unless the last session closed
// cleanly.
func (o *fileOpener) lockAndCheck(file *os.File) (CacheCheck, error) {
	// Lock the file first, because another process may be writing to it.
	if err := lockFile(file, o.lockTimeout); err != nil {
		return CacheCheck{}, err
	}
	if o.isNew || endedCleanly(file) {
		return CacheCheck{Clean: true}, nil
	}
	cache, err := newPageCache(file)
	if err != nil {
		return CacheCheck{}, err
	}
	r, err := checkPageCache(cache, file.Name())
	return r, errors.Join(err, cache.Close())
}

// cleanMarkSuffix is appended to the database's file name to form the name of the clean
// mark. This file says that every commit of the last session was synced and none failed.
// Close writes and syncs it. The first commit of a session removes it before writing, so it
// never exists after a crash or a failed sync. The mark identifies the database state it
// belongs to, so it isn't valid for a different vault.db.
//
//	vault.db.clean    transaction ID and checksum of the current meta page, in hex
const cleanMarkSuffix = ".clean"

// endedCleanly reports whether the clean mark matches the current state of the file. It
// reads only the meta pages of the database. It returns false if it can't read them.
func endedCleanly(file *os.File) bool {
	text, err := os.ReadFile(file.Name() + cleanMarkSuffix)
	if err != nil {
		return false
	}
	want, err := cleanMarkText(file)
	return err == nil && string(text) == want
}

// cleanMarkText returns the content that a clean mark must have for the current state of
// the file.
func cleanMarkText(file *os.File) (string, error) {
	valid, err := readValidMetas(file)
	if err == nil && len(valid) == 0 {
		err = errBrokenPages
	}
	newest := newestMeta(valid)
	return fmt.Sprintf("%016x %016x\n", newest.transaction, newest.checksum), err
}

// removeCleanMark removes the clean mark before the first write of a session. The caller
// must hold s.writeMu.
func (s *Store) removeCleanMark() error {
	if s.cleanMarkRemoved {
		return nil
	}
	err := removeDurably(s.db.Path() + cleanMarkSuffix)
	s.cleanMarkRemoved = err == nil
	if errors.Is(err, errSyncFailed) {
		s.Fail(err)
	}
	return err
}

// updateCleanMark writes the clean mark after the last commit if no commit of the session
// failed. Errors are ignored, because without a mark the next Open just checks the file.
func (s *Store) updateCleanMark() {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.cleanMarkWritten || s.file == nil {
		return
	}
	s.cleanMarkWritten = true
	path := s.file.Name() + cleanMarkSuffix
	var err error
	switch {
	case s.Failure() != nil:
		err = s.Failure()
	case s.cleanMarkRemoved || s.isNew || !s.cacheCheck.Clean:
		err = s.writeCleanMark(path)
	}
	if err != nil {
		_ = os.Remove(path) // if this fails, the truncated or outdated mark is still invalid
	}
}

// writeCleanMark syncs the database and writes the clean mark.
func (s *Store) writeCleanMark(path string) error {
	// Sync also reports errors of earlier background writes.
	if err := s.db.Sync(); err != nil {
		return err
	}
	state, err := cleanMarkText(s.file)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(state)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}
