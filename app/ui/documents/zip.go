package documents

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// zipEntry is one document of a zip, in a folder of it or at its top.
type zipEntry struct {
	Folder []string // names of folders as people gave them, the uppermost first
	File   model.File
}

const fileDownloaded = "file.downloaded"

// sendZip sends documents in their order as one zip of that name (without .zip), read
// and sent as they come: nothing of it is kept. Each download is noted when its
// document begins. A document that cannot be read ends the answer in the middle, so
// that nobody takes a part for the whole; before the first byte it is an error.
func (p *Pages) sendZip(w http.ResponseWriter, r *http.Request, who page.Visitor, name string, list []zipEntry) error {
	if len(list) == 0 {
		return &errs.Error{Kind: errs.Conflict, Message: "There are no documents here to download."}
	}
	files := make([]model.File, 0, len(list))
	for _, entry := range list {
		files = append(files, entry.File)
	}
	if err := p.Files.KnownDamage(files...); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": safeName(name) + ".zip"}))
	h.Set("Content-Security-Policy", page.DocumentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	names := zipNames(list)
	z := zip.NewWriter(&recheckingWriter{to: w, again: func() error { return p.checkStillAllowed(w, r) }})
	for i, entry := range list {
		if err := p.addToZip(w, r, z, who, names[i], entry.File); err != nil {
			return p.abortZip(w, r, err, i == 0)
		}
	}
	if err := z.Close(); err != nil {
		return p.abortZip(w, r, err, false)
	}
	return nil
}

// abortZip ends an answer that has begun so that the client sees that it is cut.
func (p *Pages) abortZip(w http.ResponseWriter, r *http.Request, err error, first bool) error {
	if opening := (*openError)(nil); first && errors.As(err, &opening) {
		for _, name := range []string{"Content-Type", "Content-Disposition"} {
			w.Header().Del(name)
		}
		return opening.cause
	}
	switch {
	case r.Context().Err() != nil:
	case errors.Is(err, page.ErrSignIn), errs.KindOf(err) == errs.Forbidden:
		p.Log.InfoContext(r.Context(), "zip is cut off", "error", err, "request_id", page.RequestID(w))
	default:
		p.Log.ErrorContext(r.Context(), "zip is cut off", "error", err, "request_id", page.RequestID(w))
	}
	panic(http.ErrAbortHandler)
}

// recheckBytes is after how many bytes of a zip it is asked again who takes it.
const recheckBytes = 256 << 10

// recheckingWriter passes a long answer on, one stretch after the other, while again allows it.
type recheckingWriter struct {
	to    io.Writer
	again func() error
	left  int // of the stretch
}

func (a *recheckingWriter) Write(b []byte) (int, error) {
	if a.left <= 0 {
		if err := a.again(); err != nil {
			return 0, err
		}
		a.left = recheckBytes
	}
	n, err := a.to.Write(b)
	a.left -= n
	return n, err
}

// checkStillAllowed lets a long answer go on: its session still reads, and it has the time of
// one more stretch.
func (p *Pages) checkStillAllowed(w http.ResponseWriter, r *http.Request) error {
	now, err := p.SessionVisitor(r)
	if err == nil {
		err = page.CheckAccess(now, page.MayRead)
	}
	if err == nil {
		p.SetWriteDeadline(w, recheckBytes)
	}
	return err
}

// openError is a document that could not be opened: nothing of it was sent.
type openError struct{ cause error }

func (e *openError) Error() string { return e.cause.Error() }

func (e *openError) Unwrap() error { return e.cause }

func (p *Pages) addToZip(w http.ResponseWriter, r *http.Request, z *zip.Writer, who page.Visitor, name string, file model.File) error {
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.checkStillAllowed(w, r); err != nil {
		return &openError{err}
	}
	file, content, err := p.Files.Open(ctx, file.ID)
	if err != nil {
		return &openError{err}
	}
	defer content.Close() //nolint:errcheck // it was only read
	p.Events.Note(who.Actor, fileDownloaded, page.FileRecordName(file.ID), map[string]string{"as": "zip"})
	head := &zip.FileHeader{Name: name, Method: zip.Store, Modified: file.CreatedAt.In(p.Zone)}
	if file.MIME == "text/plain" || file.MIME == "image/bmp" {
		head.Method = zip.Deflate // all others are packed already
	}
	out, err := z.CreateHeader(head)
	if err != nil {
		return err
	}
	if n, err := io.Copy(out, content); err != nil || n != file.Size {
		return errors.Join(err, fmt.Errorf("%d of %d bytes of file %d", n, file.Size, file.ID))
	}
	return nil
}
