package ui

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
)

func isLink(path string) bool { return strings.HasPrefix(path, "/dl/") }

// inline are the kinds that a browser shows; everything else is saved.
var inline = map[string]bool{
	"application/pdf": true, "image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true,
}

// The policies of a document. Chromium before 156 opens no PDF under sandbox and
// styles its viewer inline (156 shows one under either policy); every other kind is
// shut in.
const (
	pdfPolicy  = "default-src 'none'; frame-ancestors 'self'; style-src 'unsafe-inline'"
	elsePolicy = "default-src 'none'; frame-ancestors 'self'; sandbox"
)

// download serves the file of a signed link: no key, and one that a client sends
// along is not looked at. Ranges and conditions are net/http's.
func (p *pages) download(w http.ResponseWriter, r *http.Request) {
	link, err := p.parse(r)
	switch {
	case errors.Is(err, secret.ErrLinkExpired):
		p.refuse(w, r, http.StatusForbidden, "This link has ended", "Links to documents live for a few minutes. Ask for a new one where you found it.")
		return
	case err != nil:
		p.refuse(w, r, http.StatusForbidden, "This link does not work", "It was changed or cut on its way. Ask for a new one where you found it.")
		return
	}
	file, content, err := p.Files.Open(r.Context(), uint64(link.File))
	if errs.KindOf(err) == errs.NotFound {
		p.refuse(w, r, http.StatusNotFound, "This document is gone", "It was taken away after the link was made.")
		return
	}
	if damaged := (*vault.DamagedError)(nil); errors.As(err, &damaged) {
		p.Log.ErrorContext(r.Context(), "download", "error", err, "file", link.File, "request_id", requestID(w))
		p.refuse(w, r, http.StatusInternalServerError, "Document damaged", fmt.Sprintf("The stored copy of “%s” is damaged and can't be downloaded. Tell the person who gave you this link.", link.Filename))
		return
	}
	if err != nil {
		p.Log.ErrorContext(r.Context(), "download", "error", err, "file", link.File, "request_id", requestID(w))
		p.refuse(w, r, http.StatusInternalServerError, "Something went wrong here", "The document could not be opened. Please tell whoever runs this service.")
		return
	}
	defer content.Close() //nolint:errcheck // it was only read
	p.Log.InfoContext(r.Context(), "download", "method", r.Method, "file", file.ID, "range", r.Header.Get("Range") != "", "request_id", requestID(w))
	describe(w.Header(), file, link.Filename)
	p.pace(w, file.Size)
	p.transmit(p.watched(w, r, file), r, file, content)
}

// transmit sends a document. A large one is verified on its way: where it is damaged the
// connection breaks off before the end, so that no client takes it for complete.
func (p *pages) transmit(w http.ResponseWriter, r *http.Request, file model.File, content io.ReadSeeker) {
	http.ServeContent(w, r, "", file.CreatedAt, content)
	if verified, ok := content.(interface{ Err() error }); ok && verified.Err() != nil {
		p.Log.ErrorContext(r.Context(), "download is cut off", "error", verified.Err(), "file", file.ID, "request_id", requestID(w))
		panic(http.ErrAbortHandler)
	}
}

// parse holds the request line, as it was sent, against the link that was signed.
func (p *pages) parse(r *http.Request) (secret.Link, error) {
	target := r.RequestURI
	if r.URL.IsAbs() { // as a proxy is spoken to
		target = strings.TrimPrefix(target, r.URL.Scheme+"://"+r.URL.Host)
	}
	path, query, asked := strings.Cut(target, "?")
	if asked && query == "" {
		return secret.Link{}, secret.ErrLinkInvalid // an empty query is another spelling
	}
	return p.Links.Parse(path, query, p.Now())
}

func describe(h http.Header, file model.File, name string) {
	disposition, policy := "attachment", elsePolicy
	if inline[file.MIME] {
		disposition = "inline"
	}
	if file.MIME == "application/pdf" {
		policy = pdfPolicy
	}
	h.Set("Content-Type", file.MIME)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": name}))
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, no-store")
	h.Set("ETag", `"`+file.Digest+`"`)
}

// grace is how long a client may take before its pace counts.
const grace = time.Minute

// slowest is the floor, in bytes a second, where the settings have none.
const slowest = 1 << 10

// pace gives a download an end: one that is taken slower than the floor is cut, so
// that nobody holds connections for nothing.
func (p *pages) pace(w http.ResponseWriter, size int64) {
	deadline := time.Now().Add(grace + time.Duration(size/max(p.MinRate, slowest))*time.Second)
	if err := http.NewResponseController(w).SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		p.Log.Debug("write deadline", "error", err)
	}
}

func (p *pages) refuse(w http.ResponseWriter, r *http.Request, status int, heading, text string) {
	p.Log.InfoContext(r.Context(), "download refused", "status", status, "request_id", requestID(w))
	p.say(w, r, status, heading, text)
}
