package sandbox

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// docReadError reports that the parent could not read the document. The store is to blame, not the
// document.
type docReadError struct{ cause error }

func (e *docReadError) Error() string { return "read document: " + e.cause.Error() }
func (e *docReadError) Unwrap() error { return e.cause }

// workerError is an error reported by a worker. docErr is the document error, or nil if the worker
// itself failed.
type workerError struct {
	text   string
	docErr error
}

func (e *workerError) Error() string { return "document could not be opened: " + e.text }
func (e *workerError) Unwrap() error { return e.docErr }

// result collects the data that a worker sends about one document. Its methods return protocol
// errors, or a *callbackError.
type result interface {
	// reset is called before each attempt.
	reset()
	// add handles one frame. It is not called for reads or for the last frame. discard reports that
	// the parent could not read the document, so the content must not be used.
	add(kind byte, content []byte, discard bool) error
	// finish handles the last frame.
	finish(d taskDone) error
}

// exchange is the parent's side of the protocol for one task.
type exchange struct {
	w       io.Writer
	r       *bufio.Reader
	doc     io.ReaderAt
	size    int64
	budget  int64 // number of bytes that the worker may still read
	readErr error // why the parent could not read the document, or nil
	buf     []byte
}

// readBudget returns the total number of bytes that a worker may read from a document of the given
// size. It allows several passes over a valid document but stops endless reading.
func readBudget(size int64) int64 { return 32*size + 256<<20 }

// minReadCost is the number of bytes by which even the smallest read reduces the read budget.
const minReadCost = 4 << 10

// runTask sends a task and serves the worker's reads until the worker has finished. retire reports
// that the worker wants to be replaced. Errors are a *docReadError, *workerError, or
// *callbackError. Any other error means that the worker has exited or violated the protocol and
// must not be used again.
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
				return false, protocolError("%d unexpected bytes after the last frame", r.Buffered()) // not part of the next result
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

// handleRead responds to one read request. An error means that the worker must not be used again.
func (e *exchange) handleRead(content []byte) error {
	ranges, sum, err := decodeRead(content, e.size)
	if err != nil {
		return err
	}
	if e.budget -= int64(max(sum, minReadCost)); e.budget < 0 {
		return protocolError("too many read requests")
	}
	if cap(e.buf) < headerSize+sum {
		e.buf = make([]byte, headerSize+blockSize)
	}
	frame := e.buf[:headerSize+sum]
	rest := frame[headerSize:]
	for _, p := range ranges {
		if err := e.read(rest[:p.length], p.offset); err != nil {
			e.readErr = cmp.Or(e.readErr, err)
			return writeFrame(e.w, frameUnreadable, nil)
		}
		rest = rest[p.length:]
	}
	_, err = e.w.Write(putHeader(frame, frameData))
	return err
}

// read fills b with the document's bytes at offset.
func (e *exchange) read(b []byte, offset int64) error {
	n, err := e.doc.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at offset %d: %w", len(b), offset, err)
}

// finish handles the last frame of a task.
func (e *exchange) finish(kind byte, content []byte, a result) (retire bool, err error) {
	if kind == frameError {
		var f taskError
		if err := decode(content, &f); err != nil {
			return false, err
		}
		if _, inspects := a.(*reportResult); inspects && f.Kind != "" {
			return false, protocolError("got error %q instead of a report", f.Kind)
		}
		retire, err = f.Retire, &workerError{f.Text, docErrorByName(f.Kind)}
	} else {
		var d taskDone
		if err := decode(content, &d); err != nil {
			return false, err
		}
		if err := a.finish(d); err != nil {
			return false, err
		}
		retire = d.Retire
	}
	if e.readErr != nil {
		// The worker saw an incomplete document, so its result can't be used.
		return retire, &docReadError{e.readErr}
	}
	return retire, err
}
