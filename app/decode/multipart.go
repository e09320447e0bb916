package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// bufferSize is the maximum size, in bytes, of one read from a body and of a slice that Part.Chunk returns.
const bufferSize = 256 << 10

// buffers is a pool of *[bufferSize]byte. A Reader uses one from its first Next until Close.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// errClosed is returned by a Reader after Close.
var errClosed = errors.New("multipart reader is closed")

// MultipartLimits contains the limits for reading one body. A field that is 0 has its default value.
type MultipartLimits struct {
	// Parts is the maximum number of parts, including ignored parts. The default is 1,000.
	Parts int
	// Header is the maximum size of a part's header block in bytes. The default is 16 KiB. It is capped at 64 KiB.
	Header int
	// Headers is the maximum number of header lines in a part. The default is 64.
	Headers int
	// Fields is the maximum total size, in bytes, of all parts that are not files, including ignored parts. The
	// default is 8 MiB.
	Fields int64
}

func (l MultipartLimits) orDefault() MultipartLimits {
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
	lim MultipartLimits

	lent     *[bufferSize]byte
	buf      []byte
	pos, end int   // buf[pos:end] has been read but not consumed
	readErr  error // error from src, returned after the bytes in buf

	bareLF    bool
	delimiter []byte // CRLF --boundary; the shorter forms are suffixes of it

	part   *Part
	parts  int
	fields int64
	fail   error // returned by all further calls of Next
}

// NewReader returns a Reader for a body with this boundary. The first call of Next takes a 256 KiB buffer from a
// pool.
func NewReader(r io.Reader, boundary string, lim MultipartLimits) *Reader {
	mr := &Reader{src: r, lim: lim.orDefault(), delimiter: []byte("\r\n--" + boundary)}
	if !validBoundary(boundary) {
		mr.fail = &MalformedError{Reason: "The Content-Type header has no usable boundary."}
	}
	return mr
}

// Close returns the buffer to the pool, so slices returned by Chunk become invalid. It doesn't close the underlying
// reader. It never returns an error.
func (r *Reader) Close() error {
	if r.lent != nil {
		buffers.Put(r.lent)
	}
	r.lent, r.buf, r.part = nil, nil, nil
	r.pos, r.end = 0, 0
	r.fail = errClosed
	return nil
}

// Next skips the rest of the current part and returns the next part. After the final boundary, it returns io.EOF and
// doesn't read the epilogue. Invalid framing, a malformed part header, or a missing final boundary is a
// *MalformedError. Too many parts or bytes of fields are a *LimitError. Errors from the underlying reader are
// wrapped. After an error, every call returns the same error.
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

// newline returns the line break that this body uses for framing.
func (r *Reader) newline() []byte {
	if r.bareLF {
		return r.delimiter[1:2]
	}
	return r.delimiter[:2]
}

func (r *Reader) dashBoundary() []byte { return r.delimiter[2:] }

// boundaryLine consumes the next boundary line. It returns io.EOF if that is the final boundary.
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
		case r.parts == 0: // skip the preamble
		case !skipped && bytes.Equal(line, r.newline()):
			// The line break before a boundary is part of the boundary.
			skipped = true
		default:
			return r.malformed("The boundary line after part %d cannot be read.", r.parts)
		}
	}
}

// isBoundary reports whether line is a boundary line, and whether it is the final boundary. Only the final boundary
// may lack its line break.
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

// line consumes one line and returns it with its line break. At the end of the body, it also returns a final boundary
// that has no line break. The line is valid until the next read.
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

// fill moves the unconsumed bytes to the front of the buffer and reads once into the free space. There are few
// unconsumed bytes, because callers need at most one line or the start of a boundary.
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

// cut returns the error for a body that ended before its final boundary.
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
