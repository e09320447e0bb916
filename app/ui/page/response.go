package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"deedkeep/app/httpx"
	"deedkeep/app/spreadsheet"
)

// pagePolicy is the Content-Security-Policy of pages. Pages load assets from this server only.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// The Content-Security-Policies of documents. All types except PDF are sandboxed. PDFs are not,
// because Chromium before 156 doesn't open PDFs in a sandbox. The browser's PDF viewer needs inline
// styles.
const (
	PDFPolicy      = "default-src 'none'; frame-ancestors 'self'; style-src 'unsafe-inline'"
	DocumentPolicy = "default-src 'none'; frame-ancestors 'self'; sandbox"
)

// sidePolicy returns the Content-Security-Policy of a page. Only the pages that can be side by side, and errors
// instead of them, may be in a frame, and only in one of this server.
func sidePolicy(r *Request, status int, content Page) string {
	policy := pagePolicy
	// Browsers say what a request is for over HTTPS and on this computer only.
	if content.Side && r.Header.Get(fetchDest) == "" || r.isFramed() && (content.Side || status >= http.StatusBadRequest) {
		policy = strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors 'self'", 1)
	}
	if content.HasSides {
		policy += "; frame-src 'self'"
	}
	return policy
}

// RenderPage renders a page in the layout. It sends nothing before rendering succeeds.
func (si *Site) RenderPage(r *Request, status int, name string, content Page) error {
	if !r.isBackground() {
		if status == http.StatusOK {
			si.remember(r)
		}
		if notice, undo := si.consumeNotice(r); content.Notice == "" {
			content.Notice, content.UndoTo = notice, undo
		}
	}
	return si.renderBlock(r, sidePolicy(r, status, content), status, name, "layout.html", pageData{
		Page: content, Me: r.Visitor, Framed: r.isFramed(), LastEvent: r.lastEvent,
		Path: r.URL.Path, Here: r.URL.RequestURI(), Query: r.URL.Query().Get("q"),
		Undo:     si.undoForm(r, content.UndoTo),
		Warnings: si.visibleWarnings(r), Example: si.App.IsExample(), Firm: si.App.Stored.Current().Firm,
		Logo: LogoPath(si.App.Stored.Logo()),
	})
}

// RenderPart renders a named block of a page. A script inserts the block into the page.
func (si *Site) RenderPart(r *Request, status int, name, block string, data any) error {
	r.W.Header().Set("Vary", "HX-Request")
	return si.renderBlock(r, pagePolicy, status, name, block, pageData{Page: Page{Data: data}, Me: r.Visitor, Path: r.URL.Path, Here: r.URL.RequestURI()})
}

// RenderText returns a named block of a page, for a script that gets it in a JSON text. data is what
// the block gets, without the page data that RenderPart adds.
func (si *Site) RenderText(name, block string, data any) (string, error) {
	text, err := si.executeBlock(name, block, data)
	return string(text), err
}

// executeBlock renders a block of a page to memory.
func (si *Site) executeBlock(name, block string, data any) ([]byte, error) {
	templates, err := si.templates.page(name)
	if err != nil {
		return nil, fmt.Errorf("render page %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, block, data); err != nil {
		return nil, fmt.Errorf("render page %s: %w", name, err)
	}
	return StripBidi(b.Bytes()), nil
}

// renderBlock renders a block of a page with the given Content-Security-Policy.
func (si *Site) renderBlock(r *Request, policy string, status int, name, block string, data any) error {
	text, err := si.executeBlock(name, block, data)
	if err != nil {
		return err
	}
	h := r.W.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Content-Security-Policy", policy)
	httpx.SetIsolationHeaders(h)
	h.Set("Referrer-Policy", "same-origin")            // lets the server check which page a form comes from
	h.Set("Cross-Origin-Opener-Policy", "same-origin") // other sites can't keep a reference to this window
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	r.W.WriteHeader(status)
	if _, err := r.W.Write(text); err != nil {
		si.Log.Debug("page not sent", "error", err)
	}
	return nil
}

// SetDataHeaders sets the headers of a response that is not a page. policy is its
// Content-Security-Policy, and cache its Cache-Control.
func (r *Request) SetDataHeaders(mediaType, policy, cache string) {
	h := r.W.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Security-Policy", policy)
	httpx.SetIsolationHeaders(h)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", cache)
}

// SendJSON sends a value to a script as JSON.
func (r *Request) SendJSON(status int, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	text = StripBidi(text)
	r.SetDataHeaders("application/json", httpx.DataPolicy, "no-store")
	r.W.Header().Set("Content-Length", strconv.Itoa(len(text)))
	r.W.WriteHeader(status)
	_, _ = r.W.Write(text) // an error means that the client has disconnected
	return nil
}

// Truncate shortens text to at most maxBytes, at a character boundary.
func Truncate(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxBytes-3], "") + "…"
}

