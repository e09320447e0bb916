package blobstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a blob for reading; the caller closes it. fs.ErrNotExist if there is none.
func (s *Store) Open(d Digest) (*os.File, error) {
	f, err := os.Open(s.path(d))
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", d, err)
	}
	return f, nil
}

// Size is the length of a blob in bytes, or fs.ErrNotExist; it does not read the content.
func (s *Store) Size(d Digest) (size int64, err error) {
	info, err := os.Lstat(s.path(d))
	if err != nil {
		return 0, fmt.Errorf("blob %s: %w", d, err)
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("blob %s is no regular file: %w", d, fs.ErrNotExist)
	}
	return info.Size(), nil
}

// Check reads a blob from the disk, past the page cache where the system allows
// it, and compares its SHA-256 with its name: nil, ErrMissing, ErrDamaged with
// what was found (an unreadable blob is damaged too), or the context's error.
// Whether the length is the one on record the caller asks Has.
func (s *Store) Check(ctx context.Context, d Digest) error { return s.CheckThrottled(ctx, d, nil) }

// CheckThrottled is Check that calls pace, which may be nil, between stretches of a long
// blob.
func (s *Store) CheckThrottled(ctx context.Context, d Digest, pace func(context.Context)) error {
	f, err := s.Open(d)
	if err != nil {
		return missing(d, err)
	}
	at, err := stampOf(f)
	if err == nil {
		uncache(f.Fd())
		err = s.check(ctx, f, d, at, pace)
	}
	return errors.Join(err, f.Close())
}

// missing is the error of opening a blob.
func missing(d Digest, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob %s: %w", d, ErrMissing)
	}
	return err
}

// check reads f, whose stamp is at, and notes the verdict.
func (s *Store) check(ctx context.Context, f *os.File, d Digest, at stamp, pace func(context.Context)) error {
	err := check(ctx, f, d, pace)
	if err != nil {
		err = fmt.Errorf("blob %s: %w", d, err)
	}
	s.judge(d, f, at, err)
	return err
}

func check(ctx context.Context, f *os.File, d Digest, pace func(context.Context)) error {
	c := newChunk()
	defer chunks.Put(c)
	h := sha256.New()
	var size int64
	for end := false; !end; {
		var err error
		if end, err = c.fill(ctx, io.Reader(f)); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: after %d bytes: %w", ErrDamaged, size, err)
		}
		h.Write(c.bytes())
		size += int64(c.n)
		if pace != nil && !end {
			pace(ctx)
		}
	}
	if got := Digest(h.Sum(nil)); got != d {
		return fmt.Errorf("%w: its %d bytes have the digest %s", ErrDamaged, size, got)
	}
	return nil
}
