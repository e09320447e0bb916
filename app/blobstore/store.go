// Package blobstore stores document bytes on disk. Each blob is a file named by the
// SHA-256 of its content and is written once. The package also stores partial uploads,
// and page images and texts made from documents (Previews).
//
//	dir/                 0700   blobs/ of the data directory
//	  00/ … ff/          0700   256 shards, created when the store is first opened
//	    ab/ab12…         0400   64 lower-case hex digits, so `sha256sum` can check a file
//	tmp/                 0700   staged files; emptied by Open
//	  9f3c…              0600   32 random hex digits; names from clients are never used
//	uploads/             0700   partial uploads (partial.go)
//
// Guarantees: blobs that Commit has acknowledged survive a power failure (content synced,
// file renamed, directory synced, in that order). A pinned or referenced blob is never
// swept. A failed sync is never treated as a success, not even if a later sync succeeds.
//
// Open rejects a tmp on another file system, where rename is not atomic. The package
// knows nothing of the records that reference a blob.
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

// Errors for errors.Is. Methods also return fs.ErrNotExist for a missing blob, and the
// errors of the context.
var (
	// ErrTooLarge means that there are more bytes than the limit given to Stage. Nothing is stored,
	// and the reader is at its end.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrSource means that the reader given to Stage failed, not the disk.
	ErrSource = errors.New("reading the source")
	// ErrDiskFull means that the disk is full or a quota is used up.
	ErrDiskFull = errors.New("disk full")
	// ErrSync means that a sync failed, and not because the disk is full. No later write to this
	// disk can be trusted.
	ErrSync = errors.New("sync failed")
	// ErrDamaged means that the content doesn't have the digest in the name of the blob, or can't
	// be read.
	ErrDamaged = errors.New("damaged")
	// ErrMissing means that there is no blob with that digest.
	ErrMissing = errors.New("missing")
	// ErrFinished means that Commit or Discard was called before on this Staged.
	ErrFinished = errors.New("staged file already kept or discarded")
	// ErrReadOnly means that the store was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("blob store is open for reading only")
)

// maxSyncs bounds concurrent syncs. A journaling file system commits them together, so
// concurrent syncs cost little more than one.
const maxSyncs = 16

// Options are the settings of a Store. The zero value is the default.
type Options struct {
	Files    Files        // disk operations; nil: OSFiles
	Log      *slog.Logger // nil: no log
	Rand     io.Reader    // for names of temporary files; nil: crypto/rand.Reader
	KeepTmp  bool         // don't remove temporary files of an earlier run
	ReadOnly bool         // write nothing; Stage, Commit, and Sweep return ErrReadOnly

	Now             func() time.Time // nil: time.Now
	VerifiedTTL     time.Duration    // how long a blob that was read or written counts as verified; 0: 24 hours
	VerifyOnOpenMax int64            // up to this size, in bytes, OpenVerified verifies before it returns; 0: 1 MB
}

// Store holds the blobs of one data directory. It is safe for concurrent use and needs no
// closing: each Staged owns its sync.
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

// Open opens the store in dir, with staged files in tmp. It creates both directories and
// the 256 shards with mode 0700 if needed, syncs their parents, and empties tmp, so only
// one process may have a store open. It returns an error if one directory is inside the
// other, or if they are on different file systems.
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
		return nil, fmt.Errorf("open blob store: %s and %s lie inside each other", s.dir, s.tmp)
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

// isInside reports whether inner is outer or a path below it.
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
	// Always sync: an earlier start can have been killed after it created a directory and
	// before it synced it.
	dirs := []string{s.dir, filepath.Dir(s.dir)}
	if tmpParent := filepath.Dir(s.tmp); tmpParent != dirs[1] {
		dirs = append(dirs, tmpParent)
	}
	for _, dir := range dirs {
		if err := s.syncDir(dir); err != nil {
			return err
		}
	}
	// Probe before anything is removed: a tmp on another file system is a wrong setting.
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
		return fmt.Errorf("%s is no directory", path)
	}
	return s.files.Mkdir(path)
}

// removeOldTmp removes temporary files of an earlier run. A file that can't be removed is
// only logged.
func (s *Store) removeOldTmp() {
	entries, err := os.ReadDir(s.tmp)
	if err != nil {
		s.log.Warn("temporary files not listed", "error", err)
		return
	}
	count := 0
	for _, e := range entries {
		// The store creates only regular files in tmp.
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

// probe renames a file from tmp to dir. Only that proves that both are on one file
// system: two bind mounts of one device have the same device number, but rename fails
// between them.
func (s *Store) probe() error {
	from, to := filepath.Join(s.tmp, "probe"), filepath.Join(s.dir, "probe")
	f, err := s.files.Create(from)
	if errors.Is(err, fs.ErrExist) {
		// An earlier start was killed between create and rename.
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

// create creates an empty temporary file with a random name.
func (s *Store) create() (File, string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.rand, b[:]); err != nil {
		return nil, "", fmt.Errorf("name a temporary file: %w", err)
	}
	path := filepath.Join(s.tmp, hex.EncodeToString(b[:]))
	// Record the owner before the file exists, so that ClearTmp never removes a file in use.
	s.mu.Lock()
	s.ownedTmp[path] = struct{}{}
	s.mu.Unlock()
	f, err := s.files.Create(path)
	if err != nil {
		s.disown(path)
		return nil, "", markDiskFull(err)
	}
	return f, path, nil
}

// disown records that a temporary file has no owner anymore.
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

// syncError returns ErrDiskFull for a full disk and ErrSync for a disk that fails.
func syncError(err error) error {
	if durable.IsDiskFull(err) {
		return markDiskFull(err)
	}
	return fmt.Errorf("%w: %w", ErrSync, err)
}

// markDiskFull wraps ErrDiskFull around an operating system error of that meaning.
func markDiskFull(err error) error {
	if err != nil && durable.IsDiskFull(err) && !errors.Is(err, ErrDiskFull) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return err
}
