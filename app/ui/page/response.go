package page

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// pagePolicy is the Content-Security-Policy of pages. Pages load assets from this server only.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// DataPolicy is the Content-Security-Policy of all responses other than pages. If a browser
// displays such a response anyway, the response can't run scripts or load anything (OWASP, "REST
// Security Cheat Sheet", security headers).
const DataPolicy = "default-src 'none'; frame-ancestors 'none'"

// The Content-Security-Policies of documents. All types except PDF are sandboxed. PDFs are not,
// because Chromium before 156 doesn't open PDFs in a sandbox. The browser's PDF viewer needs inline
// styles.
const (
	PDFPolicy      = "default-src 'none'; frame-ancestors 'self'; style-src 'unsafe-inline'"
	DocumentPolicy = "default-src 'none'; frame-ancestors 'self'; sandbox"
)

// RenderPage renders a page in the layout. It sends nothing before rendering succeeds.
func (p *Site) RenderPage(w http.ResponseWriter, r *http.Request, visitor Visitor, status int, name string, content Page) error {
	notice, undo := p.consumeNotice(w, r)
	return p.renderBlock(w, status, name, "layout.html", pageData{
		Page: content, Me: visitor, Path: r.URL.Path, Here: r.URL.RequestURI(), Query: r.URL.Query().Get("q"), Notice: notice, Undo: parseUndo(undo),
		Warnings: p.visibleWarnings(r, visitor),
	})
}

// RenderPart renders a named block of a page. A script inserts the block into the page.
func (p *Site) RenderPart(w http.ResponseWriter, r *http.Request, visitor Visitor, status int, name, block string, data any) error {
	w.Header().Set("Vary", "HX-Request")
	return p.renderBlock(w, status, name, block, pageData{Page: Page{Data: data}, Me: visitor, Path: r.URL.Path, Here: r.URL.RequestURI()})
}

// IsPartRequest reports whether a script requests a part of a page. It reports false if the browser
// restores a page from its history, because that requires the complete page.
func IsPartRequest(r *http.Request) bool {
	return r.Header.Get("HX-Request") == "true" && r.Header.Get("HX-Boosted") == "" && r.Header.Get("HX-History-Restore-Request") == ""
}

func (p *Site) renderBlock(w http.ResponseWriter, status int, name, block string, data any) error {
	return p.renderWithPolicy(pagePolicy, w, status, name, block, data)
}

// renderWithPolicy renders a block like renderBlock, but with the given Content-Security-Policy.
func (p *Site) renderWithPolicy(policy string, w http.ResponseWriter, status int, name, block string, data any) error {
	templates, err := p.templates.page(name)
	if err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, block, data); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	text := StripBidi(b.Bytes())
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")            // lets the server check which page a form comes from
	h.Set("Cross-Origin-Opener-Policy", "same-origin") // other sites can't keep a reference to this window
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		p.Log.Debug("page not delivered", "error", err)
	}
	return nil
}

// Redirect redirects to another page. The browser requests that page with GET, regardless of the
// current method.
func Redirect(w http.ResponseWriter, r *http.Request, to string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin") // the same as on the target page
	http.Redirect(w, r, to, http.StatusSeeOther)                // #nosec G710 -- what a request named went through local
}

// Truncate shortens text to at most maxBytes, at a character boundary.
func Truncate(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxBytes-3], "") + "…"
}
