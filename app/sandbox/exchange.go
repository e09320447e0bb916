package sandbox

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// docReadError reports that the parent could not read the document, which is the fault of the
// store.
type docReadError struct{ cause error }

func (e *docReadError) Error() string { return "read document: " + e.cause.Error() }
func (e *docReadError) Unwrap() error { return e.cause }

// workerError is an error that a worker reports: docErr is a document error, or nil for an
// error of the worker.
type workerError struct {
	text   string
	docErr error
}

func (e *workerError) Error() string { return "document could not be opened: " + e.text }
func (e *workerError) Unwrap() error { return e.docErr }

// result collects what a worker sends about one document. Its methods return protocol errors,
// or a *callbackError.
type result interface {
	// reset is called before each attempt.
	reset()
	// add handles one frame other than a read or the last one. discard reports that the parent
	// could not read the document, so the content must not be used.
	add(kind byte, content []byte, discard bool) error
	// finish handles the last frame.
	finish(d taskDone) error
}

// exchange is the parent's side of one task.
type exchange struct {
	w       io.Writer
	r       *bufio.Reader
	doc     io.ReaderAt
	size    int64
	budget  int64 // bytes that the worker may still read
	readErr error // why the document could not be read
	buf     []byte
}

// readBudget returns how much a worker may read of a document in total: a valid document is
// read several times, but not endlessly.
func readBudget(size int64) int64 { return 32*size + 256<<20 }

// minReadCost is the minimum amount charged for a read.
const minReadCost = 4 << 10

// runTask sends a task and serves the worker's reads until it has finished. retire reports that
// the worker wants to be replaced. Errors are a *docReadError, *workerError, or *callbackError.
// Any other error means that the worker has ended or violated the protocol, and can't be used
// again.
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
				return false, protocolError("%d bytes after the end", r.Buffered()) // they would be taken for the next document's
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

// handleRead answers one read. An error means that the worker can't be used again.
func (c *exchange) handleRead(content []byte) error {
	ranges, sum, err := decodeRead(content, c.size)
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
	for _, p := range ranges {
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

// finish handles the last frame.
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
		// The worker saw an incomplete document, so its result is invalid.
		return retire, &docReadError{c.readErr}
	}
	return retire, err
}
