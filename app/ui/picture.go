package ui

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// widths are the pictures of pages that are made, in pixels: few, so that readers
// share them. 850 is a letter page at 100 dots per inch, 2,550 at 300; more is for
// plats, of which a page is 36 inches wide.
var widths = []int{200, 425, 850, 1275, 1700, 2550, 5100}

const defaultWidth = 1275

// Widths tells the viewer's script of them: [200, …].
func (documentSheet) Widths() string { return strings.ReplaceAll(fmt.Sprint(widths), " ", ",") }

// snap gives the least of widths that is not less.
func snap(width int) int {
	for _, w := range widths {
		if width <= w {
			return w
		}
	}
	return widths[len(widths)-1]
}

// fromPath is a whole number of the path from 1 to most; NotFound for anything else.
func fromPath(r *http.Request, name string, most int) (int, error) {
	text := r.PathValue(name)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || text != strconv.Itoa(n) {
		return 0, absentPath(r)
	}
	return n, nil
}

// mostPage is beyond every document's pages, mostWidth beyond every screen.
const (
	mostPage  = 1_000_000
	mostWidth = 1_000_000
)

// pagePicture answers a picture of a page, ?w= pixels wide or a little more. It is a
// part of a view, which counts where none has begun.
func (p *pages) pagePicture(w http.ResponseWriter, r *http.Request, who visitor) error {
	file, n, err := p.pageOf(r)
	if err != nil {
		return err
	}
	width := defaultWidth
	if text := r.URL.Query().Get("w"); text != "" {
		if width, err = strconv.Atoi(text); err != nil || width < 1 || width > mostWidth {
			return absentPath(r)
		}
	}
	width = snap(width)
	tag := pictureTag(file, n, width)
	if r.Method == http.MethodGet {
		p.Events.GoesOn(who.Actor, fileOpened, fileRecord(file.ID))
	}
	if notModified(w, r, tag) {
		return nil
	}
	picture, err := p.Vault.Files.Page(r.Context(), who.Actor, file.ID, n, width)
	if err != nil {
		w.Header().Del("ETag")
		return err
	}
	return p.sendPicture(w, r, picture, tag)
}

// pageOf is the document and the page of an address.
func (p *pages) pageOf(r *http.Request) (file model.File, page int, err error) {
	id, err := number(r)
	if err != nil {
		return file, 0, err
	}
	if page, err = fromPath(r, "page", mostPage); err != nil {
		return file, 0, err
	}
	file, err = p.Vault.Files.Get(r.Context(), id)
	return file, page, err
}

// pictures of one build are drawn alike; a later one counts up.
const drawing = "1"

// pictureTag tells one picture from all others without telling the document's digest.
func pictureTag(file model.File, page, width int) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("picture %s of %s: page %d, width %d", drawing, file.Digest, page, width)))
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// keepFor is how long a browser shows a picture without asking again, in seconds;
// after that it asks whether it may still, by the tag.
const keepFor = "3600"

