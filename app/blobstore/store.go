// Package blobstore stores document bytes on disk. Each blob is a file that is named
// after the SHA-256 of its content and is written only once. The package also stores
// partial uploads, and page images and texts derived from documents (Previews).
//
//	dir/                 0700   blobs/ of the data directory
//	  00/ … ff/          0700   256 shards, created when the store is first opened
//	    ab/ab12…         0400   64 lower-case hex digits, so `sha256sum` can check a file
//	tmp/                 0700   staged files; emptied by Open
//	  9f3c…              0600   32 random hex digits; names from clients are never used
//	uploads/             0700   partial uploads (partial.go)
//
// Guarantees: After Commit returns nil, the blobs survive a power failure, because the
// content is synced, the file is renamed, and the directory is synced, in that order. A
// pinned or referenced blob is never swept. A failed sync is never treated as a success,
// even if a later sync succeeds.
//
// Open rejects a tmp directory on another file system, because moving a file between file
// systems is not atomic. The package doesn't know the records that reference a blob.
package blobstore

import (
	"context"
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

// Errors to test for with errors.Is. Methods also return fs.ErrNotExist for a missing
// blob, and context errors.
var (
	// ErrTooLarge means that the input exceeds the limit given to Stage. Nothing is stored,
	// and the reader is at its end.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrSource means that the reader given to Stage failed, not the disk.
	ErrSource = errors.New("read source")
	// ErrDiskFull means that the disk is full or a quota is used up.
	ErrDiskFull = errors.New("disk full")
	// ErrSync means that a sync failed for a reason other than a full disk. Later writes to
	// this disk can't be trusted.
	ErrSync = errors.New("sync failed")
	// ErrDamaged means that a blob can't be read, or that its content doesn't match its
	// digest.
	ErrDamaged = errors.New("damaged")
	// ErrMissing means that there is no blob with the digest.
	ErrMissing = errors.New("missing")
	// ErrFinished means that Commit or Discard was already called for this Staged.
	ErrFinished = errors.New("staged file was already committed or discarded")
	// ErrReadOnly means that the store was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("blob store is open in read-only mode")
)

// maxSyncs is the maximum number of concurrent syncs. A journaling file system commits
// them together, so concurrent syncs cost little more than one.
const maxSyncs = 16

// Options are the settings of a Store. The zero value selects the defaults.
type Options struct {
	Files    Files        // disk operations; nil: OSFiles
	Log      *slog.Logger // nil: no log
	Rand     io.Reader    // for names of temporary files; nil: crypto/rand.Reader
	KeepTmp  bool         // don't remove temporary files left by an earlier run
	ReadOnly bool         // write nothing; Stage, Commit, and Sweep return ErrReadOnly

	Now             func() time.Time // nil: time.Now
	VerifiedTTL     time.Duration    // how long a blob that was read or written counts as verified; 0: 24 hours
	VerifyOnOpenMax int64            // OpenVerified verifies blobs of up to this many bytes before it returns; 0: 1 MB
}

// Store holds the blobs of one data directory. It is safe for concurrent use. It doesn't
// need to be closed, because each Staged manages its own sync.
type Store struct {
	dir, tmp        string
	files           Files
	log             *slog.Logger
	rand            io.Reader
	readOnly        bool
	keepTmp         bool
	syncSlots       chan struct{}
	pins            pins
	now             func() time.Time
	verifiedTTL     time.Duration
	verifyOnOpenMax int64
	verifications   verifyCache

	mu       sync.Mutex
	ownedTmp map[string]struct{} // temporary files in use by Stage, a Staged, or ReserveTmp
}

// Open opens the store in dir, with staged files in tmp. If needed, it creates both
// directories and the 256 shards with mode 0700 and syncs their parents. It also empties
// tmp, so only one process may have a store open. It returns an error if one directory is
// inside the other, or if they are on different file systems.
func Open(dir, tmp string, opts Options) (*Store, error) {
	s := &Store{
		dir: filepath.Clean(dir), tmp: filepath.Clean(tmp),
		files: opts.Files, log: opts.Log, rand: opts.Rand, readOnly: opts.ReadOnly, keepTmp: opts.KeepTmp,
		now: opts.Now, verifiedTTL: opts.VerifiedTTL, verifyOnOpenMax: opts.VerifyOnOpenMax,
		syncSlots: make(chan struct{}, maxSyncs),
		ownedTmp:  map[string]struct{}{},
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
	if isInside(s.dir, s.tmp) || isInside(s.tmp, s.dir) {
		return nil, fmt.Errorf("open blob store: %s and %s must not contain each other", s.dir, s.tmp)
	}
	if s.readOnly {
		if _, err := os.Stat(s.dir); err != nil {
			return nil, fmt.Errorf("open blob store: %w", err)
		}
		return s, nil
	}
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("open blob store: %w", markDiskFull(err))
	}
	return s, nil
}

// isInside reports whether inner is equal to outer or is a path below it.
func isInside(inner, outer string) bool {
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
	// Always sync. An earlier process may have been killed between creating a directory and
	// syncing it.
	dirs := []string{s.dir, filepath.Dir(s.dir)}
	if tmpParent := filepath.Dir(s.tmp); tmpParent != dirs[1] {
		dirs = append(dirs, tmpParent)
	}
	for _, dir := range dirs {
		if err := s.syncDir(dir); err != nil {
			return err
		}
	}
	// Probe before removing anything. If tmp is on another file system, it may be the wrong
	// directory.
	if err := s.probe(); err != nil {
		return err
	}
	if !s.keepTmp {
		s.removeOldTmp()
	}
	return nil
}

func (s *Store) mkdir(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory", path)
	}
	return s.files.Mkdir(path)
}

