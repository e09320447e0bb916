// Package ui is the voice for people: pages, and the signed links under which
// documents are seen and saved. Like app/api it decides nothing.
//
// It never wraps the writer of a download: the kernel sends the file itself.
package ui

import (
	"bytes"
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"deedkeep/app/secret"
	"deedkeep/app/title"
	"deedkeep/web"
)

// Options of New.
type Options struct {
	Files   documents
	Users   joiner
	Links   *secret.Links
	Events  views
	Address func(*http.Request) string // of the client
	MinRate int64                      // bytes a second that a client must take at least
	Now     func() time.Time
	Log     *slog.Logger
}

// documents opens the bytes of a file; NotFound when there is none.
type documents interface {
	Open(ctx context.Context, id uint64) (title.File, *os.File, error)
}

// views takes down who opened what; it never waits.
type views interface {
	Note(actor title.Actor, kind, record string, detail map[string]string)
	GoesOn(actor title.Actor, kind, record string)
}

type pages struct {
	Options
	message *template.Template
	join    *template.Template
}

// New gives the handler of everything outside /v1.
func New(opts Options) (http.Handler, error) {
	message, err := template.ParseFS(web.Pages(), "message.html")
	if err != nil {
		return nil, err
	}
	join, err := template.ParseFS(web.Pages(), "join.html")
	if err != nil {
		return nil, err
	}
	p := &pages{opts, message, join}
	return http.HandlerFunc(p.route), nil
}

func (p *pages) route(w http.ResponseWriter, r *http.Request) {
	// The request line itself is compared: a link has one spelling.
	switch path := r.URL.EscapedPath(); {
	case isLink(path):
		p.only(w, r, p.download)
	case isJoin(path):
		p.joining(w, r)
	case path == "/":
		p.only(w, r, p.home)
	default:
		p.say(w, r, http.StatusNotFound, "Nothing is here", "There is no page at this address.")
	}
}

// only answers GET and HEAD.
func (p *pages) only(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		p.say(w, r, http.StatusMethodNotAllowed, "This cannot be done here", "This address can only be looked at.")
		return
	}
	next(w, r)
}

func (p *pages) home(w http.ResponseWriter, r *http.Request) {
	p.say(w, r, http.StatusOK, "deedkeep is running",
		"Programs speak to it under /v1 with an API key; /openapi.json describes how.")
}

// pagePolicy lets a page load nothing: there is nothing to load yet.
const pagePolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// say renders a page of a heading and a sentence, whole, before the first byte goes out.
func (p *pages) say(w http.ResponseWriter, r *http.Request, status int, heading, text string) {
	h := w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "no-referrer")
	p.render(w, r, status, p.message, struct{ Heading, Text string }{heading, text})
}

// render writes a page whole; its policies are set already.
func (p *pages) render(w http.ResponseWriter, r *http.Request, status int, page *template.Template, data any) {
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		p.Log.ErrorContext(r.Context(), "page", "error", err, "request_id", requestID(w))
		http.Error(w, "Server error.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := b.WriteTo(w); err != nil {
		p.Log.DebugContext(r.Context(), "page not delivered", "error", err)
	}
}

func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }
