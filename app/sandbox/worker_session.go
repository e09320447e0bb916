package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/document"
)

// session is the worker's side of the protocol after the handshake.
type session struct {
	w      io.Writer
	r      *bufio.Reader
	engine *engine
}

// run runs one task and writes its last frame. An error means that the connection to the parent is
// broken.
func (s *session) run(ctx context.Context, t task) error {
	doc := newRemoteDoc(s.w, s.r, t.Size)
	var done taskDone
	var err error
	switch t.Task {
	case taskInspect:
		done, err = s.inspect(ctx, doc, t)
	case taskImage:
		err = s.image(ctx, doc, t)
	case taskText:
		err = s.text(ctx, doc, t)
	case taskSizes:
		err = s.sizes(ctx, doc, t)
	case taskMarks:
		err = s.marks(ctx, doc, t)
	case taskWords:
		err = s.words(ctx, doc, t)
	case taskOCR:
		done, err = s.read(ctx, doc, t)
	case taskRunsheet:
		err = s.runsheet(doc, t)
	case taskSearchable:
		err = s.searchable(ctx, doc, t)
	case taskAssemble:
		err = s.assemble(ctx, doc, t)
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
		return writeMessage(s.w, frameError, taskError{Kind: docErrorName(err), Text: printable(err.Error()), Retire: s.needsRestart(t)})
	}
	done.Retire = s.needsRestart(t)
	return writeMessage(s.w, frameDone, done)
}

// maxIdleMemory is the maximum memory, in bytes, that a worker may use after a document. If it uses
// more, it is replaced, so that the next document has the full limit.
const maxIdleMemory = 256 << 20

// needsRestart reports whether the worker should be replaced. Its own memory is not checked after
// an inspection, which uses hardly any outside PDFium.
func (s *session) needsRestart(t task) bool {
	return s.engine.needsRestart() || t.Task != taskInspect && ownMemory() > maxIdleMemory
}

// writeError reports that a frame could not be written.
type writeError struct{ cause error }

func (e *writeError) Error() string { return e.cause.Error() }

func (s *session) write(kind byte, content []byte) error {
	if err := writeFrame(s.w, kind, content); err != nil {
		return &writeError{err}
	}
	return nil
}

// send writes a message as JSON.
func (s *session) send(kind byte, message any) error {
	if err := writeMessage(s.w, kind, message); err != nil {
		return &writeError{err}
	}
	return nil
}

func (s *session) inspect(ctx context.Context, doc io.ReaderAt, t task) (taskDone, error) {
	report, err := document.Inspect(ctx, doc, t.Size, t.Ext, s.engine, t.Limits)
	return taskDone{MIME: report.MIME, Pages: report.Pages, Rejection: report.Rejection}, err
}

func (s *session) source(doc io.ReaderAt, t task) document.Source {
	return document.Source{Doc: doc, Size: t.Size - t.Appended, MIME: t.MIME, PDF: s.engine}
}

func (s *session) image(ctx context.Context, doc io.ReaderAt, t task) error {
	p, err := document.PageImage(ctx, s.source(doc, t), t.Page, t.Width, t.Extract)
	if err != nil {
		return err
	}
	header := imageHeader{MIME: p.MIME, Width: p.Width, Height: p.Height, Size: len(p.Bytes)}
	if header.Size > maxImageBytes || header.Height > maxImageSide {
		return document.ErrTooLarge
	}
	if err := s.send(frameImage, header); err != nil {
		return err
	}
	for chunk := range slices.Chunk(p.Bytes, imageChunkSize) {
		if err := s.write(frameImageChunk, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) text(ctx context.Context, doc io.ReaderAt, t task) error {
	sent := int64(0)
	return document.Text(ctx, s.source(doc, t), t.Extract, func(page int, text string) error {
		text = truncate(strings.Map(cleanRune, strings.ToValidUTF8(text, "\uFFFD")), min(t.Extract.MaxPageTextBytes, t.Extract.MaxTextBytes-sent))
		sent += int64(len(text))
		return s.write(frameText, append(binary.BigEndian.AppendUint32(nil, uint32(page)), text...))
	})
}

// truncate shortens s to at most limit bytes without splitting a character.
func truncate(s string, limit int64) string {
	if int64(len(s)) <= limit {
		return s
	}
	n := max(limit, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
