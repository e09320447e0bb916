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

// session is the child's side of one task.
type session struct {
	w      io.Writer
	r      *bufio.Reader
	engine *engine
}

// run does one task and writes its last frame. An error means that the parent
// cannot be talked to.
func (d *session) run(ctx context.Context, t task) error {
	doc := newRemoteDoc(d.w, d.r, t.Size)
	var verdict taskDone
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
		return protocolError("task %q", t.Task)
	}
	var broken *writeError
	switch {
	case doc.err != nil:
		return doc.err
	case errors.As(err, &broken):
		return broken.cause
	case err != nil:
		return writeMessage(d.w, frameError, taskError{Kind: docErrorName(err), Text: printable(err.Error()), Retire: d.needsRestart(t)})
	}
	verdict.Retire = d.needsRestart(t)
	return writeMessage(d.w, frameDone, verdict)
}

// maxIdleMemory is the memory of the whole child above which it is replaced: what
// it holds already is not to be held against the next document.
const maxIdleMemory = 256 << 20

// needsRestart reports whether the child should be replaced. An inspection takes no
// memory to speak of but PDFium's.
func (d *session) needsRestart(t task) bool {
	return d.engine.needsRestart() || t.Task != taskInspect && ownMemory() > maxIdleMemory
}

// writeError is a frame that could not be written.
type writeError struct{ cause error }

func (e *writeError) Error() string { return e.cause.Error() }

func (d *session) write(kind byte, content []byte) error {
	if err := writeFrame(d.w, kind, content); err != nil {
		return &writeError{err}
	}
	return nil
}

func (d *session) inspect(ctx context.Context, doc io.ReaderAt, t task) (taskDone, error) {
	report, err := document.Inspect(ctx, doc, t.Size, t.Ext, d.engine, t.Limits)
	return taskDone{MIME: report.MIME, Pages: report.Pages, Refusal: report.Rejection}, err
}

func (d *session) source(doc io.ReaderAt, t task) document.Source {
	return document.Source{Doc: doc, Size: t.Size, MIME: t.MIME, PDF: d.engine}
}

func (d *session) picture(ctx context.Context, doc io.ReaderAt, t task) error {
	p, err := document.PageImage(ctx, d.source(doc, t), t.Page, t.Width, t.Extract)
	if err != nil {
		return err
	}
	head := imageHeader{MIME: p.MIME, Width: p.Width, Height: p.Height, Size: len(p.Bytes)}
	if head.Size > maxImageBytes || head.Height > maxImageSide {
		return document.ErrTooLarge
	}
	if err := writeMessage(d.w, frameImage, head); err != nil {
		return &writeError{err}
	}
	for rest := p.Bytes; len(rest) > 0; {
		n := min(len(rest), imageChunkSize)
		if err := d.write(frameImageChunk, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (d *session) text(ctx context.Context, doc io.ReaderAt, t task) error {
	sum := int64(0)
	return document.Text(ctx, d.source(doc, t), t.Extract, func(page int, text string) error {
		text = truncate(strings.Map(cleanRune, strings.ToValidUTF8(text, "\uFFFD")), min(t.Extract.MaxPageTextBytes, t.Extract.MaxTextBytes-sum))
		sum += int64(len(text))
		return d.write(frameText, append(binary.BigEndian.AppendUint32(nil, uint32(page)), text...))
	})
}

// truncate shortens s to at most so many bytes, between two characters.
func truncate(s string, most int64) string {
	if int64(len(s)) <= most {
		return s
	}
	n := max(most, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
