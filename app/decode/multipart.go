package decode

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
)

// bufferSize is the maximum size, in bytes, of one read from a body.
const bufferSize = 256 << 10

// buffers is a pool of *bufio.Reader. A Reader uses one from NewReader until Close.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bufferSize) }}

// errClosed is returned by a Reader after Close.
var errClosed = errors.New("multipart reader is closed")

// MultipartLimits contains the limits for reading one body. A field that is 0 has its default value.
type MultipartLimits struct {
	// Parts is the maximum number of parts, including ignored parts. The default is 1,000.
	Parts int
	// Fields is the maximum total size, in bytes, of all parts that are not files, including ignored parts. The
	// default is 8 MiB.
	Fields int64
}

// Reader reads a multipart/form-data body as a stream, one part after the other:
//
//	[preamble line CRLF]…
//	--boundary [blanks] CRLF
//	header CRLF … CRLF                 ← Next
//	content                            ← Part.Read
//	CRLF --boundary [blanks] CRLF …
//	CRLF --boundary-- [blanks] [CRLF]  ← Next returns io.EOF
//	epilogue, never read
//
// If the first boundary line ends in a bare LF, all framing uses LF instead of CRLF, as in mime/multipart. Transfer
// encodings are not decoded (RFC 7578, section 4.7). A Reader is not safe for concurrent use.
type Reader struct {
	src       *bufio.Reader
	lim       MultipartLimits
	bareLF    bool
	delimiter []byte // CRLF --boundary; the shorter forms are suffixes of it

	part   *Part
	parts  int
	fields int64
	fail   error // returned by all further calls of Next
}

// NewReader returns a Reader for a body with this boundary, which [Boundary] has returned. The Reader uses a 256 KiB
// buffer from a pool until Close.
func NewReader(r io.Reader, boundary string, lim MultipartLimits) *Reader {
	lim = MultipartLimits{Parts: cmp.Or(lim.Parts, 1000), Fields: cmp.Or(lim.Fields, 8<<20)}
	src := buffers.Get().(*bufio.Reader)
	src.Reset(r)
	return &Reader{src: src, lim: lim, delimiter: []byte("\r\n--" + boundary)}
}

// Close returns the buffer to the pool. It doesn't close the underlying reader.
func (r *Reader) Close() {
	if r.src != nil {
		r.src.Reset(nil)
		buffers.Put(r.src)
	}
	r.src, r.part, r.fail = nil, nil, errClosed
}

// Next skips the rest of the current part and returns the next part. After the final boundary, it returns io.EOF and
// doesn't read the epilogue. Invalid framing, a malformed part header, or a missing final boundary is a
// *MalformedError. Too many parts or bytes of fields are a *LimitError. Errors from the underlying reader are
// wrapped. After an error, every call returns the same error.
func (r *Reader) Next() (*Part, error) {
	if r.fail == nil {
		r.part, r.fail = r.next()
	}
	return r.part, r.fail
}

func (r *Reader) next() (*Part, error) {
	if r.part != nil {
		if _, err := r.part.WriteTo(io.Discard); err != nil {
			return nil, err
		}
	}
	if err := r.boundaryLine(); err != nil {
		return nil, err
	}
	if r.parts == r.lim.Parts {
		return nil, &LimitError{Counted: "parts", Limit: int64(r.lim.Parts)}
	}
	r.parts++
	return r.header()
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
		line, err := r.src.ReadSlice('\n')
		final, is := r.isBoundary(line)
		switch {
		case is && final && (err == nil || err == io.EOF):
			return io.EOF
		case errors.Is(err, bufio.ErrBufferFull):
			return r.malformed("A line between the parts of the request body is too long, after part %d.")
		case err != nil:
			return r.readError(err)
		case is:
			return nil
		case r.parts == 0: // skip the preamble
		case !skipped && bytes.Equal(line, r.newline()):
			// The line break before a boundary is part of the boundary.
			skipped = true
		default:
			return r.malformed("The boundary line after part %d is malformed.")
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

// readError returns the error for a body that can't be read further. If the body ended before its final boundary,
// that is a *MalformedError.
func (r *Reader) readError(err error) error {
	if err != io.EOF {
		return fmt.Errorf("read multipart body at part %d: %w", r.parts, err)
	}
	if r.parts == 0 {
		return &MalformedError{"The request body ends before its first part."}
	}
	return r.malformed("The request body ends inside or after part %d, before the final boundary.")
}

// malformed returns an error whose reason contains the number of the current part. args are for the verbs after it.
func (r *Reader) malformed(format string, args ...any) error {
	return &MalformedError{fmt.Sprintf(format, append([]any{r.parts}, args...)...)}
}
