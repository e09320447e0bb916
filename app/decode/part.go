package decode

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// errNotCurrent is returned if a part is used after its reader has moved to the next part.
var errNotCurrent = errors.New("part is no longer the current one")

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
	// ContentType is the Content-Type header as sent. It is "" if the part has none.
	ContentType string

	r       *Reader
	isFile  bool
	started bool // some content has been read
	ended   bool // the content ends after the window
	window  int  // number of bytes at the start of the unconsumed buffer (r.buf[r.pos:]) that are content
}

// Chunk returns the next slice of content without copying it. The slice has 1 byte to 256 KiB and is valid until the
// next call on the part or its reader. At the end of the content, Chunk returns io.EOF. Its other errors are the same
// as those of [Reader.Next].
func (p *Part) Chunk() ([]byte, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.take(p.window), nil
}

// Read implements io.Reader.
func (p *Part) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	return copy(b, p.take(min(len(b), p.window))), nil
}

// WriteTo writes the rest of the content to w without copying it.
func (p *Part) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for {
		b, err := p.Chunk()
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		n, err := w.Write(b)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
}

// discard reads the content to its end.
func (p *Part) discard() (int64, error) { return p.WriteTo(io.Discard) }

func (p *Part) take(n int) []byte {
	b := p.r.buf[p.r.pos : p.r.pos+n : p.r.pos+n]
	p.r.pos += n
	p.window -= n
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
		p.window, p.ended = r.content(p.started)
		if p.window == 0 && !p.ended {
			if r.fail = r.fill(); r.fail != nil {
				return r.fail
			}
		}
		p.started = p.started || p.window > 0
		if !p.isFile {
			if r.fields += int64(p.window); r.fields > r.lim.Fields {
				r.fail = &LimitError{Counted: "bytes of fields", Limit: r.lim.Fields}
				return r.fail
			}
		}
	}
	return nil
}

// content returns the number of bytes at the start of the buffer that are definitely content, and whether the content
// ends after them. If it returns 0 and false, the caller must read more.
func (r *Reader) content(started bool) (n int, ended bool) {
	buf := r.buf[r.pos:r.end]
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
	if len(b) <= len(delimiter) {
		if bytes.HasPrefix(delimiter, b) {
			return undecided
		}
		return noMatch
	}
	rest, ok := bytes.CutPrefix(b, delimiter)
	if !ok {
		return noMatch
	}
	switch {
	case strings.IndexByte(blanks, rest[0]) >= 0:
		return match
	case rest[0] != '-':
		return noMatch
	case len(rest) == 1:
		return undecided
	case rest[1] == '-':
		return match
	}
	return noMatch
}
