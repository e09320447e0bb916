package blobstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"deedkeep/app/blob"
)

// Open opens a blob for reading. The caller closes it. The error wraps fs.ErrNotExist if
// the blob doesn't exist.
func (s *Store) Open(ctx context.Context, d Digest) (blob.Reader, error) {
	f, err := s.engine.Open(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", d, err)
	}
	return f, nil
}

// Size returns the size of a blob in bytes. It doesn't read the content. The error wraps
// fs.ErrNotExist if the blob doesn't exist.
func (s *Store) Size(ctx context.Context, d Digest) (int64, error) {
	state, err := s.Stat(ctx, d)
	return state.Size, err
}

// Stat returns the state of a blob, with the same errors as Size.
func (s *Store) Stat(ctx context.Context, d Digest) (blob.State, error) {
	state, err := s.engine.Stat(ctx, d)
	if err != nil {
		return state, fmt.Errorf("blob %s: %w", d, err)
	}
	return state, nil
}

// Check reads a blob and compares its SHA-256 with its name. It bypasses
// the page cache if the engine supports that. It returns nil, ErrMissing, ErrDamaged
// (even for a read error), or a context error. It doesn't compare the size with the
// record; callers use Size for that.
func (s *Store) Check(ctx context.Context, d Digest) error { return s.CheckThrottled(ctx, d, nil) }

// CheckThrottled does the same as Check, but calls throttle between the chunks of a long
// blob, so that the caller can slow it down. throttle may be nil.
func (s *Store) CheckThrottled(ctx context.Context, d Digest, throttle func(context.Context)) error {
	f, err := s.Open(ctx, d)
	if err != nil {
		return convertOpenError(d, err)
	}
	at, err := f.State()
	if err == nil {
		f.Uncache()
		err = s.check(ctx, f, d, at, throttle)
	}
	return errors.Join(err, f.Close())
}

// convertOpenError converts an error from opening a blob. It returns ErrMissing if the blob
// doesn't exist, and any other error unchanged.
func convertOpenError(d Digest, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob %s: %w", d, ErrMissing)
	}
	return err
}

// check verifies f and caches the result. at is the state of f when it was opened.
func (s *Store) check(ctx context.Context, f blob.Reader, d Digest, at blob.State, throttle func(context.Context)) error {
	err := check(ctx, f, d, throttle)
	if err != nil {
		err = fmt.Errorf("blob %s: %w", d, err)
	}
	s.recordCheck(d, f, at, err)
	return err
}

func check(ctx context.Context, f io.Reader, d Digest, throttle func(context.Context)) error {
	c := newChunk()
	defer chunks.Put(c)
	h := sha256.New()
	var size int64
	for end := false; !end; {
		var err error
		if end, err = c.fill(ctx, f); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: read failed after %d bytes: %w", ErrDamaged, size, err)
		}
		h.Write(c.bytes())
		size += int64(c.n)
		if throttle != nil && !end {
			throttle(ctx)
		}
	}
	if got := Digest(h.Sum(nil)); got != d {
		return fmt.Errorf("%w: digest mismatch: read %d bytes with digest %s", ErrDamaged, size, got)
	}
	return nil
}
