package documents

import (
	"mime"
	"net/http"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// originalDocument sends a document. Browsers display it if they can. Unlike a signed link, this
// requires a session.
func (p *Pages) originalDocument(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.sendDocument(w, r, visitor, setDocumentHeaders)
}

// downloadDocument sends a document as a download, regardless of its type.
func (p *Pages) downloadDocument(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.sendDocument(w, r, visitor, func(h http.Header, file model.File, name string) {
		setDocumentHeaders(h, file, name)
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		h.Set("Content-Security-Policy", page.DocumentPolicy)
	})
}

// sendDocument sends the requested document. setHeaders sets the response headers that depend on
// the document.
func (p *Pages) sendDocument(w http.ResponseWriter, r *http.Request, visitor page.Visitor, setHeaders func(http.Header, model.File, string)) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	file, content, err := p.Files.Open(r.Context(), id)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // read-only
	setHeaders(w.Header(), file, file.Filename)
	w.Header().Del("ETag") // it contains the document's digest
	p.SetWriteDeadline(w, file.Size)
	p.serveContent(p.recordResponse(w, r, visitor.Actor, fileDownloaded, file), r, file, content)
	return nil
}
