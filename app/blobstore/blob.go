// Package blobstore keeps document bytes on disk, each file named by the SHA-256 of
// its content and written once.
//
//	dir/                 0700   blobs/ of the data directory
//	  00/ … ff/          0700   256 shards, made when the store is first opened
//	    ab/ab12…         0400   64 lower-case hex digits: `sha256sum` alone checks a file
//	tmp/                 0700   uploads on their way; emptied by Open
//	  9f3c…              0600   32 random hex digits; no caller's name becomes a path
//	uploads/             0700   documents that arrive in several requests (partial.go)
//
// It promises: what Keep has acknowledged survives a power cut (content synced,
// renamed, directory synced, in that order); a blob that is pinned or referenced
// is never swept; a failed sync is never taken for a success, not even later.
//
// It refuses: names that are no digests, a tmp on another file system (rename
// would not be atomic), and knowing anything about the records that name a blob.
package blobstore

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"deedkeep/app/durable"
)

// Kinds of errors, for errors.Is. Besides these, fs.ErrNotExist means that
// there is no such blob, and context errors come back as they are.
var (
	// ErrTooLarge: the bytes exceed the limit given to Stage; nothing was kept and the reader is at its end.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrSource: the reader handed to Stage failed, not the disk.
	ErrSource = errors.New("reading the source")
	// ErrDiskFull: no space or no quota left on the disk.
	ErrDiskFull = errors.New("disk full")
	// ErrSync: a file or directory could not be synced, and not because it is full; from here on the disk is not to be trusted with writes.
	ErrSync = errors.New("sync failed")
	// ErrDamaged: the bytes under a digest do not have that digest, or cannot be read.
	ErrDamaged = errors.New("damaged")
	// ErrMissing: Check found no blob of that digest.
	ErrMissing = errors.New("missing")
	// ErrFinished: a Staged was used after it had been kept or discarded.
	ErrFinished = errors.New("staged file already kept or discarded")
	// ErrReadOnly: the store was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("blob store is open for reading only")
)

// syncsAtOnce bounds the syncs under way. A journalling file system commits
// what waits together, so many at once cost little more than one.
const syncsAtOnce = 16

// Options are the settings of a Store; the zero value is right for the product.
type Options struct {
	Files    Files        // what changes the disk; nil: the operating system
	Log      *slog.Logger // nil: silent
	Rand     io.Reader    // names of temporary files; nil: crypto/rand
	KeepTmp  bool         // leave what an earlier run left in tmp
	ReadOnly bool         // create nothing, empty nothing; Stage, Keep and Sweep answer ErrReadOnly

	Now             func() time.Time // nil: time.Now
	VerifiedTTL     time.Duration    // how long a blob that was read or written counts as verified; 0: 24 hours
	VerifyOnOpenMax int64            // up to this size, in bytes, OpenVerified verifies before it returns; 0: 1 MB
}

// Store is the blobs of one vault. Its methods may be called from many
// goroutines. It owns nothing that needs closing: each Staged owns its own sync.
type Store struct {
	dir, tmp string
	files    Files
	log      *slog.Logger
	rand     io.Reader
	readOnly bool
	keepTmp  bool
	gate     chan struct{}
	pins     pins
	now      func() time.Time
	trust    time.Duration
	first    int64
	verdicts verdicts

	mu   sync.Mutex
	live map[string]struct{} // temporary files that a Staged, a running Stage or a Claim still owns
}

// Open opens the store in dir, with tmp for files on their way. It makes both
// with the 256 shards where they are absent (0700), syncs their parents, and
// empties tmp: only one process may have a store open. It refuses directories
// that lie inside each other or on two file systems.
func Open(dir, tmp string, opts Options) (*Store, error) {
	s := &Store{
		dir: filepath.Clean(dir), tmp: filepath.Clean(tmp),
		files: opts.Files, log: opts.Log, rand: opts.Rand, readOnly: opts.ReadOnly, keepTmp: opts.KeepTmp,
		now: opts.Now, trust: opts.VerifiedTTL, first: opts.VerifyOnOpenMax,
		gate: make(chan struct{}, syncsAtOnce),
		live: map[string]struct{}{},
	}
	if s.files == nil {
		s.files = OSFiles()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.rand == nil {
		s.rand = rand.Reader
	}
	if within(s.dir, s.tmp) || within(s.tmp, s.dir) {
		return nil, fmt.Errorf("open blob store: %s and %s lie inside each other", s.dir, s.tmp)
	}
	if s.readOnly {
		if _, err := os.Stat(s.dir); err != nil {
			return nil, fmt.Errorf("open blob store: %w", err)
		}
		return s, nil
	}
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("open blob store: %w", mark(err))
	}
	return s, nil
}

