// Package blobstore stores the bytes of documents. Each blob has the SHA-256 of its content
// as its name and is written only once. A blob.Engine keeps the blobs, by default app/blob/disk.
// The package also stores partial uploads, and what is derived from documents: page images and
// texts (Previews) and OCR results (OCRFiles). These are always on the local disk, because they
// change or can be rebuilt, and pages wait for them.
//
//	tmp/                 0700   staged files; emptied by Open
//	  9f3c…              0600   32 random hex digits; names from clients are never used
//	uploads/             0700   partial uploads (partial.go)
//
// Guarantees: After Commit returns nil, the blobs survive a power failure, because the
// content is synced, the engine takes the file, and the engine is synced, in that order. A
// pinned or referenced blob is never swept. A failed sync is never treated as a success,
// even if a later sync succeeds. The package doesn't know the records that reference a blob.
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

	"deedkeep/app/blob"
	"deedkeep/app/blob/disk"
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
	ErrDiskFull = blob.ErrFull
	// ErrSync means that a sync failed for a reason other than a full disk. Later writes to
	// this disk can't be trusted.
	ErrSync = blob.ErrSync
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

// Digest is the SHA-256 of a blob's content.
type Digest = blob.Digest

// Entry is one blob in a list.
type Entry = blob.Entry

// ParseDigest parses the text form of a digest.
func ParseDigest(text string) (Digest, error) { return blob.ParseDigest(text) }

// Options are the settings of a Store. The zero value selects the defaults.
type Options struct {
	Files    disk.Files   // operations on local files; nil: disk.OSFiles
	Engine   blob.Engine  // keeps the blobs; nil: files in the directory of the store
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
	files           disk.Files
	engine          blob.Engine
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
// directories. It also empties tmp, so only one process may have a store open. It returns
// an error if one directory is inside the other, or if they are on different file systems.
func Open(dir, tmp string, opts Options) (*Store, error) {
	s := &Store{
		dir: filepath.Clean(dir), tmp: filepath.Clean(tmp),
		files: opts.Files, engine: opts.Engine, log: opts.Log, rand: opts.Rand, readOnly: opts.ReadOnly, keepTmp: opts.KeepTmp,
		now: opts.Now, verifiedTTL: opts.VerifiedTTL, verifyOnOpenMax: opts.VerifyOnOpenMax,
		syncSlots: make(chan struct{}, disk.MaxSyncs),
		ownedTmp:  map[string]struct{}{},
	}
	if s.files == nil {
		s.files = disk.OSFiles()
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
	if err := s.openEngine(); err != nil {
		return nil, fmt.Errorf("open blob store: %w", disk.MarkFull(err))
	}
	if !s.readOnly && !s.keepTmp {
		s.removeOldTmp()
	}
	return s, nil
}

func (s *Store) openEngine() (err error) {
	switch {
	case s.engine != nil:
		err = os.MkdirAll(s.tmp, 0o700)
	case s.readOnly:
		s.engine, err = disk.OpenReadOnly(s.dir)
	default:
		s.engine, err = disk.Open(s.dir, s.tmp, s.files)
	}
	return err
}

// isInside reports whether inner is equal to outer or is a path below it.
func isInside(inner, outer string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
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
func (s *Store) create() (disk.File, string, error) {
	path, err := s.newTmp()
	if err != nil {
		return nil, "", err
	}
	f, err := s.files.Create(path)
	if err != nil {
		s.disown(path)
		return nil, "", disk.MarkFull(err)
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
func (s *Store) closeAndRemove(f disk.File, path string) error {
	return errors.Join(f.Close(), s.removeTmp(path))
}

func (s *Store) removeTmp(path string) error {
	defer s.disown(path)
	if err := s.files.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
