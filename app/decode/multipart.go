package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// bufferSize is the maximum size of one read of a body, and of a slice that a part returns.
const bufferSize = 256 << 10

// buffers holds a *[bufferSize]byte for each reader between its first Next and Close.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// errClosed is the error of a Reader after Close.
var errClosed = errors.New("multipart reader is closed")

// Limits limit the memory and work of reading one body; a zero field means its default.
type Limits struct {
	// Parts is the maximum number of parts of any role (1,000).
	Parts int
	// Header is the maximum size of a part's header block in bytes (16 KiB), at most 64 KiB.
	Header int
	// Headers is the maximum number of header lines of a part (64).
	Headers int
	// Fields is the maximum size of all parts other than files together (8 MiB), including ignored ones.
	Fields int64
}

func (l Limits) orDefault() Limits {
	or := func(n *int, standard int) {
		if *n <= 0 {
			*n = standard
		}
	}
	or(&l.Parts, 1000)
	or(&l.Header, 16<<10)
	or(&l.Headers, 64)
	l.Header = min(l.Header, bufferSize/4)
	if l.Fields <= 0 {
		l.Fields = 8 << 20
	}
	return l
}

// Reader reads a multipart/form-data body as a stream, one part after the other:
//
//	[preamble line CRLF]…
//	--boundary [blanks] CRLF
//	header CRLF … CRLF                 ← Next
//	content                            ← Part.Chunk
//	CRLF --boundary [blanks] CRLF …
//	CRLF --boundary-- [blanks] [CRLF]  ← Next returns io.EOF
//	epilogue, never read
//
// If the first boundary line ends in a bare LF, all framing uses LF instead of CRLF, as in mime/multipart. Transfer
// encodings are not decoded (RFC 7578, section 4.7). A Reader is not safe for concurrent use.
type Reader struct {
	src io.Reader
	lim Limits

	lent     *[bufferSize]byte
	buf      []byte
	pos, end int   // buf[pos:end] is read but not yet consumed
	readErr  error // of src; it follows the bytes in buf

	bareLF    bool
	delimiter []byte // CRLF --boundary; its tails are the other forms

	part   *Part
	parts  int
	fields int64
	fail   error // returned by every further Next
}

// NewReader returns a reader for a body with that boundary. The first Next takes a buffer of 256 KiB from a pool.
func NewReader(r io.Reader, boundary string, lim Limits) *Reader {
	mr := &Reader{src: r, lim: lim.orDefault(), delimiter: []byte("\r\n--" + boundary)}
	if !validBoundary(boundary) {
		mr.fail = &MalformedError{Reason: "The Content-Type header has no usable boundary."}
	}
	return mr
}

// Close returns the buffer to the pool; slices from Chunk become invalid. It doesn't close the underlying reader and
// always succeeds.
func (r *Reader) Close() error {
	if r.lent != nil {
		buffers.Put(r.lent)
	}
	r.lent, r.buf, r.part = nil, nil, nil
	r.pos, r.end = 0, 0
	r.fail = errClosed
	return nil
}

// Next skips the rest of the current part and returns the next one, or io.EOF after the final boundary; the epilogue
// is not read. Broken framing, a malformed part header, and a body that ends before its final boundary are a
// *MalformedError; too many parts or bytes of fields are a *LimitError; an error of the underlying reader is in the
// chain. Errors are final.
func (r *Reader) Next() (*Part, error) {
	if r.fail != nil {
		return nil, r.fail
	}
	if r.buf == nil {
		r.lent = buffers.Get().(*[bufferSize]byte)
		r.buf = r.lent[:]
	}
	p, err := r.next()
	if err != nil {
		r.fail = err
		return nil, err
	}
	return p, nil
}

func (r *Reader) next() (*Part, error) {
	if r.part != nil {
		if _, err := r.part.discard(); err != nil {
			return nil, err
		}
		r.part = nil
	}
	if err := r.boundaryLine(); err != nil {
		return nil, err
	}
	if r.parts == r.lim.Parts {
		return nil, &LimitError{Counted: "parts", Limit: int64(r.lim.Parts)}
	}
	r.parts++
	p, err := r.header()
	if err != nil {
		return nil, err
	}
	r.part = p
	return p, nil
}