// notModified says how a picture is kept, by whom, and answers 304 where the browser
// has it. Another session asks anew.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, max-age="+keepFor)
	h.Set("Vary", "Cookie")
	for _, known := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == tag {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// sendPicture sends a picture that was made here, and closes it.
func (p *pages) sendPicture(w http.ResponseWriter, r *http.Request, picture *blobstore.PreviewFile, tag string) error {
	defer picture.Close() //nolint:errcheck // it was only read
	var head [8]byte
	if _, err := picture.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("picture of %d bytes: %w", picture.Size(), err)
	}
	h := w.Header()
	h.Set("Content-Type", "image/jpeg")
	if string(head[1:4]) == "PNG" {
		h.Set("Content-Type", "image/png")
	}
	h.Set("Content-Length", strconv.FormatInt(picture.Size(), 10))
	h.Set("Content-Security-Policy", elsePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method == http.MethodHead {
		return nil // it is made now, which is what was wanted
	}
	if _, err := io.Copy(w, picture); err != nil {
		p.Log.DebugContext(r.Context(), "picture not delivered", "tag", tag, "error", err)
	}
	return nil
}

// thumbnail answers a small picture of a document's first page, or a drawing of its
// kind where there is none, or not yet. It is no view, for lists are full of them, unless
// it can be read.
func (p *pages) thumbnail(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	if file.Processing {
		return p.sendDrawing(w, file, "no-store")
	}
	tag := pictureTag(file, 0, 0)
	if notModified(w, r, tag) {
		return nil
	}
	picture, err := p.Vault.Files.Thumbnail(r.Context(), who.Actor, id)
	if errs.KindOf(err) == errs.NotFound {
		w.Header().Del("ETag")
		return p.sendDrawing(w, file, "private, max-age=60")
	}
	if err != nil {
		return err
	}
	if r.Method == http.MethodGet && p.readable(r, who, id) {
		p.Events.GoesOn(who.Actor, fileOpened, fileRecord(id))
	}
	return p.sendPicture(w, r, picture, tag)
}

// A thumbnail can be read of a picture of less than this many pixels, or a page of less
// than so many points, across: it is hardly smaller.
const (
	smallPicture = 2 * vault.ThumbnailWidth
	smallPage    = 72 * vault.ThumbnailWidth / 100
)

// readable reports whether to see a document's thumbnail is to read it; where nobody
// can tell, it is.
func (p *pages) readable(r *http.Request, who visitor, id uint64) bool {
	sizes, err := p.Vault.Files.Sizes(r.Context(), who.Actor, id)
	if err != nil {
		return true
	}
	first := sizes[0]
	return first.ImageWidth > 0 && first.ImageWidth < smallPicture || first.ImageWidth == 0 && first.Width < smallPage
}

// sendDrawing sends a sheet of paper with the kind of a document on it.
func (p *pages) sendDrawing(w http.ResponseWriter, file model.File, keep string) error {
	kind := strings.ToUpper(shorten(file.Extension(), 4))
	drawn := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 85 110" width="170" height="220">` +
		`<rect width="85" height="110" fill="#fff"/><path d="M14 22h57M14 34h57M14 46h57M14 58h40" stroke="#d5d8dc" stroke-width="4"/>` +
		`<text x="42.5" y="92" text-anchor="middle" font-family="system-ui,sans-serif" font-size="18" font-weight="600" fill="#6b7280">` +
		template.HTMLEscapeString(kind) + `</text></svg>`
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Length", strconv.Itoa(len(drawn)))
	h.Set("Content-Security-Policy", elsePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", keep)
	_, _ = io.WriteString(w, drawn) // whoever has gone needs nothing
	return nil
}

// hitJSON is one place of a phrase, for the script.
type hitJSON struct {
	Page   int    `json:"page"`
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}

// findIn answers where a phrase stands in a document, for the script; "words" is what
// marks are to be asked for where it was found by its words.
func (p *pages) findIn(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	answer := map[string]any{}
	typed := shorten(r.URL.Query().Get("q"), 1000)
	hits, more, by, err := p.spots(r.Context(), who, id, waysTo(typed, r.URL.Query().Get("words") != ""), asked(r, "page", 0))
	if err != nil {
		return err
	}
	if len(hits) > 0 && by != typed {
		answer["words"] = by
	}
	p.Events.GoesOn(who.Actor, fileOpened, fileRecord(id))
	list := make([]hitJSON, 0, len(hits))
	for _, h := range hits {
		list = append(list, hitJSON(h))
	}
	answer["hits"], answer["more"] = list, more
	if unread, err := p.unread(r, who, id, typed, len(hits)); err != nil {
		return err
	} else if unread > 0 {
		answer["unread"] = unread
	}
	return p.sendJSON(w, answer)
}

// unread is how many pages of a document have no text to look in. Where something was
// found, what is known of that is enough.
func (p *pages) unread(r *http.Request, who visitor, id uint64, typed string, hits int) (int, error) {
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil || typed == "" || hits > 0 {
		return file.PagesWithoutText(), err
	}
	text, err := p.Vault.Files.TextPages(r.Context(), who.Actor, id)
	return max(file.PageCount()-text, 0), err
}

// spots are the places in a document that one of the ways leads to, and its phrase. page
// is the one that somebody was led to, 0 for none.
func (p *pages) spots(ctx context.Context, who visitor, id uint64, ways []way, page int) (hits []vault.Spot, more bool, by string, err error) {
	for _, way := range ways {
		if len(way.each) > 0 {
			hits, more, err = p.Vault.Files.FindWords(ctx, who.Actor, id, way.each, page)
		} else {
			hits, more, err = p.Vault.Files.Find(ctx, who.Actor, id, way.phrase)
		}
		if err != nil {
			return nil, false, "", err
		}
		var there []string
		for _, h := range hits {
			there = append(there, h.Match)
		}
		if len(hits) > 0 && way.found(there) {
			return hits, more, way.phrase, nil
		}
	}
	return nil, false, "", nil
}

// marks answers where on a page the places of a phrase are to be seen, for the
// script: for each a list of [left, top, right, bottom] in fractions of the page.
func (p *pages) marks(w http.ResponseWriter, r *http.Request, who visitor) error {
	file, n, err := p.pageOf(r)
	if err != nil {
		return err
	}
	p.Events.GoesOn(who.Actor, fileOpened, fileRecord(file.ID))
	marks, err := p.Vault.Files.Marks(r.Context(), who.Actor, file.ID, n, shorten(r.URL.Query().Get("q"), 1000))
	if err != nil && errs.KindOf(err) != errs.NotFound {
		return err
	}
	list := make([][][4]float64, 0, len(marks))
	for _, rects := range marks {
		sides := make([][4]float64, 0, len(rects))
		for _, rect := range rects {
			sides = append(sides, [4]float64{rect.Left, rect.Top, rect.Right, rect.Bottom})
		}
		list = append(list, sides)
	}
	return p.sendJSON(w, map[string]any{"marks": list})
}

func (p *pages) sendJSON(w http.ResponseWriter, what any) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	body = legible(body)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", dataPolicy)
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(body) // whoever has gone needs nothing
	return nil
}
