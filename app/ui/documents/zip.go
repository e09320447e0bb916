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
	"deedkeep/app/vault"
)

const fileDownloaded = "file.downloaded"

// sendZip streams documents as a ZIP file called name, to which it appends ".zip". Each document is
// recorded as a download when sendZip starts sending it. If the first document can't be opened,
// sendZip returns the error. If an error occurs later, it aborts the response, so that the client
// doesn't mistake it for complete.
func (p *Pages) sendZip(r *page.Request, name string, list []vault.Descendant) error {
	if len(list) == 0 {
		return &errs.Error{Kind: errs.Conflict, Message: "There are no documents to download."}
	}
	files := make([]model.File, 0, len(list))
	for _, entry := range list {
		files = append(files, entry.File)
	}
	if err := p.App.Files.KnownDamage(files...); err != nil {
		return err
	}
	r.SetDataHeaders("application/zip", page.DocumentPolicy, "private, no-store")
	r.W.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": safeName(name) + ".zip"}))
	if r.Method == http.MethodHead {
		return nil
	}
	names := zipNames(list)
	z := zip.NewWriter(&recheckingWriter{to: r.W, again: func() error { return p.checkStillAllowed(r) }})
	for i, entry := range list {
		file, content, err := p.openForZip(r, entry.File.ID)
		if err != nil && i == 0 {
			r.W.Header().Del("Content-Type")
			r.W.Header().Del("Content-Disposition")
			return err
		}
		if err == nil {
			err = p.addToZip(r, z, names[i], file, content)
		}
		if err != nil {
			p.AbortResponse(r, "ZIP download", err)
		}
	}
	if err := z.Close(); err != nil {
		p.AbortResponse(r, "ZIP download", err)
	}
	return nil
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

func (r *recheckingWriter) Write(b []byte) (int, error) {
	if r.left <= 0 {
		if err := r.again(); err != nil {
			return 0, err
		}
		r.left = recheckBytes
	}
	n, err := r.to.Write(b)
	r.left -= n
	return n, err
}

// checkStillAllowed checks that the session still has permission to read.
func (p *Pages) checkStillAllowed(r *page.Request) error {
	now, err := p.SessionVisitor(r)
	if err == nil {
		err = page.CheckAccess(now, page.MayRead)
	}
	return err
}

// openForZip opens a document if the visitor is still allowed to read.
func (p *Pages) openForZip(r *page.Request, id uint64) (file model.File, content io.ReadSeekCloser, err error) {
	if err := p.checkStillAllowed(r); err != nil {
		return file, nil, err
	}
	return p.App.Files.Open(r.Context(), id)
}

func (p *Pages) addToZip(r *page.Request, z *zip.Writer, name string, file model.File, content io.ReadCloser) error {
	defer content.Close() //nolint:errcheck // read-only
	p.App.Events.RecordAccess(r.Actor, fileDownloaded, model.RecordRef("file", file.ID), map[string]string{"as": "zip"})
	head := &zip.FileHeader{Name: name, Method: zip.Store, Modified: file.CreatedAt.In(p.Zone())}
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
