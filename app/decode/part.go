package decode

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// errNotCurrent is the error of a part after its reader has moved on.
var errNotCurrent = errors.New("part is no longer the current one")

// Part is one part of a multipart body: its header, and its content as a stream. It is the current part until the next
// call of Next or Close.
type Part struct {
	// Number counts from 1.
	Number int
	// Name is the name of the form field, as sent, never empty.
	Name string
	// Filename is the decoded filename. It may be empty and may contain a path; function [Filename] turns it into a label.
	Filename string
	// HasFilename distinguishes an empty filename from a missing one.
	HasFilename bool
	// ContentType is the header of that name, as sent; "" if missing.
	ContentType string

	r       *Reader
	isFile  bool
	started bool // some content was read
	ended   bool // the content ends after the window
	window  int  // r.buf[r.pos:r.pos+window] is content
}

// Chunk returns the next slice of content, 1 byte to 256 KiB, without copying it. The slice is valid until the next
// call on the part or its reader. At the end of the content it returns io.EOF; other errors are those of
// [Reader.Next].
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

// WriteTo writes the rest of the content without copying it.
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

// advance reads until the window is not empty; io.EOF at the end of the content.
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

// content returns how many bytes at the start of the buffer are certainly content, and whether the content ends there.
// If neither, more must be read.
func (r *Reader) content(started bool) (n int, ended bool) {
	buf := r.buf[r.pos:r.end]
	if !started {
		// Empty content may lack even the line break before the boundary.
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

// partialDelimiter returns the length of the longest start of the delimiter at the end of buf. It searches only for the first
// byte, because a boundary contains no line breaks.
func partialDelimiter(buf, delimiter []byte) int {
	tail := buf[max(0, len(buf)-len(delimiter)+1):]
	i := bytes.LastIndexByte(tail, delimiter[0])
	if i >= 0 && bytes.HasPrefix(delimiter, tail[i:]) {
		return len(tail) - i
	}
	return 0
}

// delimiterMatch says whether bytes are a delimiter; undecided means that more must be read to decide.
type delimiterMatch int

const (
	noMatch delimiterMatch = iota
	match
	undecided
)

// matchDelimiter reports whether b starts with the delimiter followed by a blank, a line break, or two hyphens. "--foobar"
// is not a delimiter of "--foo".
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
