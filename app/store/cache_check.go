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

// After a failed write, Linux marks the page in memory as written: the page cache
// then has a commit that the disk never got. A process that builds on it overwrites
// pages that the disk's newest meta page still uses, and the next power cut destroys
// the database. So after every session that did not end cleanly (clean.go), Open has
// vault.db written out, drops it from memory, and reads it from the disk again:
//
//	Linux    posix_fadvise drops the pages and mincore shows what stayed. O_DIRECT reads
//	         the disk past the cache, to compare the meta pages and all that stayed.
//	macOS    nothing drops the pages of one file: F_NOCACHE still reads what is in
//	         memory. Syncs use F_FULLFSYNC, so that a commit waits for the disk itself.
//	Windows  FILE_FLAG_NO_BUFFERING reads past the cache only while no other handle or
//	         mapping uses the file, and nothing shows what stayed.
//
// Where the check isn't possible, Open continues and Reread.Unsure says why: after a
// disk error, a restart of the machine is what empties its memory there.

// CacheCheck is what Open found out about vault.db in memory and on the disk.
type CacheCheck struct {
	Clean      bool          // the last session ended cleanly, or the file is new: nothing to do
	SkipReason string        // why memory could not be compared with the disk; "" when it was
	LostWrites error         // of writing out what the session before left in memory; it was dropped
	WriteError error         // of a synced write: the store takes no writes
	Elapsed    time.Duration // all of it
}

// extent is a part of a file.
type extent struct{ offset, size int64 }

// pageCache is one file as memory and as the disk have it.
type pageCache interface {
	ReadAt(p []byte, at int64) (int, error) // from memory, where it is there
	WriteAt(p []byte, at int64) (int, error)
	Sync() error
	// Drop removes the file from memory, and gives what stayed there all the same.
	Drop() (stayed []extent, err error)
	// ReadDisk reads past the memory, at most compareChunk bytes, in whole pages.
	ReadDisk(p []byte, at int64) (int, error)
	Close() error
}

// errNotSupported is in the chain of an error of Drop and ReadDisk where the system or the
// file system has no such thing.
var errNotSupported = errors.New("not supported here")

// compareChunk is how many bytes are read for one comparison.
const compareChunk = 1 << 20

// checkPageCache makes sure that memory and disk have the same vault.db. It returns an error
// when they don't, or when the disk can't be read.
func checkPageCache(file pageCache, name string) (r CacheCheck, err error) {
	begun := time.Now()
	defer func() { r.Elapsed = time.Since(begun) }()
	// What can't be written is dropped with the rest. It was never acknowledged.
	r.LostWrites = file.Sync()
	stayed, err := file.Drop()
	if errors.Is(err, errNotSupported) {
		r.SkipReason = err.Error()
		return r, nil
	}
	if err != nil {
		return r, err
	}
	sound, err := readValidMetas(file)
	if err != nil {
		return r, unreadableError(name, err)
	}
	newest := newestMeta(sound)
	if len(sound) > 0 {
		stayed = append(stayed, extent{0, 2 * newest.pageSize})
	}
	for _, s := range stayed {
		err := compareRange(file, s, name)
		if errors.Is(err, errNotSupported) {
			r.SkipReason = err.Error()
			break
		}
		if err != nil {
			return r, err
		}
	}
	if len(sound) > 0 {
		r.WriteError = testWrite(file, inactiveMetaOffset(sound), newest.pageSize)
	}
	return r, nil
}

// inactiveMetaOffset is the place of the meta page that is not in force, sound or not.
func inactiveMetaOffset(sound []metaPage) (at int64) {
	if newest := newestMeta(sound); newest.offset == 0 {
		return newest.pageSize
	}
	return 0
}

// compareRange holds a part of the file in memory against the disk.
func compareRange(file pageCache, s extent, name string) error {
	disk, memory := make([]byte, min(s.size, compareChunk)), make([]byte, min(s.size, compareChunk))
	for at := s.offset; at < s.offset+s.size; at += int64(len(disk)) {
		n, err := readFull(file.ReadDisk, disk, at)
		if errors.Is(err, errNotSupported) {
			return err
		}
		if err != nil {
			return unreadableError(name, err)
		}
		m, err := readFull(file.ReadAt, memory, at)
		if err != nil {
			return unreadableError(name, err)
		}
		if n = min(n, m); !bytes.Equal(disk[:n], memory[:n]) {
			return &errs.Error{Message: fmt.Sprintf("%s differs between the memory of this machine and its disk, near byte %d. "+
				"Check the disk, then restart the machine; if the message returns, restore a backup to another disk.", name, at)}
		}
	}
	return nil
}

func unreadableError(name string, err error) error {
	return &errs.Error{Message: fmt.Sprintf("%s can't be read from the disk (%v). Check the disk; if it failed, restore a backup to another one.", name, err), Err: err}
}

// readFull reads up to the end of the file.
func readFull(read func([]byte, int64) (int, error), p []byte, at int64) (n int, err error) {
	if n, err = read(p, at); errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}

// testWrite writes the meta page that is not in force with the bytes it has, and syncs.
// A full disk is no failure.
func testWrite(file pageCache, at, size int64) error {
	page := make([]byte, size)
	if _, err := file.ReadAt(page, at); errors.Is(err, io.EOF) {
		return nil // bbolt refuses a file that is cut so short
	} else if err != nil {
		return err
	}
	if _, err := file.WriteAt(page, at); err != nil {
		if isDiskFull(err) {
			return nil
		}
		return err
	}
	return file.Sync()
}

// fileOpener is how bbolt gets its file: locked, and the same in memory and on the disk.
type fileOpener struct {
	isNew       bool // made a moment ago, and synced
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

func (o *fileOpener) lockAndCheck(file *os.File) (CacheCheck, error) {
	// Before anything is judged: another process may be writing.
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

// cleanMarkSuffix follows the name of a database whose last session ended cleanly: every
// commit was synced, and none failed. Close leaves it, synced, and the first commit of
// a session removes it before it writes, so that no crash and no failed sync has one.
// It names the state it stands for, so it means nothing beside another vault.db.
//
//	vault.db.clean    transaction and checksum of the meta page in force, in hex
const cleanMarkSuffix = ".clean"

// endedCleanly reports whether the mark is that of the file's present state. It reads
// the meta pages alone. What can't be read is not clean.
func endedCleanly(file *os.File) bool {
	text, err := os.ReadFile(file.Name() + cleanMarkSuffix)
	if err != nil {
		return false
	}
	want, err := cleanMarkText(file)
	return err == nil && string(text) == want
}

func cleanMarkText(file *os.File) (string, error) {
	sound, err := readValidMetas(file)
	if err == nil && len(sound) == 0 {
		err = errBrokenPages
	}
	newest := newestMeta(sound)
	return fmt.Sprintf("%016x %016x\n", newest.transaction, newest.checksum), err
}

// removeCleanMark comes before the first write of a session.
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

// updateCleanMark is for Close, after the last commit. A mark that can't be written costs
// the next start a check of the file, nothing more, so that is no error.
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
		_ = os.Remove(path) // one that stays, cut short or of a state before, means nothing
	}
}

func (s *Store) writeCleanMark(path string) error {
	// It gives errors of writing in the background, too.
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