// newline returns the line break that this body uses.
func (r *Reader) newline() []byte {
	if r.bareLF {
		return r.delimiter[1:2]
	}
	return r.delimiter[:2]
}

func (r *Reader) dashBoundary() []byte { return r.delimiter[2:] }

// boundaryLine consumes the next boundary line; io.EOF if that is the final one.
func (r *Reader) boundaryLine() error {
	for skipped := false; ; {
		line, err := r.line()
		if err != nil {
			return err
		}
		final, is := r.isBoundary(line)
		switch {
		case is && final:
			return io.EOF
		case is:
			return nil
		case r.parts == 0: // preamble
		case !skipped && bytes.Equal(line, r.newline()):
			// The line break before a boundary belongs to the boundary.
			skipped = true
		default:
			return r.malformed("The boundary line after part %d cannot be read.", r.parts)
		}
	}
}

// isBoundary reports whether a complete line is a boundary. The final boundary may lack its line break.
func (r *Reader) isBoundary(line []byte) (final, is bool) {
	rest, ok := bytes.CutPrefix(line, r.dashBoundary())
	if !ok {
		return false, false
	}
	after := bytes.TrimLeft(rest, " \t")
	if r.parts == 0 && len(after) == 1 && after[0] == '\n' {
		r.bareLF = true
	}
	if bytes.Equal(after, r.newline()) {
		return false, true
	}
	if rest, final = bytes.CutPrefix(rest, []byte("--")); !final {
		return false, false
	}
	after = bytes.TrimLeft(rest, " \t")
	return true, len(after) == 0 || bytes.Equal(after, r.newline())
}

// line consumes one line with its line break, or a final boundary without one at the end of the body. It is valid
// until the next read.
func (r *Reader) line() ([]byte, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(r.buf[r.pos+seen:r.end], '\n'); i >= 0 {
			line := r.buf[r.pos : r.pos+seen+i+1]
			r.pos += len(line)
			return line, nil
		}
		seen = r.end - r.pos
		if seen >= len(r.buf)/2 {
			return nil, r.malformed("A line between the parts of the request body is too long, after part %d.", r.parts)
		}
		if err := r.fill(); err != nil {
			rest := r.buf[r.pos:r.end]
			if final, is := r.isBoundary(rest); is && final && r.readErr == io.EOF {
				r.pos = r.end
				return rest, nil
			}
			return nil, err
		}
	}
}

// fill reads once into the free end of the buffer, after moving unconsumed bytes to its front. These are few, because
// callers need at most one line or the start of a boundary.
func (r *Reader) fill() error {
	if r.readErr == nil {
		if r.pos > 0 {
			r.end = copy(r.buf, r.buf[r.pos:r.end])
			r.pos = 0
		}
		for tries := 0; r.readErr == nil; tries++ {
			var n int
			n, r.readErr = r.src.Read(r.buf[r.end:])
			if n > 0 {
				r.end += n
				return nil
			}
			if tries == 100 && r.readErr == nil {
				r.readErr = io.ErrNoProgress
			}
		}
	}
	if r.readErr == io.EOF {
		return r.cut()
	}
	return fmt.Errorf("read multipart body at part %d: %w", r.parts, r.readErr)
}

// cut returns the error of a body that ended before its final boundary.
func (r *Reader) cut() error {
	reason := "The request body ends before its first part."
	if r.parts > 0 {
		reason = fmt.Sprintf("The request body ends inside or after part %d, before the final boundary.", r.parts)
	}
	return &MalformedError{Part: r.parts, Reason: reason, Err: io.ErrUnexpectedEOF}
}

func (r *Reader) malformed(format string, args ...any) error {
	return &MalformedError{Part: r.parts, Reason: fmt.Sprintf(format, args...)}
}
