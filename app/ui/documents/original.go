package documents

import (
	"mime"

	"deedkeep/app/ui/page"
)

// originalDocument sends a document. Browsers display it if they can. Unlike a signed link, this
// requires a session.
func (p *Pages) originalDocument(r *page.Request) error { return p.sendDocument(r, false) }

// downloadDocument sends a document as a download, regardless of its type.
func (p *Pages) downloadDocument(r *page.Request) error { return p.sendDocument(r, true) }

func (p *Pages) sendDocument(r *page.Request, asDownload bool) error {
	file, content, err := p.App.Files.Open(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // read-only
	setDocumentHeaders(r, file, file.Filename)
	h := r.W.Header()
	if asDownload {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file.Filename}))
		h.Set("Content-Security-Policy", page.DocumentPolicy)
	}
	h.Del("ETag") // it contains the document's digest
	p.serveContent(r, fileDownloaded, file, content)
	return nil
}
