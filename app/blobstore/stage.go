package blobstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// Staged is a complete upload in tmp: counted, hashed, being synced, and not
// yet a blob. Its owner ends it by Keep or Discard.
type Staged struct {
	store     *Store
	file      File
	path      string
	digest    Digest
	size      int64
	ended     atomic.Bool   // Keep or Discard has taken it
	closed    bool          // Keep has closed the file
	published bool          // Keep has renamed it
	lent      bool          // it belongs to a Partial, which gets it back unless Keep renames it
	dropped   chan struct{} // closed when nobody needs the sync any more
	synced    chan struct{} // closed when the sync has ended
	syncErr   error         // valid after synced
}

// Stage takes r to its end in one pass that counts, hashes and writes to tmp,
// then starts the sync and returns without waiting for it. limit is in bytes; a
// negative one is none. On any error nothing is kept: ErrTooLarge (r is then at
// its end, so that a multipart stream goes on; joined with ErrSource if it broke
// on the way), ErrSource for a failure of r, ErrDiskFull, the context's error, or
// one of the operating system; after those r has not been read further.
func (s *Store) Stage(ctx context.Context, r io.Reader, limit int64) (*Staged, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	st, err := s.stage(ctx, r, limit)
	if err != nil {
		return nil, fmt.Errorf("stage: %w", mark(err))
	}
	return st, nil
}

func (s *Store) stage(ctx context.Context, r io.Reader, limit int64) (*Staged, error) {
	first := newChunk()
	end, err := first.fill(ctx, r)
	switch {
	case err != nil:
	case exceeds(first.n, 0, limit):
		err = drain(ctx, r, first, end)
	case !end:
		return s.stageLarge(ctx, r, first, limit)
	default:
		defer chunks.Put(first)
		return s.stageSmall(first)
	}
	chunks.Put(first)
	return nil, err
}

func exceeds(n int, size, limit int64) bool { return limit >= 0 && size+int64(n) > limit }

// drain reads r to its end and says ErrTooLarge.
func drain(ctx context.Context, r io.Reader, c *chunk, end bool) error {
	for !end {
		var err error
		if end, err = c.fill(ctx, r); err != nil {
			return fmt.Errorf("%w; %w", ErrTooLarge, err)
		}
	}
	return ErrTooLarge
}

func source(err error) error { return fmt.Errorf("%w: %w", ErrSource, err) }

// stageSmall writes a file that is in memory as a whole.
func (s *Store) stageSmall(c *chunk) (*Staged, error) {
	f, path, err := s.create()
	if err != nil {
		return nil, err
	}
	if c.n > 0 {
		if _, err := f.Write(c.bytes()); err != nil {
			return nil, errors.Join(err, s.abandon(f, path))
		}
	}
	return s.seal(f, path, sha256.Sum256(c.bytes()), int64(c.n))
}

func (s *Store) stageLarge(ctx context.Context, r io.Reader, first *chunk, limit int64) (*Staged, error) {
	f, path, err := s.create()
	if err != nil {
		chunks.Put(first)
		return nil, err
	}
	p := startPipeline(f)
	var size int64
	err = errStopped // stays if r panics
	defer func() {
		if errors.Is(err, errStopped) {
			p.finish()
			_ = s.abandon(f, path) // the panic is the news
		}
	}()
	size, err = p.feed(ctx, r, first, limit)
	p.finish()
	if err = errors.Join(err, p.err); err != nil {
		return nil, errors.Join(err, s.abandon(f, path))
	}
	return s.seal(f, path, p.digest, size)
}

var errStopped = errors.New("reader stopped the goroutine")

// feed reads r to its end, or until something fails.
func (p *pipeline) feed(ctx context.Context, r io.Reader, c *chunk, limit int64) (size int64, err error) {
	for end := false; ; {
		if exceeds(c.n, size, limit) {
			err = drain(ctx, r, c, end)
			p.free <- c
			return 0, err
		}
		size += int64(c.n)
		p.send(c)
		if end || p.failed.Load() {
			return size, nil
		}
		c = p.next()
		if end, err = c.fill(ctx, r); err != nil {
			p.free <- c
			return 0, err
		}
	}
}

// seal makes a written file read-only and starts its sync, which makes the mode
// durable too.
func (s *Store) seal(f File, path string, d Digest, size int64) (*Staged, error) {
	if err := s.readOnlyMode(f); err != nil {
		return nil, errors.Join(err, s.abandon(f, path))
	}
	return s.staged(f, path, d, size, false), nil
}

func (s *Store) readOnlyMode(f File) error {
	err := f.Chmod(0o400)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		s.log.Debug("file system keeps no modes", "error", err)
		err = nil
	}
	return err
}

func (s *Store) staged(f File, path string, d Digest, size int64, lent bool) *Staged {
	st := &Staged{
		store: s, file: f, path: path, digest: d, size: size, lent: lent,
		dropped: make(chan struct{}), synced: make(chan struct{}),
	}
	go st.sync()
	return st
}

// sync runs once, in a goroutine that Keep and Discard wait for.
func (f *Staged) sync() {
	defer close(f.synced)
	select {
	case f.store.gate <- struct{}{}:
		defer func() { <-f.store.gate }()
	case <-f.dropped:
		f.syncErr = ErrFinished
		return
	}
	if err := f.file.Sync(); err != nil {
		f.syncErr = syncError(err)
	}
}

// Digest is the SHA-256 of the content.
func (f *Staged) Digest() Digest { return f.digest }

// Size is the length of the content in bytes.
func (f *Staged) Size() int64 { return f.size }

// ReadAt reads the content, as io.ReaderAt. After Keep or Discard it answers os.ErrClosed.
func (f *Staged) ReadAt(p []byte, off int64) (int, error) { return f.file.ReadAt(p, off) }

// Discard gives the upload up: handle closed, temporary file removed. It waits
// for a sync under way. After Keep or an earlier Discard it does nothing.
func (f *Staged) Discard() error {
	if !f.ended.CompareAndSwap(false, true) {
		return nil
	}
	if err := f.drop(); err != nil {
		return fmt.Errorf("discard: %w", err)
	}
	return nil
}

// drop ends a file that the caller has taken and that is not published.
func (f *Staged) drop() error {
	close(f.dropped)
	<-f.synced
	if f.lent {
		return f.giveBack()
	}
	if f.closed {
		return f.store.unlink(f.path)
	}
	return f.store.abandon(f.file, f.path)
}

// giveBack leaves the file to the partial that it came from, to be written again.
func (f *Staged) giveBack() error {
	var err error
	if !f.closed {
		err = f.file.Close()
	}
	return errors.Join(err, os.Chmod(f.path, 0o600))
}
