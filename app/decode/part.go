package decode

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// errNotCurrent is returned if a part is used after its reader has moved to the next part.
var errNotCurrent = errors.New("part is no longer current")

// Part is one part of a multipart body. It contains the header and reads the content as a stream. It can be used
// until the next call of Next or Close.
type Part struct {
	// Number is the number of the part, starting at 1.
	Number int
	// Name is the name of the form field as sent. It is never empty.
	Name string
	// Filename is the decoded filename. It may be empty and may contain a path. The function [Filename] converts it
	// to a label.
	Filename string
	// HasFilename is true if the part has a filename, even an empty one.
	HasFilename bool
	// Copy, if not nil, receives the content as it is read, including skipped content. Its Write must not fail.
	Copy io.Writer

	r       *Reader
	started bool // some content has been read
	ended   bool // the content ends after the window
	window  int  // number of bytes at the start of the buffer that are content
}

// IsEmpty reports whether the rest of the content is empty.
func (p *Part) IsEmpty() (bool, error) {
	err := p.advance()
	if err == io.EOF {
		return true, nil
	}
	return false, err
}

// Read implements io.Reader. At the end of the content, it returns io.EOF. Its other errors are the same as those of
// [Reader.Next].
func (p *Part) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	n := copy(b, p.take(len(b)))
	return n, nil
}

// WriteTo writes the rest of the content to w without copying it.
func (p *Part) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for {
		switch err := p.advance(); {
		case err == io.EOF:
			return total, nil
		case err != nil:
			return total, err
		}
		n, err := w.Write(p.take(p.window))
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
}

// take consumes up to n bytes of the window. The returned slice is valid until the next read.
func (p *Part) take(n int) []byte {
	b, _ := p.r.src.Peek(min(n, p.window))
	_, _ = p.r.src.Discard(len(b)) // the bytes are in the buffer
	p.window -= len(b)
	if p.Copy != nil {
		_, _ = p.Copy.Write(b)
	}
	return b
}

// advance reads until the window is not empty. It returns io.EOF at the end of the content.
func (p *Part) advance() error {
	r := p.r
	if r.part != p {
		return errNotCurrent
	}
	for p.window == 0 {
		if r.fail != nil {
			return r.fail
		}
		if p.ended {
			return io.EOF
		}
		buffered, _ := r.src.Peek(r.src.Buffered())
		p.window, p.ended = r.content(buffered, p.started)
		if p.window == 0 && !p.ended {
			if _, err := r.src.Peek(len(buffered) + 1); err != nil {
				r.fail = r.readError(err)
			}
			continue
		}
		p.started = p.started || p.window > 0
		if !IsFileField(p.Name) {
			if r.fields += int64(p.window); r.fields > r.lim.Fields {
				r.fail = &LimitError{Counted: "bytes of fields", Limit: r.lim.Fields}
				return r.fail
			}
		}
	}
	return nil
}

// content returns the number of bytes at the start of buf that are definitely content, and whether the content ends
// after them. If it returns 0 and false, the caller must read more.
func (r *Reader) content(buf []byte, started bool) (n int, ended bool) {
	if !started {
		// If the content is empty, even the line break before the boundary may be missing.
		switch matchDelimiter(buf, r.dashBoundary()) {
		case match:
			return 0, true
		case undecided:
			return 0, false
		}
	}
	delimiter := r.delimiter
	if r.bareLF {
		delimiter = delimiter[1:]
	}
	for from := 0; ; {
		i := bytes.Index(buf[from:], delimiter)
		if i < 0 {
			return len(buf) - partialDelimiter(buf[from:], delimiter), false
		}
		from += i
		switch matchDelimiter(buf[from:], delimiter) {
		case match:
			return from, true
		case undecided:
			return from, false
		}
		from += len(delimiter)
	}
}

// partialDelimiter returns the length of the longest prefix of the delimiter at the end of buf. It searches only for
// the first byte, a line break, because boundaries contain no line breaks.
func partialDelimiter(buf, delimiter []byte) int {
	tail := buf[max(0, len(buf)-len(delimiter)+1):]
	i := bytes.LastIndexByte(tail, delimiter[0])
	if i >= 0 && bytes.HasPrefix(delimiter, tail[i:]) {
		return len(tail) - i
	}
	return 0
}

// delimiterMatch is the result of comparing bytes with a delimiter. undecided means that more bytes are needed.
type delimiterMatch int

const (
	noMatch delimiterMatch = iota
	match
	undecided
)

// matchDelimiter reports whether b starts with the delimiter, followed by a blank, a line break, or two hyphens. For
// example, "--foobar" doesn't match the delimiter "--foo".
func matchDelimiter(b, delimiter []byte) delimiterMatch {
	rest, ok := bytes.CutPrefix(b, delimiter)
	switch {
	case len(b) <= len(delimiter) && bytes.HasPrefix(delimiter, b), ok && string(rest) == "-":
		return undecided
	case ok && (strings.IndexByte(blanks, rest[0]) >= 0 || bytes.HasPrefix(rest, []byte("--"))):
		return match
	}
	return noMatch
}
