package sandbox

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// docReadError is a document that the parent could not read: nobody's fault
// but the store's.
type docReadError struct{ cause error }

func (e *docReadError) Error() string { return "read document: " + e.cause.Error() }
func (e *docReadError) Unwrap() error { return e.cause }

// workerError is trouble that a child reports instead of a verdict: a finding
// about the document, or, without one, its own.
type workerError struct {
	text   string
	docErr error
}

func (e *workerError) Error() string { return "document could not be opened: " + e.text }
func (e *workerError) Unwrap() error { return e.docErr }

// result takes what a child says about one document. Its errors are breaches,
// but for *callbackError.
type result interface {
	// reset is called before each attempt.
	reset()
	// add has one frame that is no ask and no end. lost says that the parent
	// could not read the document: what comes is not to be used.
	add(kind byte, content []byte, lost bool) error
	// finish has the last frame.
	finish(d taskDone) error
}

// exchange is one document between parent and child.
type exchange struct {
	w       io.Writer
	r       *bufio.Reader
	doc     io.ReaderAt
	size    int64
	budget  int64 // bytes that may still be asked for
	readErr error // why the document could not be read
	buf     []byte
}

// readBudget is how much a child may ask for of a document: an honest one reads
// some of it again, none for ever.
func readBudget(size int64) int64 { return 32*size + 256<<20 }

// minReadCost is what the smallest ask counts.
const minReadCost = 4 << 10

// runTask has one task done: it sends it and answers what the child asks until the
// child is done. retire says that the child wants no more. Errors are
// *docReadError, *workerError, *callbackError, or the child's end or breach,
// after which it cannot be talked to.
func runTask(w io.Writer, r *bufio.Reader, doc io.ReaderAt, t task, a result) (retire bool, err error) {
	if err := writeMessage(w, frameTask, t); err != nil {
		return false, err
	}
	c := &exchange{w: w, r: r, doc: doc, size: t.Size, budget: readBudget(t.Size)}
	var in []byte
	for {
		kind, content, err := readFrame(r, &in)
		if err != nil {
			return false, err
		}
		switch kind {
		case frameRead:
			err = c.handleRead(content)
		case frameDone, frameError:
			if r.Buffered() > 0 {
				return false, protocolError("%d bytes after the end", r.Buffered()) // they would answer for the next document
			}
			return c.finish(kind, content, a)
		default:
			err = a.add(kind, content, c.readErr != nil)
		}
		if err != nil {
			return false, err
		}
	}
}

// handleRead answers one ask. The error is why the child cannot be talked to.
func (c *exchange) handleRead(content []byte) error {
	parts, sum, err := decodeRead(content, c.size)
	if err != nil {
		return err
	}
	if c.budget -= int64(max(sum, minReadCost)); c.budget < 0 {
		return protocolError("asks without end")
	}
	if cap(c.buf) < headerSize+sum {
		c.buf = make([]byte, headerSize+blockSize)
	}
	frame := c.buf[:headerSize+sum]
	rest := frame[headerSize:]
	for _, p := range parts {
		if err := c.read(rest[:p.length], p.offset); err != nil {
			c.readErr = cmp.Or(c.readErr, err)
			return writeFrame(c.w, frameUnreadable, nil)
		}
		rest = rest[p.length:]
	}
	_, err = c.w.Write(putHeader(frame, frameData))
	return err
}

// read fills b from the document.
func (c *exchange) read(b []byte, offset int64) error {
	n, err := c.doc.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%d bytes at %d: %w", len(b), offset, err)
}

// finish reads the last frame of a document.
func (c *exchange) finish(kind byte, content []byte, a result) (retire bool, err error) {
	if kind == frameError {
		var f taskError
		if err := decode(content, &f); err != nil {
			return false, err
		}
		if err := f.check(); err != nil {
			return false, err
		}
		if _, inspects := a.(*reportResult); inspects && f.Kind != "" {
			return false, protocolError("%s instead of a verdict", f.Kind)
		}
		retire, err = f.Retire, &workerError{f.Text, docErrorByName(f.Kind)}
	} else {
		var d taskDone
		if err := decode(content, &d); err != nil {
			return false, err
		}
		if err := d.check(); err != nil {
			return false, err
		}
		if err := a.finish(d); err != nil {
			return false, err
		}
		retire = d.Retire
	}
	if c.readErr != nil {
		// Whatever the child made of the gap, it is no verdict.
		return retire, &docReadError{c.readErr}
	}
	return retire, err
}
