package decode

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// errNotCurrent is what a part answers once the reader has gone on.
var errNotCurrent = errors.New("part is no longer the current one")

// Part is one part of a multipart body: what its header says, and its content as a
// stream. It is the reader's current part until the next call of Next or Close.
type Part struct {
	// Number counts from 1.
	Number int
	// Name is the name of the form field, as sent, never empty.
	Name string
	// Filename is the name sent for a file, decoded by API.md's rules but not cut: it may
	// be empty and may hold a path. [Filename] makes the label of it.
	Filename string
	// HasFilename tells an empty filename from none.
	HasFilename bool
	// ContentType is the header of that name, as sent; empty when there is none.
	ContentType string

	r      *Reader
	isFile bool
	begun  bool // some content has been seen
	ended  bool // after the window the content ends
	window int  // r.buf[r.pos:r.pos+window] is content
}

// Chunk gives the next slice of content, at least one byte and at most 256 KiB, without
// copying it: it is valid until the next call on the part or its reader. At the end
// of the content it gives io.EOF; errors are those of [Reader.Next].
func (p *Part) Chunk() ([]byte, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.take(p.window), nil
}

// Read is Chunk in pieces of the caller's size.
func (p *Part) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	return copy(b, p.take(min(len(b), p.window))), nil
}

// WriteTo writes what is left of the content in slices as large as they come.
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

// advance sees to it that the window is not empty, reading on where it must; io.EOF
// at the end of the content.
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
		p.window, p.ended = r.content(p.begun)
		if p.window == 0 && !p.ended {
			if r.fail = r.fill(); r.fail != nil {
				return r.fail
			}
		}
		p.begun = p.begun || p.window > 0
		if !p.isFile {
			if r.fields += int64(p.window); r.fields > r.lim.Fields {
				r.fail = &LimitError{Counted: "bytes of fields", Limit: r.lim.Fields}
				return r.fail
			}
		}
	}
	return nil
}

// content measures how much of the buffer is content for certain, and whether the
// content ends there. Neither means that more must be read.
func (r *Reader) content(begun bool) (n int, ended bool) {
	buf := r.buf[r.pos:r.end]
	if !begun {
		// The content may be empty to the point of having no line break of its own.
		switch delimits(buf, r.dashBoundary()) {
		case yes:
			return 0, true
		case unsure:
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
			return len(buf) - beginning(buf[from:], delimiter), false
		}
		from += i
		switch delimits(buf[from:], delimiter) {
		case yes:
			return from, true
		case unsure:
			return from, false
		}
		from += len(delimiter)
	}
}

// beginning is the length of the delimiter's beginning that buf ends with. Only its
// first byte is looked for, as a boundary holds no line breaks.
func beginning(buf, delimiter []byte) int {
	tail := buf[max(0, len(buf)-len(delimiter)+1):]
	i := bytes.LastIndexByte(tail, delimiter[0])
	if i >= 0 && bytes.HasPrefix(delimiter, tail[i:]) {
		return len(tail) - i
	}
	return 0
}

// verdict is whether something is a delimiter: no, yes, or not to be told before
// more has been read.
type verdict int

const (
	no verdict = iota
	yes
	unsure
)

// delimits says whether b begins with the delimiter and with what may follow it: a
// blank, a line break or two hyphens. "--foobar" does not delimit parts of "--foo".
func delimits(b, delimiter []byte) verdict {
	if len(b) <= len(delimiter) {
		if bytes.HasPrefix(delimiter, b) {
			return unsure
		}
		return no
	}
	rest, ok := bytes.CutPrefix(b, delimiter)
	if !ok {
		return no
	}
	switch {
	case strings.IndexByte(blanks, rest[0]) >= 0:
		return yes
	case rest[0] != '-':
		return no
	case len(rest) == 1:
		return unsure
	case rest[1] == '-':
		return yes
	}
	return no
}