func within(inner, outer string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (s *Store) prepare() error {
	for _, dir := range []string{s.dir, s.tmp} {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return err
		}
		if err := s.mkdir(dir); err != nil {
			return err
		}
	}
	for i := range 256 {
		if err := s.mkdir(filepath.Join(s.dir, fmt.Sprintf("%02x", i))); err != nil {
			return err
		}
	}
	// Every time, not only after making something: an earlier start may have
	// been killed between making and syncing.
	parents := []string{s.dir, filepath.Dir(s.dir)}
	if tmpParent := filepath.Dir(s.tmp); tmpParent != parents[1] {
		parents = append(parents, tmpParent)
	}
	for _, dir := range parents {
		if err := s.syncDir(dir); err != nil {
			return err
		}
	}
	// Before anything is removed: a tmp that is elsewhere is not ours.
	if err := s.probe(); err != nil {
		return err
	}
	if !s.keepTmp {
		s.emptyTmp()
	}
	return nil
}

func (s *Store) mkdir(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is no directory", path)
	}
	return s.files.Mkdir(path)
}

// emptyTmp removes what an earlier run left. What cannot be removed is in
// nobody's way, so it is no reason not to start.
func (s *Store) emptyTmp() {
	entries, err := os.ReadDir(s.tmp)
	if err != nil {
		s.log.Warn("temporary files not listed", "error", err)
		return
	}
	count := 0
	for _, e := range entries {
		// What is made there are files; a folder, or a link, is somebody else's.
		if !e.Type().IsRegular() {
			s.log.Warn("not ours in tmp, left alone", "name", e.Name())
			continue
		}
		if err := os.Remove(filepath.Join(s.tmp, e.Name())); err != nil {
			s.log.Warn("temporary file not removed", "error", err)
			continue
		}
		count++
	}
	if count > 0 {
		s.log.Info("temporary files of an earlier run removed", "count", count)
	}
}

// probe renames a file from tmp to dir: the only sure sign of one file system
// (two bind mounts of one device have the same number, and still refuse).
func (s *Store) probe() error {
	from, to := filepath.Join(s.tmp, "probe"), filepath.Join(s.dir, "probe")
	f, err := s.files.Create(from)
	if errors.Is(err, fs.ErrExist) {
		// An earlier start was killed right here.
		if err = s.files.Remove(from); err == nil {
			f, err = s.files.Create(from)
		}
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, s.files.Remove(from))
	}
	if err := s.files.Rename(from, to); err != nil {
		return errors.Join(fmt.Errorf("%s and %s must be on one file system: %w", s.tmp, s.dir, err), s.files.Remove(from))
	}
	return s.files.Remove(to)
}

func (s *Store) shard(d Digest) string { return filepath.Join(s.dir, d.String()[:2]) }

func (s *Store) path(d Digest) string { return filepath.Join(s.shard(d), d.String()) }

// create makes an empty temporary file under a random name.
func (s *Store) create() (File, string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.rand, b[:]); err != nil {
		return nil, "", fmt.Errorf("name a temporary file: %w", err)
	}
	path := filepath.Join(s.tmp, hex.EncodeToString(b[:]))
	// Before it is there, so that nobody ever sees it without its owner.
	s.mu.Lock()
	s.live[path] = struct{}{}
	s.mu.Unlock()
	f, err := s.files.Create(path)
	if err != nil {
		s.forget(path)
		return nil, "", mark(err)
	}
	return f, path, nil
}

// forget tells that the temporary file has gone, or that nobody owns it any more.
func (s *Store) forget(path string) {
	s.mu.Lock()
	delete(s.live, path)
	s.mu.Unlock()
}

// abandon closes and removes a temporary file that came to nothing.
func (s *Store) abandon(f File, path string) error {
	return errors.Join(f.Close(), s.unlink(path))
}

func (s *Store) unlink(path string) error {
	defer s.forget(path)
	if err := s.files.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) syncDir(dir string) error {
	err := s.files.SyncDir(dir)
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Op == "open" {
		return mark(err) // nothing was synced, so no sync failed
	}
	if err != nil {
		return syncError(err)
	}
	return nil
}

// syncError tells a disk that is full, and sound, from one that fails.
func syncError(err error) error {
	if durable.IsDiskFull(err) {
		return mark(err)
	}
	return fmt.Errorf("%w: %w", ErrSync, err)
}

// mark adds ErrDiskFull to an error of the operating system that means it.
func mark(err error) error {
	if err != nil && durable.IsDiskFull(err) && !errors.Is(err, ErrDiskFull) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return err
}
