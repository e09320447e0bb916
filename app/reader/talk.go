package reader

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"deedkeep/app/inspect"
)

// documentError is a document that the parent could not read: nobody's fault
// but the store's.
type documentError struct{ cause error }

func (e *documentError) Error() string { return "read document: " + e.cause.Error() }
func (e *documentError) Unwrap() error { return e.cause }

// faultError is trouble that a child reports instead of a verdict.
type faultError struct{ text string }

func (e *faultError) Error() string { return "document could not be opened: " + e.text }

// talk has one document inspected: it sends the task and answers what the child
// asks until the child is done. retire says that the child wants no more. Errors
// are *documentError, *faultError, or the child's end or breach, after which it
// cannot be talked to.
func talk(w io.Writer, r *bufio.Reader, doc io.ReaderAt, t task) (report inspect.Report, retire bool, err error) {
	if err := writeMessage(w, frameTask, t); err != nil {
		return inspect.Report{}, false, err
	}
	var lost error
	var in, out []byte
	for {
		kind, content, err := readFrame(r, &in)
		if err != nil {
			return inspect.Report{}, false, err
		}
		switch kind {
		case frameAsk:
			failed, err := reply(w, doc, t.Size, content, &out)
			if err != nil {
				return inspect.Report{}, false, err
			}
			if lost == nil {
				lost = failed
			}
		case frameDone, frameFault:
			report, retire, err := ending(kind, content)
			if lost != nil && !errors.Is(err, errBreach) {
				// Whatever the child made of the gap, it is no verdict.
				return inspect.Report{}, retire, &documentError{lost}
			}
			return report, retire, err
		default:
			return inspect.Report{}, false, breach("frame %q while a document is open", kind)
		}
	}
}

// reply answers one ask. failed is why the document could not be read, err why
// the child cannot be talked to.
func reply(w io.Writer, doc io.ReaderAt, size int64, content []byte, out *[]byte) (failed, err error) {
	offset, length, err := decodeAsk(content, size)
	if err != nil {
		return nil, err
	}
	if cap(*out) < headerSize+length {
		*out = make([]byte, headerSize+blockSize)
	}
	frame := (*out)[:headerSize+length]
	n, failed := doc.ReadAt(frame[headerSize:], offset)
	if n == length {
		_, err = w.Write(sealFrame(frame, frameBlock))
		return nil, err
	}
	if failed == nil || errors.Is(failed, io.EOF) {
		failed = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%d bytes at %d: %w", length, offset, failed), writeFrame(w, frameLost, nil)
}

// ending reads the last frame of a document.
func ending(kind byte, content []byte) (report inspect.Report, retire bool, err error) {
	if kind == frameFault {
		var f fault
		if err := decode(content, &f); err != nil {
			return inspect.Report{}, false, err
		}
		if err := f.check(); err != nil {
			return inspect.Report{}, false, err
		}
		return inspect.Report{}, f.Retire, &faultError{f.Text}
	}
	var d done
	if err := decode(content, &d); err != nil {
		return inspect.Report{}, false, err
	}
	if err := d.check(); err != nil {
		return inspect.Report{}, false, err
	}
	return inspect.Report{MIME: d.MIME, Pages: d.Pages, Refusal: d.Refusal}, d.Retire, nil
}