// removeOldTmp removes temporary files left by an earlier run. It only logs errors.
func (s *Store) removeOldTmp() {
	count, err := s.ClearTmp(context.Background())
	if err != nil {
		s.log.Warn("temporary file not removed", "error", err)
	}
	if count > 0 {
		s.log.Info("removed temporary files from an earlier run", "count", count)
	}
}

// probe checks that tmp and dir are on one file system by renaming a file between them.
// Nothing else proves that: two bind mounts of one device have the same device number,
// but renames between them fail.
func (s *Store) probe() error {
	from, to := filepath.Join(s.tmp, "probe"), filepath.Join(s.dir, "probe")
	f, err := s.files.Create(from)
	if errors.Is(err, fs.ErrExist) {
		// An earlier process was killed between the create and the rename.
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
		return errors.Join(fmt.Errorf("%s and %s must be on the same file system: %w", s.tmp, s.dir, err), s.files.Remove(from))
	}
	return s.files.Remove(to)
}

func (s *Store) shard(d Digest) string { return filepath.Join(s.dir, d.String()[:2]) }

func (s *Store) path(d Digest) string { return filepath.Join(s.shard(d), d.String()) }

// newTmp returns a random path for a temporary file, which has an owner until disown is
// called. It has one before it exists, so that ClearTmp never removes a file in use.
func (s *Store) newTmp() (path string, err error) {
	var b [16]byte
	if _, err := io.ReadFull(s.rand, b[:]); err != nil {
		return "", fmt.Errorf("generate temporary file name: %w", err)
	}
	path = filepath.Join(s.tmp, hex.EncodeToString(b[:]))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ownedTmp[path] = struct{}{}
	return path, nil
}

// create creates an empty temporary file with a random name.
func (s *Store) create() (File, string, error) {
	path, err := s.newTmp()
	if err != nil {
		return nil, "", err
	}
	f, err := s.files.Create(path)
	if err != nil {
		s.disown(path)
		return nil, "", markDiskFull(err)
	}
	return f, path, nil
}

// disown records that a temporary file no longer has an owner.
func (s *Store) disown(path string) {
	s.mu.Lock()
	delete(s.ownedTmp, path)
	s.mu.Unlock()
}

// closeAndRemove closes and removes a temporary file.
func (s *Store) closeAndRemove(f File, path string) error {
	return errors.Join(f.Close(), s.removeTmp(path))
}

func (s *Store) removeTmp(path string) error {
	defer s.disown(path)
	if err := s.files.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) syncDir(dir string) error {
	err := s.files.SyncDir(dir)
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Op == "open" {
		return markDiskFull(err) // no sync was attempted
	}
	if err != nil {
		return syncError(err)
	}
	return nil
}

// syncError converts an error from a sync. It returns ErrDiskFull if the disk is full,
// and ErrSync otherwise.
func syncError(err error) error {
	if durable.IsDiskFull(err) {
		return markDiskFull(err)
	}
	return fmt.Errorf("%w: %w", ErrSync, err)
}

// markDiskFull wraps err with ErrDiskFull if it is an operating system error for a full
// disk.
func markDiskFull(err error) error {
	if err != nil && durable.IsDiskFull(err) && !errors.Is(err, ErrDiskFull) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return err
}