// StripBidi removes characters that make a browser display text differently from how it is stored:
// bidirectional controls (Unicode Standard Annex 9, section 2), line and paragraph separators, and
// control characters other than tab, line feed, and carriage return. Stored records keep them
// because the API accepts any text.
func StripBidi(text []byte) []byte {
	i := 0
	for i < len(text) && hiddenLen(text[i:]) == 0 {
		i++
	}
	if i == len(text) {
		return text // the most common case
	}
	text = bytes.ToValidUTF8(text, []byte("\uFFFD")) // otherwise, removing bytes could join invalid bytes into a new character
	clean := make([]byte, 0, len(text))
	for i = 0; i < len(text); {
		if n := hiddenLen(text[i:]); n > 0 {
			i += n
			continue
		}
		clean = append(clean, text[i])
		i++
	}
	return clean
}

// hiddenLen returns the length in bytes of the first character of text if StripBidi removes that
// character. Otherwise it returns 0. These are the removed characters with their UTF-8 encoding:
//
//	U+2028 … U+202E   E2 80 A8 … AE   line and paragraph separators, embeddings and overrides
//	U+2066 … U+2069   E2 81 A6 … A9   isolates
//	U+0080 … U+009F   C2 80 … 9F      controls
func hiddenLen(text []byte) int {
	c := text[0]
	switch {
	case c >= ' ' && c < 0x7F, c == '\t', c == '\n', c == '\r':
		return 0
	case c <= 0x7F:
		return 1
	case c == 0xC2 && len(text) > 1 && text[1] >= 0x80 && text[1] <= 0x9F:
		return 2
	case c != 0xE2 || len(text) < 3:
		return 0
	case text[1] == 0x80 && text[2] >= 0xA8 && text[2] <= 0xAE, text[1] == 0x81 && text[2] >= 0xA6 && text[2] <= 0xA9:
		return 3
	}
	return 0
}

// docsPolicy is the Content-Security-Policy of /docs. Unlike pagePolicy, it also allows data: and
// blob: images, which Swagger UI needs, and doesn't allow forms.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// APIDocs serves the page where users can browse openapi.json and try the API. The page is the same
// for all visitors: the requests that it sends are authenticated with an API key, not with the
// session.
func (si *Site) APIDocs(r *Request) error {
	return si.renderBlock(r, docsPolicy, http.StatusOK, "docs.html", "main",
		pageData{Page: Page{Heading: "API reference"}, Example: si.App.IsExample()})
}

// SendTable sends a table as a file. If an error occurs while it sends the file, it aborts the connection, so that the
// browser doesn't mistake the file for complete.
func (si *Site) SendTable(r *Request, name string, f spreadsheet.Format, table spreadsheet.Table) error {
	r.SetDataHeaders(f.Media, DocumentPolicy, "private, no-store")
	r.W.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name + f.Extension}))
	if r.Method == http.MethodHead {
		return nil
	}
	if err := f.Write(r.W, table); err != nil {
		si.AbortResponse(r, "table", err)
	}
	return nil
}
