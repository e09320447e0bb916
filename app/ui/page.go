package ui

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// page is what a handler shows.
type page struct {
	Heading string   // of the browser's tab, and the page's own
	Section string   // the place in the navigation: desk, abstracts, orders, vault, trash, admin, me
	Data    any      // what the page's templates work with
	Scripts []string // assets besides those of every page
	Styles  []string
}

// sheet is what the layout works with.
type sheet struct {
	page
	Me       visitor
	Path     string    // the address without its query
	Here     string    // the address, to come back to
	Query    string    // what stands in the box for finding
	Notice   string    // what the last action came to
	Undo     undoForm  // takes that back
	Warnings []warning // what administrators must see to
}

// templates are the pages by file name. A page is parsed when it is first shown: most
// processes show few of them, and parsing all takes longer than the rest of a server's start.
type templates struct {
	files  fs.FS
	common *template.Template // the layout and the parts, which each page's set is a clone of

	mu   sync.Mutex
	sets map[string]*template.Template // the pages shown so far
}

// parse reads layout.html and every part_*.html.
func parse(files fs.FS, functions template.FuncMap) (*templates, error) {
	common, err := template.New("layout.html").Funcs(functions).ParseFS(files, "layout.html", "part_*.html")
	if err != nil {
		return nil, err
	}
	return &templates{files: files, common: common, sets: make(map[string]*template.Template)}, nil
}

// page returns the set of a page's file: the layout, the parts, and the page.
func (t *templates) page(name string) (*template.Template, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if set := t.sets[name]; set != nil {
		return set, nil
	}
	own, err := t.common.Clone()
	if err != nil {
		return nil, err
	}
	set, err := own.ParseFS(t.files, name)
	if err != nil {
		return nil, err
	}
	if set.Lookup("main") == nil {
		return nil, fmt.Errorf(`%s defines no "main"`, name)
	}
	t.sets[name] = set
	return set, nil
}

// pagePolicy lets a page load what is ours and nothing else (DESIGN, "A page").
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// dataPolicy is for answers that no browser shows: should one do so, it runs and loads
// nothing (OWASP, "REST Security Cheat Sheet", security headers).
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

// show renders a page whole, in the layout, before the first byte goes out.
func (p *pages) show(w http.ResponseWriter, r *http.Request, who visitor, status int, name string, what page) error {
	notice, undo := p.notice(w, r)
	return p.render(w, status, name, "layout.html", sheet{
		page: what, Me: who, Path: r.URL.Path, Here: r.URL.RequestURI(), Query: r.URL.Query().Get("q"), Notice: notice, Undo: formOf(undo),
		Warnings: p.warnings(r, who),
	})
}

// part renders one named block of a page, for a script that puts it into place.
func (p *pages) part(w http.ResponseWriter, r *http.Request, who visitor, status int, name, block string, data any) error {
	w.Header().Set("Vary", "HX-Request")
	return p.render(w, status, name, block, sheet{page: page{Data: data}, Me: who, Path: r.URL.Path, Here: r.URL.RequestURI()})
}

// isPart reports whether a script asked for a part of the page. One that goes back in
// the history of the browser needs the whole.
func isPart(r *http.Request) bool {
	return r.Header.Get("HX-Request") == "true" && r.Header.Get("HX-Boosted") == "" && r.Header.Get("HX-History-Restore-Request") == ""
}

func (p *pages) render(w http.ResponseWriter, status int, name, block string, data any) error {
	return p.renderUnder(pagePolicy, w, status, name, block, data)
}

// renderUnder is render under another policy of what the page may load.
func (p *pages) renderUnder(policy string, w http.ResponseWriter, status int, name, block string, data any) error {
	set, err := p.templates.page(name)
	if err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := set.ExecuteTemplate(&b, block, data); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	text := legible(b.Bytes())
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")            // without it a browser would not say where a form comes from
	h.Set("Cross-Origin-Opener-Policy", "same-origin") // no other site keeps hold of a window of these, or times it
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		p.Log.Debug("page not delivered", "error", err)
	}
	return nil
}

// redirect sends the browser to another page with GET, whatever it sent.
func redirect(w http.ResponseWriter, r *http.Request, to string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin") // as the page it leads to
	http.Redirect(w, r, to, http.StatusSeeOther)                // #nosec G710 -- what a request named went through local
}

// shorten cuts a text to a number of bytes, at a letter.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "…"
}

// back gives the page that a form names in its field `back`, or another.
func back(r *http.Request, otherwise string) string {
	if to := r.PostForm.Get("back"); to != "" {
		return local(to)
	}
	return otherwise
}

// number reads the {n} of the path; NotFound for anything else.
func number(r *http.Request) (uint64, error) {
	text := r.PathValue("n")
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || text != strconv.FormatUint(n, 10) {
		return 0, absentPath(r)
	}
	return n, nil
}

func (p *pages) abstractPath(id uint64) string { return "/abstracts/" + p.abstracts.Encode(id) }
func (p *pages) orderPath(id uint64) string    { return "/orders/" + p.orders.Encode(id) }
func documentPath(id uint64) string            { return "/documents/" + strconv.FormatUint(id, 10) }
func folderPath(id uint64) string              { return path.Join("/vault", strconv.FormatUint(id, 10)) }

// abstractID reads the opaque id of the path; NotFound when it is none.
func (p *pages) abstractID(r *http.Request) (uint64, error) {
	if id, ok := p.abstracts.Decode(r.PathValue("id")); ok {
		return id, nil
	}
	return 0, absentPath(r)
}

// orderID is abstractID for orders.
func (p *pages) orderID(r *http.Request) (uint64, error) {
	if id, ok := p.orders.Decode(r.PathValue("id")); ok {
		return id, nil
	}
	return 0, absentPath(r)
}
