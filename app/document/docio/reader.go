package docio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// bufferSize is the size of the buffer for sequential reads, in bytes.
const bufferSize = 32 << 10

// Reader reads a document and never reads beyond its end. Parsers may treat any failed read as
// damage because Err tells whether the server or the caller caused the failure.
type Reader struct {
	ctx   context.Context // context of the call that uses the Reader; io.ReaderAt has no parameter for it
	doc   io.ReaderAt
	size  int64
	err   error  // first error of doc or ctx
	cache *cache // nil if reads go directly to doc
}

// NewReader returns a Reader without a cache. It reads the first size bytes of doc.
func NewReader(ctx context.Context, doc io.ReaderAt, size int64) *Reader {
	return &Reader{ctx: ctx, doc: doc, size: size}
}

// Read calls work with a Reader without a cache and returns the most relevant error. Errors from
// reading and from the context come first, then the errors of the document and FaultErrors. Any other
// error becomes ErrDamaged. If work panics, the document counts as damaged, and the process continues.
func Read(ctx context.Context, doc io.ReaderAt, size int64, work func(*Reader) error) (err error) {
	r := NewReader(ctx, doc, size)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: decoder panic: %v", ErrDamaged, p)
		}
		if r.err != nil {
			err = r.err
		}
	}()
	err = work(r)
	var fault *FaultError
	switch {
	case err == nil, errors.As(err, &fault):
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrTooLarge), errors.Is(err, ErrDamaged), errors.Is(err, ErrNoPage):
	default:
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// NewCachedReader returns a Reader that caches 128 KiB of recently read blocks. It is for parsers
// that jump around and read a few bytes at a time. The total of its reads is limited to a few times
// the size of the document. After that, every read fails because the document counts as damaged.
func NewCachedReader(ctx context.Context, doc io.ReaderAt, size int64) *Reader {
	r := NewReader(ctx, doc, size)
	r.cache = &cache{fetches: 4*(size/blockSize) + 4096}
	return r
}

// Size returns the size of the document in bytes.
func (r *Reader) Size() int64 { return r.size }

// Context returns the context of the call that uses the Reader.
func (r *Reader) Context() context.Context { return r.ctx }

// Err returns the first error of the underlying reader or of the context. It returns nil if the
// document caused all failed reads so far.
func (r *Reader) Err() error { return r.err }

// CheckContext returns Err. If the context has ended, it first records the context's error. Parsers
// call it if they work for a long time between two reads.
func (r *Reader) CheckContext() error {
	if err := r.ctx.Err(); err != nil {
		r.err = err
	}
	return r.err
}

// ReadAt implements io.ReaderAt. It doesn't read beyond the document's size.
func (r *Reader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("negative offset")
	}
	if r.cache != nil {
		n, err = r.readBlocks(p, off)
	} else {
		n, err = r.read(p[:min(int64(len(p)), max(r.size-off, 0))], off)
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// ReadFull fills p with the bytes at off without using the cache. It returns the same errors as
// Err.
func (r *Reader) ReadFull(p []byte, off int64) error {
	_, err := r.read(p, off)
	return err
}

// read fills p with bytes of doc and records an error. All bytes must be within the document.
func (r *Reader) read(p []byte, off int64) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.err = r.ctx.Err(); r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	n, err := r.doc.ReadAt(p, off)
	if n == len(p) {
		return n, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	r.err = fmt.Errorf("read %d bytes at offset %d of %d: %w", len(p), off, r.size, err)
	return n, r.err
}

// Fill fills p with the bytes at off. It reports whether the document has len(p) bytes there.
func (r *Reader) Fill(p []byte, off int64) bool {
	if off < 0 || off > r.size-int64(len(p)) {
		return false
	}
	_, err := r.ReadAt(p, off)
	return err == nil
}

// Bytes returns the n bytes at off. ok reports whether the document has them.
func (r *Reader) Bytes(off, n int64) (p []byte, ok bool) {
	if off < 0 || n < 0 || off > r.size || n > r.size-off {
		return nil, false
	}
	p = make([]byte, n)
	_, err := r.ReadAt(p, off)
	return p, err == nil
}

// Head returns the first n bytes, or fewer if the document is shorter. It returns nil if they can't
// be read.
func (r *Reader) Head(n int) []byte {
	p := make([]byte, min(int64(n), r.size))
	if !r.Fill(p, 0) {
		return nil
	}
	return p
}

// Section returns a buffered reader for the n bytes at off, or for as many as the document has.
func (r *Reader) Section(off, n int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(r, off, n), bufferSize)
}

// All returns a buffered reader for the complete document.
func (r *Reader) All() *bufio.Reader { return r.Section(0, r.size) }

// Budget is an io.ReaderAt for a library that keeps everything it reads in memory. Left is the
// number of bytes that the library may still read, which limits its memory.
type Budget struct {
	io.ReaderAt
	Left int64
}

// ReadAt implements io.ReaderAt. If the budget is used up, it returns ErrDamaged.
func (b *Budget) ReadAt(p []byte, off int64) (int, error) {
	if b.Left -= int64(len(p)); b.Left < 0 {
		return 0, errTooManyReads
	}
	return b.ReaderAt.ReadAt(p, off)
}
