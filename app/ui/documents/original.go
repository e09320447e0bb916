package documents

import (
	"mime"
	"net/http"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// originalDocument sends the document itself, which the browser shows if it can. It is no
// signed link: what somebody reads ends with the session.
func (p *Pages) originalDocument(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.sendDocument(w, r, who, setDocumentHeaders)
}

// downloadDocument sends the document itself to be saved under its name, whatever its kind.
func (p *Pages) downloadDocument(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.sendDocument(w, r, who, func(h http.Header, file model.File, name string) {
		setDocumentHeaders(h, file, name)
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		h.Set("Content-Security-Policy", page.DocumentPolicy)
	})
}

// sendDocument sends the document of an address as told says what it is.
func (p *Pages) sendDocument(w http.ResponseWriter, r *http.Request, who page.Visitor, told func(http.Header, model.File, string)) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	file, content, err := p.Files.Open(r.Context(), id)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // it was only read
	told(w.Header(), file, file.Filename)
	w.Header().Del("ETag") // it would tell the digest
	p.SetWriteDeadline(w, file.Size)
	p.serveContent(p.recordResponse(w, r, who.Actor, fileDownloaded, file), r, file, content)
	return nil
}
