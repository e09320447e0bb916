package sandbox

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// documentError is a document that the parent could not read: nobody's fault
// but the store's.
type documentError struct{ cause error }

func (e *documentError) Error() string { return "read document: " + e.cause.Error() }
func (e *documentError) Unwrap() error { return e.cause }

// faultError is trouble that a child reports instead of a verdict: a finding
// about the document, or, without one, its own.
type faultError struct {
	text    string
	finding error
}

func (e *faultError) Error() string { return "document could not be opened: " + e.text }
func (e *faultError) Unwrap() error { return e.finding }

// answer takes what a child says about one document. Its errors are breaches,
// but for *receiverError.
type answer interface {
	// begin is called before each attempt.
	begin()
	// take has one frame that is no ask and no end. lost says that the parent
	// could not read the document: what comes is not to be used.
	take(kind byte, content []byte, lost bool) error
	// end has the last frame.
	end(d done) error
}

// conversation is one document between parent and child.
type conversation struct {
	w      io.Writer
	r      *bufio.Reader
	doc    io.ReaderAt
	size   int64
	left   int64 // bytes that may still be asked for
	lost   error // why the document could not be read
	blocks []byte
}

// allowed is how much a child may ask for of a document: an honest one reads
// some of it again, none for ever.
func allowed(size int64) int64 { return 32*size + 256<<20 }

// leastAsk is what the smallest ask counts.
const leastAsk = 4 << 10

// talk has one task done: it sends it and answers what the child asks until the
// child is done. retire says that the child wants no more. Errors are
// *documentError, *faultError, *receiverError, or the child's end or breach,
// after which it cannot be talked to.
func talk(w io.Writer, r *bufio.Reader, doc io.ReaderAt, t task, a answer) (retire bool, err error) {
	if err := writeMessage(w, frameTask, t); err != nil {
		return false, err
	}
	c := &conversation{w: w, r: r, doc: doc, size: t.Size, left: allowed(t.Size)}
	var in []byte
	for {
		kind, content, err := readFrame(r, &in)
		if err != nil {
			return false, err
		}
		switch kind {
		case frameAsk:
			err = c.reply(content)
		case frameDone, frameFault:
			if r.Buffered() > 0 {
				return false, breach("%d bytes after the end", r.Buffered()) // they would answer for the next document
			}
			return c.ending(kind, content, a)
		default:
			err = a.take(kind, content, c.lost != nil)
		}
		if err != nil {
			return false, err
		}
	}
}

// reply answers one ask. The error is why the child cannot be talked to.
func (c *conversation) reply(content []byte) error {
	parts, sum, err := decodeAsk(content, c.size)
	if err != nil {
		return err
	}
	if c.left -= int64(max(sum, leastAsk)); c.left < 0 {
		return breach("asks without end")
	}
	if cap(c.blocks) < headerSize+sum {
		c.blocks = make([]byte, headerSize+blockSize)
	}
	frame := c.blocks[:headerSize+sum]
	rest := frame[headerSize:]
	for _, p := range parts {
		if err := c.read(rest[:p.length], p.offset); err != nil {
			c.lost = cmp.Or(c.lost, err)
			return writeFrame(c.w, frameLost, nil)
		}
		rest = rest[p.length:]
	}
	_, err = c.w.Write(sealFrame(frame, frameBlock))
	return err
}

// read fills b from the document.
func (c *conversation) read(b []byte, offset int64) error {
	n, err := c.doc.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%d bytes at %d: %w", len(b), offset, err)
}

// ending reads the last frame of a document.
func (c *conversation) ending(kind byte, content []byte, a answer) (retire bool, err error) {
	if kind == frameFault {
		var f fault
		if err := decode(content, &f); err != nil {
			return false, err
		}
		if err := f.check(); err != nil {
			return false, err
		}
		if _, inspects := a.(*verdictAnswer); inspects && f.Kind != "" {
			return false, breach("%s instead of a verdict", f.Kind)
		}
		retire, err = f.Retire, &faultError{f.Text, findingOf(f.Kind)}
	} else {
		var d done
		if err := decode(content, &d); err != nil {
			return false, err
		}
		if err := d.check(); err != nil {
			return false, err
		}
		if err := a.end(d); err != nil {
			return false, err
		}
		retire = d.Retire
	}
	if c.lost != nil {
		// Whatever the child made of the gap, it is no verdict.
		return retire, &documentError{c.lost}
	}
	return retire, err
}
