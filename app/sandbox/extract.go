package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"deedkeep/app/document"
)

// dialog is the child's side of one task.
type dialog struct {
	w io.Writer
	r *bufio.Reader
	e *engine
}

// work does one task and writes its last frame. An error means that the parent
// cannot be talked to.
func (d *dialog) work(ctx context.Context, t task) error {
	doc := newBlocks(d.w, d.r, t.Size)
	var verdict done
	var err error
	switch t.Task {
	case taskInspect:
		verdict, err = d.inspect(ctx, doc, t)
	case taskPicture:
		err = d.picture(ctx, doc, t)
	case taskText:
		err = d.text(ctx, doc, t)
	case taskSizes:
		err = d.sizes(ctx, doc, t)
	case taskMarks:
		err = d.marks(ctx, doc, t)
	default:
		return breach("task %q", t.Task)
	}
	var broken *pipeError
	switch {
	case doc.broken != nil:
		return doc.broken
	case errors.As(err, &broken):
		return broken.cause
	case err != nil:
		return writeMessage(d.w, frameFault, fault{Kind: kindOf(err), Text: printable(err.Error()), Retire: d.worn(t)})
	}
	verdict.Retire = d.worn(t)
	return writeMessage(d.w, frameDone, verdict)
}

// wornResident is the memory of the whole child above which it is replaced: what
// it holds already is not to be held against the next document.
const wornResident = 256 << 20

// worn reports whether the child should be replaced. An inspection takes no
// memory to speak of but PDFium's.
func (d *dialog) worn(t task) bool {
	return d.e.worn() || t.Task != taskInspect && ownMemory() > wornResident
}

// pipeError is a frame that could not be written.
type pipeError struct{ cause error }

func (e *pipeError) Error() string { return e.cause.Error() }

func (d *dialog) write(kind byte, content []byte) error {
	if err := writeFrame(d.w, kind, content); err != nil {
		return &pipeError{err}
	}
	return nil
}

func (d *dialog) inspect(ctx context.Context, doc io.ReaderAt, t task) (done, error) {
	report, err := document.Inspect(ctx, doc, t.Size, t.Ext, inspector{d.e}, t.Limits)
	return done{MIME: report.MIME, Pages: report.Pages, Refusal: report.Rejection}, err
}

func (d *dialog) source(doc io.ReaderAt, t task) document.Source {
	return document.Source{Doc: doc, Size: t.Size, MIME: t.MIME, PDF: d.e}
}

func (d *dialog) picture(ctx context.Context, doc io.ReaderAt, t task) error {
	p, err := document.PageImage(ctx, d.source(doc, t), t.Page, t.Width, t.Extract)
	if err != nil {
		return err
	}
	head := image{MIME: p.MIME, Width: p.Width, Height: p.Height, Size: len(p.Bytes)}
	if head.Size > mostPicture || head.Height > mostSide {
		return document.ErrTooLarge
	}
	if err := writeMessage(d.w, frameImage, head); err != nil {
		return &pipeError{err}
	}
	for rest := p.Bytes; len(rest) > 0; {
		n := min(len(rest), pieceSize)
		if err := d.write(framePiece, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (d *dialog) text(ctx context.Context, doc io.ReaderAt, t task) error {
	sum := int64(0)
	return document.Text(ctx, d.source(doc, t), t.Extract, func(page int, text string) error {
		text = cut(strings.Map(clean, strings.ToValidUTF8(text, "\uFFFD")), min(t.Extract.MaxPageTextBytes, t.Extract.MaxTextBytes-sum))
		sum += int64(len(text))
		return d.write(frameText, append(binary.BigEndian.AppendUint32(nil, uint32(page)), text...))
	})
}

// cut shortens s to at most so many bytes, between two characters.
func cut(s string, most int64) string {
	if int64(len(s)) <= most {
		return s
	}
	n := max(most, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
