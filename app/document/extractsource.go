package document

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// source is the document of one call. Parsers take any failed read for damage;
// whether it was one, or a fault of our own, err tells afterward.
type source struct {
	Source
	ctx context.Context // of the one call that the source lives for: io.ReaderAt has no room for it
	err error           // first failure of Doc or ctx
}

// guard runs work over src and names what went wrong: our own fault first, then
// the findings of this package, and anything else is damage. A decoder of
// others that panics costs the document, not the process.
func guard(ctx context.Context, src Source, work func(*source) error) (err error) {
	doc := &source{Source: src, ctx: ctx}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: decoder: %v", ErrDamaged, p)
		}
		if doc.err != nil {
			err = doc.err
		}
	}()
	err = work(doc)
	var ours *faultError
	switch {
	case err == nil, errors.As(err, &ours):
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrTooLarge), errors.Is(err, ErrDamaged), errors.Is(err, ErrNoPage):
	default:
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// faultError is an error that is not the document's: of emit, or of the engine.
type faultError struct{ cause error }

func (e *faultError) Error() string { return e.cause.Error() }
func (e *faultError) Unwrap() error { return e.cause }

// ReadAt implements io.ReaderAt within the document's size.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("negative offset")
	}
	if s.err != nil {
		return 0, s.err
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	want := p[:min(int64(len(p)), max(s.Size-off, 0))]
	if len(want) > 0 {
		n, err := s.Doc.ReadAt(want, off)
		if n < len(want) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			s.err = fmt.Errorf("read %d bytes at %d of %d: %w", len(want), off, s.Size, err)
			return n, s.err
		}
	}
	if len(want) < len(p) {
		return len(want), io.EOF
	}
	return len(p), nil
}

// section is the n bytes at off as a stream, as far as the document has them.
func (s *source) section(off, n int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(s, off, n), 32<<10)
}

// all is the document as a stream.
func (s *source) all() *bufio.Reader { return s.section(0, s.Size) }

// bytes returns the n bytes at off; ok is false when the document has them not.
func (s *source) bytes(off, n int64) (p []byte, ok bool) {
	if off < 0 || n < 0 || off > s.Size || n > s.Size-off {
		return nil, false
	}
	p = make([]byte, n)
	_, err := s.ReadAt(p, off)
	return p, err == nil
}

// damaged makes an error of a finding about the document.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
