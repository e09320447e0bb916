package documents

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault/storage"
)

// inlineTypes contains the MIME types that browsers display. Documents of other types are
// downloaded.
var inlineTypes = map[string]bool{
	"application/pdf": true, "image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true,
}

// Download serves the document that a signed link refers to. It ignores API keys and sessions.
// net/http handles ranges and conditional requests.
func (p *Pages) Download(w http.ResponseWriter, req *http.Request) {
	r := &page.Request{Request: req, W: w}
	link, err := p.parseLink(r)
	switch {
	case errors.Is(err, secret.ErrLinkExpired):
		p.rejectDownload(r, http.StatusForbidden, "Download link expired",
			"Download links expire after a few minutes. Get a new link from the page or person that gave you this one.")
		return
	case err != nil:
		p.rejectDownload(r, http.StatusForbidden, "Download link not valid",
			"The link is incomplete or was changed. Get a new link from the page or person that gave you this one.")
		return
	}
	file, content, err := p.App.Files.Open(r.Context(), uint64(link.File))
	if errs.KindOf(err) == errs.NotFound {
		p.rejectDownload(r, http.StatusNotFound, "Document not found", "The document was deleted after this link was created.")
		return
	}
	if err != nil {
		p.Log.ErrorContext(r.Context(), "download", "error", err, "file", link.File, "request_id", r.RequestID())
		heading, text := "Something went wrong on the server", "The document can't be opened. Tell the person who gave you this link."
		if _, damaged := errors.AsType[*storage.DamagedError](err); damaged {
			heading, text = "Document damaged", fmt.Sprintf("The stored copy of “%s” is damaged and can't be downloaded. Tell the person who gave you this link.", link.Filename)
		}
		p.rejectDownload(r, http.StatusInternalServerError, heading, text)
		return
	}
	defer content.Close() //nolint:errcheck // read-only
	p.Log.InfoContext(r.Context(), "download", "method", r.Method, "file", file.ID, "range", r.Header.Get("Range") != "", "request_id", r.RequestID())
	setDocumentHeaders(r, file, link.Filename)
	r.W.Header().Set(httpx.CrossOriginHeader, "cross-origin") // pages of other applications may embed the linked file
	r.Actor = model.Actor{Kind: model.ActorLink, Address: p.Address(req), RequestID: r.RequestID()}
	p.serveContent(r, fileOpened, file, content)
}

// serveContent sends a document and records that in the audit log as an event of the given kind.
// Large documents are verified while they are sent. If the content is damaged, the connection is
// aborted, so that the client doesn't mistake the partial download for a complete one.
func (p *Pages) serveContent(r *page.Request, kind string, file model.File, content io.ReadSeeker) {
	w := r.W
	if r.Method == http.MethodGet {
		w = viewRecorder{r.W, func() { p.recordSending(r, kind, file) }}
	}
	http.ServeContent(w, r.Request, "", file.CreatedAt, content)
	if verified, ok := content.(interface{ Err() error }); ok && verified.Err() != nil {
		p.Log.ErrorContext(r.Context(), "download aborted", "error", verified.Err(), "file", file.ID, "request_id", r.RequestID())
		panic(http.ErrAbortHandler)
	}
}

// parseLink verifies the signature of the link. It checks the request target exactly as it was
// sent.
func (p *Pages) parseLink(r *page.Request) (secret.Link, error) {
	target := r.RequestURI
	if r.URL.IsAbs() { // clients send an absolute URL to a proxy
		target = strings.TrimPrefix(target, r.URL.Scheme+"://"+r.URL.Host)
	}
	path, query, asked := strings.Cut(target, "?")
	if asked && query == "" {
		return secret.Link{}, secret.ErrLinkInvalid // a signed link has only one valid spelling
	}
	return p.Links.Parse(path, query, p.Now())
}

func setDocumentHeaders(r *page.Request, file model.File, name string) {
	disposition, policy := "attachment", page.DocumentPolicy
	if inlineTypes[file.MIME] {
		disposition = "inline"
	}
	if file.MIME == "application/pdf" {
		policy = page.PDFPolicy
	}
	r.SetDataHeaders(file.MIME, policy, "private, no-store")
	h := r.W.Header()
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": name}))
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("ETag", `"`+file.Digest+`"`)
}

func (p *Pages) rejectDownload(r *page.Request, status int, heading, text string) {
	p.Log.InfoContext(r.Context(), "download rejected", "status", status, "request_id", r.RequestID())
	p.ShowMessage(r, status, heading, text)
}
