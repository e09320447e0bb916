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

// zipEntry is a document to include in a ZIP file.
type zipEntry struct {
	Folder []string // folder names, from the top level down; empty for a document at the top level
	File   model.File
}

const fileDownloaded = "file.downloaded"

// sendZip streams documents as a ZIP file called name, to which it appends ".zip". Each document is
// recorded as a download when sendZip starts sending it. If the first document can't be opened,
// sendZip returns the error. If an error occurs later, it aborts the response, so that the client
// doesn't mistake it for complete.
func (p *Pages) sendZip(w http.ResponseWriter, r *http.Request, visitor page.Visitor, name string, list []zipEntry) error {
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
		if err := p.addToZip(w, r, z, visitor, names[i], entry.File); err != nil {
			return p.abortZip(w, r, err, i == 0)
		}
	}
	if err := z.Close(); err != nil {
		return p.abortZip(w, r, err, false)
	}
	return nil
}

// abortZip returns the error if the first document couldn't be opened. Otherwise the response has
// started, and abortZip aborts the connection, so that the client notices that the ZIP file is
// incomplete.
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

// recheckBytes is the number of bytes after which the user's permission is checked again.
const recheckBytes = 256 << 10

// recheckingWriter writes a long response. It calls again after every recheckBytes bytes and stops
// if again returns an error.
type recheckingWriter struct {
	to    io.Writer
	again func() error
	left  int // number of bytes until the next check
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

// checkStillAllowed checks that the session still has permission to read, and extends the write
// deadline.
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

// openError reports that a document couldn't be opened. None of its bytes were sent.
type openError struct{ cause error }

func (e *openError) Error() string { return e.cause.Error() }

func (e *openError) Unwrap() error { return e.cause }

func (p *Pages) addToZip(w http.ResponseWriter, r *http.Request, z *zip.Writer, visitor page.Visitor, name string, file model.File) error {
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
	defer content.Close() //nolint:errcheck // read-only
	p.Events.RecordAccess(visitor.Actor, fileDownloaded, page.FileRecordName(file.ID), map[string]string{"as": "zip"})
	head := &zip.FileHeader{Name: name, Method: zip.Store, Modified: file.CreatedAt.In(p.Zone)}
	if file.MIME == "text/plain" || file.MIME == "image/bmp" {
		head.Method = zip.Deflate // all other types are already compressed
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
