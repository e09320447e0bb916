package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// bufferSize is how much one read of a body may bring, and the largest slice that a
// part hands out.
const bufferSize = 256 << 10

// buffers lends *[bufferSize]byte to readers between their first Next and Close.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// errClosed is what a Reader answers after Close.
var errClosed = errors.New("multipart reader is closed")

// Limits bound what one body may make its reader keep or count; a zero field stands
// for its default.
type Limits struct {
	// Parts is how many parts there may be (1,000), whatever they are.
	Parts int
	// Header is the size of one part's header block in bytes (16 KiB), at most 64 KiB.
	Header int
	// Headers is how many header lines one part may have (64).
	Headers int
	// Fields is how many bytes all parts that are no files may hold together (8 MiB);
	// ignored parts count too.
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

// Reader takes a multipart/form-data body apart, one part after the other, as it
// arrives:
//
//	[preamble line CRLF]…
//	--boundary [blanks] CRLF
//	header CRLF … CRLF                 ← Next
//	content                            ← Part.Chunk
//	CRLF --boundary [blanks] CRLF …
//	CRLF --boundary-- [blanks] [CRLF]  ← Next gives io.EOF
//	epilogue, never read
//
// Where the first boundary line ends in a bare LF, LF stands for CRLF in all of the
// framing, as in mime/multipart. Transfer encodings are not decoded (RFC 7578,
// section 4.7). It is for one goroutine.
type Reader struct {
	src io.Reader
	lim Limits

	lent     *[bufferSize]byte
	buf      []byte
	pos, end int   // buf[pos:end] has been read and not yet used
	readErr  error // of src; what stands in buf comes before it

	bareLF    bool
	delimiter []byte // CRLF --boundary; its tails are the other forms

	part   *Part
	parts  int
	fields int64
	fail   error // the answer to every further Next
}

// NewReader reads a body whose Content-Type gave that boundary. It takes a buffer of
// 256 KiB at the first Next; Close gives it back.
func NewReader(r io.Reader, boundary string, lim Limits) *Reader {
	mr := &Reader{src: r, lim: lim.orDefault(), delimiter: []byte("\r\n--" + boundary)}
	if !validBoundary(boundary) {
		mr.fail = &MalformedError{Reason: "The Content-Type header has no usable boundary."}
	}
	return mr
}

// Close gives the buffer back; slices that Chunk gave are no longer valid. It does
// not touch the underlying reader and always succeeds.
func (r *Reader) Close() error {
	if r.lent != nil {
		buffers.Put(r.lent)
	}
	r.lent, r.buf, r.part = nil, nil, nil
	r.pos, r.end = 0, 0
	r.fail = errClosed
	return nil
}

// Next skips what is left of the current part and gives the next one; io.EOF after
// the final boundary, behind which nothing is read. Broken framing, an unreadable part
// header and a body that ends before its final boundary are a *MalformedError, too
// many parts or bytes of fields a *LimitError, and an error of the underlying reader
// is in the chain as it is. An error is final.
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

// newline and dashBoundary are pieces of the delimiter line in the body's own style.
func (r *Reader) newline() []byte {
	if r.bareLF {
		return r.delimiter[1:2]
	}
	return r.delimiter[:2]
}

func (r *Reader) dashBoundary() []byte { return r.delimiter[2:] }

// boundaryLine uses up the next boundary line; io.EOF when that is the final one.
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
			// The line break before a boundary belongs to it.
			skipped = true
		default:
			return r.malformed("The boundary line after part %d cannot be read.", r.parts)
		}
	}
}

// isBoundary looks at a whole line. The last one of a body may lack its line break,
// if it is final.
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

// line uses up one line with its line break, or what is left before the end of the
// body when that is a final boundary. It is valid until the next read.
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

// fill reads once into the free end of the buffer, after moving what is unused to its
// front: never much, as whoever calls wants more than a line or a boundary's beginning.
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

// cut is the error of a body that ended before its final boundary.
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
