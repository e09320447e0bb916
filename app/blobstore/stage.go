package blobstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"deedkeep/app/blob/disk"
)

// Staged is a complete file in tmp that is not a blob yet. It was hashed, and its sync
// has started. Its owner calls Commit or Discard.
type Staged struct {
	store     *Store
	file      disk.File
	path      string
	digest    Digest
	size      int64
	finished  atomic.Bool   // Commit or Discard was called
	closed    bool          // Commit has closed the file
	published bool          // Commit has made it a blob
	partial   *Partial      // owner of the file, to which it returns unless Commit renames it; nil: none
	abandoned chan struct{} // closed when the sync is no longer needed
	synced    chan struct{} // closed when the sync has ended or was skipped
	syncErr   error         // valid once synced is closed
}

// Stage reads r to its end, and counts, hashes, and writes the bytes to tmp in one pass.
// Then it starts the sync and returns without waiting for it. limit is in bytes; if it is
// negative, there is no limit. If Stage returns an error, nothing is stored. The error is
// ErrTooLarge, ErrSource if r failed, ErrDiskFull, ErrReadOnly, a context error, or an
// operating system error. After ErrTooLarge, r is at its end, so that a multipart stream
// can continue; if reading the rest failed, the error also wraps ErrSource. After any
// other error, the rest of r is not read.
func (s *Store) Stage(ctx context.Context, r io.Reader, limit int64) (*Staged, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	st, err := s.stage(ctx, r, limit)
	if err != nil {
		return nil, fmt.Errorf("stage file: %w", disk.MarkFull(err))
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

// drain reads r to its end, discards the bytes, and returns ErrTooLarge.
func drain(ctx context.Context, r io.Reader, c *chunk, end bool) error {
	for !end {
		var err error
		if end, err = c.fill(ctx, r); err != nil {
			return fmt.Errorf("%w; %w", ErrTooLarge, err)
		}
	}
	return ErrTooLarge
}

func sourceError(err error) error { return fmt.Errorf("%w: %w", ErrSource, err) }

// stageSmall writes a file that fits into one chunk.
func (s *Store) stageSmall(c *chunk) (*Staged, error) {
	f, path, err := s.create()
	if err != nil {
		return nil, err
	}
	if c.n > 0 {
		if _, err := f.Write(c.bytes()); err != nil {
			return nil, errors.Join(err, s.closeAndRemove(f, path))
		}
	}
	return s.finishWrite(f, path, sha256.Sum256(c.bytes()), int64(c.n))
}

func (s *Store) stageLarge(ctx context.Context, r io.Reader, first *chunk, limit int64) (*Staged, error) {
	f, path, err := s.create()
	if err != nil {
		chunks.Put(first)
		return nil, err
	}
	p := startPipeline(f)
	var size int64
	err = errReaderPanicked // overwritten unless r panics
	defer func() {
		if errors.Is(err, errReaderPanicked) {
			p.finish()
			_ = s.closeAndRemove(f, path) // r panicked; the panic continues
		}
	}()
	size, err = p.feed(ctx, r, first, limit)
	p.finish()
	if err = errors.Join(err, p.err); err != nil {
		return nil, errors.Join(err, s.closeAndRemove(f, path))
	}
	return s.finishWrite(f, path, p.digest, size)
}

var errReaderPanicked = errors.New("reader ended the goroutine")

// feed sends chunks of r to the pipeline until r ends, or reading or writing fails.
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

// finishWrite makes a written file read-only and starts its sync, which also makes the
// new mode durable.
func (s *Store) finishWrite(f disk.File, path string, d Digest, size int64) (*Staged, error) {
	if err := s.makeReadOnly(f); err != nil {
		return nil, errors.Join(err, s.closeAndRemove(f, path))
	}
	return s.newStaged(f, path, d, size, nil), nil
}

func (s *Store) makeReadOnly(f disk.File) error {
	err := f.Chmod(0o400)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		s.log.Debug("file system doesn't support file modes", "error", err)
		err = nil
	}
	return err
}

func (s *Store) newStaged(f disk.File, path string, d Digest, size int64, partial *Partial) *Staged {
	st := &Staged{
		store: s, file: f, path: path, digest: d, size: size, partial: partial,
		abandoned: make(chan struct{}), synced: make(chan struct{}),
	}
	go st.sync()
	return st
}

// sync runs once, in a goroutine that Commit and Discard wait for.
func (s *Staged) sync() {
	defer close(s.synced)
	select {
	case s.store.syncSlots <- struct{}{}:
		defer func() { <-s.store.syncSlots }()
	case <-s.abandoned:
		s.syncErr = ErrFinished
		return
	}
	if err := s.file.Sync(); err != nil {
		s.syncErr = disk.SyncError(err)
	}
}

// Digest returns the SHA-256 of the content.
func (s *Staged) Digest() Digest { return s.digest }

// Size returns the size of the content in bytes.
func (s *Staged) Size() int64 { return s.size }

// ReadAt implements io.ReaderAt. After Commit or Discard it returns os.ErrClosed.
func (s *Staged) ReadAt(p []byte, off int64) (int, error) { return s.file.ReadAt(p, off) }

// Discard closes and removes the file. It first waits for a sync in progress. It does
// nothing if Commit or Discard was already called.
func (s *Staged) Discard() error {
	if !s.finished.CompareAndSwap(false, true) {
		return nil
	}
	if err := s.release(); err != nil {
		return fmt.Errorf("discard staged file: %w", err)
	}
	return nil
}

// release removes a file that didn't become a blob, or returns it to its Partial.
func (s *Staged) release() error {
	close(s.abandoned)
	<-s.synced
	switch {
	case s.partial != nil && s.closed:
		return nil
	case s.partial != nil:
		return s.file.Close()
	case s.closed:
		return s.store.removeTmp(s.path)
	}
	return s.store.closeAndRemove(s.file, s.path)
}
