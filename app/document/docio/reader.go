package docio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// bufferSize is the buffer, in bytes, of a sequential read.
const bufferSize = 32 << 10

// Reader reads a document within its size. Parsers may treat any failed read as damage:
// Err then says whether the machine or the caller was the cause.
type Reader struct {
	ctx   context.Context // of the one call the Reader serves: io.ReaderAt has no parameter for it
	doc   io.ReaderAt
	size  int64
	err   error  // first failure of doc or ctx
	cache *cache // nil: reads go to doc directly
}

// NewReader returns a Reader of the first size bytes of doc that doesn't cache.
func NewReader(ctx context.Context, doc io.ReaderAt, size int64) *Reader {
	return &Reader{ctx: ctx, doc: doc, size: size}
}

// NewCachedReader returns a Reader that keeps 128 KiB of recently read blocks, for parsers
// that jump around and read a few bytes at a time. It reads each document a few times over
// at most, then every read fails as damage.
func NewCachedReader(ctx context.Context, doc io.ReaderAt, size int64) *Reader {
	r := NewReader(ctx, doc, size)
	r.cache = &cache{fetches: 4*(size/blockSize) + 4096}
	return r
}

// Size returns the size of the document in bytes.
func (r *Reader) Size() int64 { return r.size }

// Context returns the context of the call that the Reader serves.
func (r *Reader) Context() context.Context { return r.ctx }

// Err returns the first error of the underlying reader or of the context, nil if every
// failed read so far was the document's fault.
func (r *Reader) Err() error { return r.err }

// CheckContext returns Err, and records the context's error first if it has ended. Parsers
// that work for long between two reads call it.
func (r *Reader) CheckContext() error {
	if err := r.ctx.Err(); err != nil {
		r.err = err
	}
	return r.err
}

// ReadAt implements io.ReaderAt within the document's size.
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

// ReadFull fills p from off without using the cache. Its errors are those that Err returns.
func (r *Reader) ReadFull(p []byte, off int64) error {
	_, err := r.read(p, off)
	return err
}

// read fills p from doc and records a failure: the document has that many bytes there.
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
	r.err = fmt.Errorf("read %d bytes at %d of %d: %w", len(p), off, r.size, err)
	return n, r.err
}

// Fill fills p from off and reports whether the document has len(p) bytes there.
func (r *Reader) Fill(p []byte, off int64) bool {
	if off < 0 || off > r.size-int64(len(p)) {
		return false
	}
	_, err := r.ReadAt(p, off)
	return err == nil
}

// Bytes returns the n bytes at off and reports whether the document has them.
func (r *Reader) Bytes(off, n int64) (p []byte, ok bool) {
	if off < 0 || n < 0 || off > r.size || n > r.size-off {
		return nil, false
	}
	p = make([]byte, n)
	_, err := r.ReadAt(p, off)
	return p, err == nil
}

// Head returns the first n bytes, fewer if the document is shorter, nil if they can't be read.
func (r *Reader) Head(n int) []byte {
	p := make([]byte, min(int64(n), r.size))
	if !r.Fill(p, 0) {
		return nil
	}
	return p
}

// Section returns a buffered stream of the n bytes at off, or of as many as the document has.
func (r *Reader) Section(off, n int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(r, off, n), bufferSize)
}

// All returns a buffered stream of the complete document.
func (r *Reader) All() *bufio.Reader { return r.Section(0, r.size) }

// Budget is an io.ReaderAt for a library that keeps what it reads in memory: Left, in
// bytes, bounds how much it may read and so how much it may hold.
type Budget struct {
	io.ReaderAt
	Left int64
}

// ReadAt implements io.ReaderAt. It fails as damage once the budget is used up.
func (b *Budget) ReadAt(p []byte, off int64) (int, error) {
	if b.Left -= int64(len(p)); b.Left < 0 {
		return 0, errTooManyReads
	}
	return b.ReaderAt.ReadAt(p, off)
}
