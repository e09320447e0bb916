package ui_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// pageRenderer renders pages whose size encodes the page number and width. It returns the
// document's content as its text.
type pageRenderer struct{ vaulttest.Reader }

func (pageRenderer) PageImage(_ context.Context, r sandbox.Request, page, width int, _ document.ExtractLimits) (document.Image, error) {
	if r.MIME != "application/pdf" {
		return document.Image{}, document.ErrUnsupported
	}
	if page > 3 {
		return document.Image{}, document.ErrNoPage
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, page))); err != nil {
		return document.Image{}, err
	}
	return document.Image{Width: width, Height: page, MIME: "image/png", Bytes: b.Bytes()}, nil
}

func (p pageRenderer) Text(ctx context.Context, r sandbox.Request, lim document.ExtractLimits, emit func(int, string) error) error {
	if r.MIME != "application/pdf" {
		return p.Reader.Text(ctx, r, lim, emit)
	}
	for page := 1; page <= 3; page++ {
		if err := emit(page, fmt.Sprintf("Page %d: GENERAL WARRANTY\nDEED\n", page)); err != nil {
			return err
		}
	}
	return nil
}

func (pageRenderer) Marks(_ context.Context, r sandbox.Request, page int, _ string, _ bool, _ document.ExtractLimits) ([][]document.Rect, error) {
	if r.MIME != "application/pdf" {
		return nil, document.ErrUnsupported
	}
	return [][]document.Rect{{{Left: 0.25, Top: 0.5, Right: 0.5, Bottom: float64(page) / 4}}}, nil
}

func (pageRenderer) Words(_ context.Context, r sandbox.Request, page int, _ document.ExtractLimits) (ocr.Page, error) {
	if page > 3 {
		return ocr.Page{}, document.ErrNoPage
	}
	return ocr.Page{Words: []ocr.Word{
		{Text: "Page", Box: ocr.Box{Left: 1, Top: 2, Right: 3, Bottom: 4}, Line: 1, Paragraph: 1}, {Text: fmt.Sprintf("%d:", page), Line: 1, Paragraph: 1},
		{Text: "GENERAL", Line: 2, Paragraph: 1}, {Text: "DEED", Line: 3, Paragraph: 2},
	}}, nil
}

// newServerWithDocuments returns a server that has an abstract with three documents.
func newServerWithDocuments(t *testing.T) (h *testServer, abstract string, files []model.File) {
	t.Helper()
	h = newEmptyTestServer(t, func(o *instance.Options) { o.Reader = pageRenderer{} })
	h.createUser(t, "Owner", model.RoleAdmin)
	staged, err := h.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	defer staged.Discard()
	for _, f := range [][2]string{{"a Search.txt", "Judgments\nnone against <b>Smith</b>\n"},
		{"b Deed.pdf", string(vaulttest.PDF(3, "a"))}, {"c.png", onePixel}} {
		if err := staged.Add(f[0], strings.NewReader(f[1])); err != nil {
			t.Fatalf("stage file: %v", err)
		}
	}
	draft := model.AbstractDraft{Fields: model.Inputs{"address": model.StringInput("118 Orchard <Lane>")}}
	draft.Custom = model.Custom{}
	created, err := h.vault.Abstracts.Create(t.Context(), model.Actor{Kind: "operator"}, draft, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	files = created.Files
	slices.SortFunc(files, func(a, b model.File) int { return strings.Compare(a.Filename, b.Filename) })
	return h, h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID), files
}

var onePixel = func() string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.String()
}()

func documentPath(f model.File, rest string) string {
	return fmt.Sprintf("/documents/%d%s", f.ID, rest)
}

func TestDocument(t *testing.T) {
	t.Parallel()
	h, abstract, files := newServerWithDocuments(t)
	search, deed, picture := files[0], files[1], files[2]
	g := h.openBrowser(t, model.RoleViewer)
	page := g.get(t, 200, documentPath(deed, "?page=2"))
	page.has(t, "b Deed.pdf", "118 Orchard &lt;Lane&gt;", "/abstracts/"+abstract, `data-as="pages"`, documentPath(deed, "/pages/2?w=1275"),
		documentPath(deed, "?page=3"), documentPath(deed, "?page=1"), "of 3", `data-sizes="[[3,612,792,0]]"`, `data-widths="[200,`)
	page.lacks(t, "/trash\"", "style=", "onclick", "<script>", deed.Digest)
	g.get(t, 200, documentPath(deed, "?page=99&w=99999&turn=90")).has(t, documentPath(deed, "/pages/3?w=5100"), "rotate(90)",
		`aria-disabled="true" role="link" aria-label="Next page"`)
	g.get(t, 200, documentPath(deed, "?page=x&w=-1&turn=45")).has(t, documentPath(deed, "/pages/1?w=200"))
	g.get(t, 200, documentPath(search, "?find=judgments+NONE")).has(t, `<mark id="hit-1">Judgments
none</mark>`, "&lt;b&gt;Smith", "1 match")
	g.get(t, 200, documentPath(picture, "")).has(t, "Preview not available", documentPath(picture, "/download"))
	for _, missing := range []string{"/documents/0", "/documents/99", "/documents/01", "/documents/x", "/documents/99999999999999999999"} {
		g.get(t, 404, missing)
	}
	staff := h.openBrowser(t, model.RoleStaff)
	staff.get(t, 200, documentPath(deed, "")).has(t, documentPath(deed, "/trash"), documentPath(deed, "/rename"))
}

// The rotation of a page is shown to everyone, in the viewer and in lists. Until a person sets it, it is the direction in
// which OCR found the text.
func TestStoredRotation(t *testing.T) {
	t.Parallel()
	h, abstract, files := newServerWithDocuments(t)
	deed := files[1]
	viewer, staff := h.openBrowser(t, model.RoleViewer), h.openBrowser(t, model.RoleStaff)
	viewer.get(t, 200, documentPath(deed, "")).has(t, `data-turns=""`)
	viewer.get(t, 200, "/abstracts/"+abstract).lacks(t, "data-turn")
	err := h.vault.Store.Update(t.Context(), nil, func(s *store.Tx) error {
		read := deed
		read.Processing, read.OCR = false, &model.OCR{Pages: 3, Read: 3, Turns: "1-2"}
		return s.PutFile(read)
	})
	vaulttest.NoError(t, err)
	viewer.get(t, 200, documentPath(deed, "")).has(t, `data-turns="1-2"`, "rotate(90)")
	viewer.get(t, 200, documentPath(deed, "?turn=90")).has(t, "rotate(180)", "turn=180")
	viewer.get(t, 200, "/abstracts/"+abstract).has(t, `data-turn="1"`)

	path := documentPath(deed, "/rotation")
	viewer.post(t, 403, path, url.Values{"turns": {"3"}})
	for _, wrong := range []string{"4", "----", "-1x"} {
		staff.post(t, 422, path, url.Values{"turns": {wrong}})
	}
	staff.post(t, 422, documentPath(files[0], "/rotation"), url.Values{"turns": {"1"}}) // text has no pages
	staff.post(t, 200, path, url.Values{"turns": {"03"}}).has(t, `{"turns":"032",`)
	staff.get(t, 200, documentPath(deed, "")).has(t, `data-turns="032"`, "data-may-turn")
	staff.get(t, 200, documentPath(deed, "")).lacks(t, "rotate(")
	viewer.get(t, 200, documentPath(deed, "?page=2")).has(t, `data-turns="032"`, "rotate(270)")
	viewer.get(t, 200, "/abstracts/"+abstract).lacks(t, "data-turn")
	staff.post(t, 404, "/documents/999/rotation", url.Values{"turns": {"1"}})
	h.openBrowser(t, model.RoleAdmin).get(t, 200, "/admin/activity").has(t, "rotated pages of", "page 1: 90° → 0°", "page 2: 0° → 270°")
}

// The list named in the address determines the previous and next documents. If the document isn't
// in that list, the list is ignored.
func TestPreviousAndNextDocument(t *testing.T) {
	t.Parallel()
	h, abstract, files := newServerWithDocuments(t)
	g := h.openBrowser(t, model.RoleViewer)
	abstractWithFiles, err := h.vault.Abstracts.Get(t.Context(), files[0].AbstractID)
	if err != nil {
		t.Fatalf("Abstracts.Get: %v", err)
	}
	first, second, third := abstractWithFiles.Files[0], abstractWithFiles.Files[1], abstractWithFiles.Files[2]
	got := g.get(t, 200, documentPath(second, "?in=abstract:"+abstract))
	got.has(t, "2 of 3", documentPath(first, "?in=abstract:"+abstract), documentPath(third, "?in=abstract:"+abstract), `rel="prev"`,
		`rel="next"`)
	for _, in := range []string{"", "none", "folder:1", "abstract:nonsense", "abstract:", "folder:x", "desk"} {
		got := g.get(t, 200, documentPath(first, "?in="+in))
		got.has(t, "1 of 3", `data-next="`+documentPath(second, `"`))
		got.lacks(t, `rel="prev"`)
	}
	loose := []model.File{h.upload(t, "z.pdf", vaulttest.PDF(1, "z")), h.upload(t, "Y.pdf", vaulttest.PDF(1, "y"))}
	g.get(t, 200, documentPath(loose[0], "")).has(t, "2 of 2", `data-previous="`+documentPath(loose[1], `"`), `href="/vault"`)
}

func TestPageImages(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	deed := files[1]
	g := h.openBrowser(t, model.RoleViewer)
	for _, c := range []struct {
		query string
		width int
	}{{"", 1275}, {"?w=1", 200}, {"?w=200", 200}, {"?w=201", 425}, {"?w=2550", 2550}, {"?w=2551", 5100}, {"?w=1000000", 5100}} {
		t.Run(c.query, func(t *testing.T) {
			got := g.get(t, 200, documentPath(deed, "/pages/3"+c.query))
			config, err := png.DecodeConfig(bytes.NewReader(got.body))
			if err != nil || config.Width != c.width || config.Height != 3 {
				t.Errorf("image = %+v, %v, want %d by 3", config, err, c.width)
			}
			got.checkHeaders(t, map[string]string{
				"Content-Type": "image/png", "Content-Length": fmt.Sprint(len(got.body)), "Cache-Control": "private, max-age=3600", "Vary": "Cookie",
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'; sandbox",
			})
			tag := got.Header.Get("ETag")
			if len(tag) != 18 || strings.Contains(deed.Digest, strings.Trim(tag, `"`)) {
				t.Errorf("ETag = %s, want 18 characters that are not part of the digest", tag)
			}
			again := g.get(t, 304, documentPath(deed, "/pages/3"+c.query), "If-None-Match", `"x", W/`+tag)
			if len(again.body) != 0 || again.Header.Get("ETag") != tag {
				t.Errorf("304 has %d bytes and ETag %q, want none and %q", len(again.body), again.Header.Get("ETag"), tag)
			}
		})
	}
	firstTag, secondTag := g.get(t, 200, documentPath(deed, "/pages/1?w=200")).Header.Get("ETag"),
		g.get(t, 200, documentPath(deed, "/pages/2?w=200")).Header.Get("ETag")
	if firstTag == secondTag {
		t.Errorf("ETag of two pages = %q, want different ones", firstTag)
	}
	for _, bad := range []string{"/pages/0", "/pages/-1", "/pages/4", "/pages/01", "/pages/x", "/pages/1000001",
		"/pages/99999999999999999999", "/pages/1?w=0", "/pages/1?w=-5", "/pages/1?w=x", "/pages/1?w=1000001", "/pages/1?w=1e3"} {
		got := g.get(t, 404, documentPath(deed, bad))
		if cache := got.Header.Get("Cache-Control"); cache != "no-store" || got.Header.Get("ETag") != "" {
			t.Errorf("%s: Cache-Control %q, ETag %q, want no-store and none", bad, cache, got.Header.Get("ETag"))
		}
	}
	head := g.send(t, 200, http.MethodHead, documentPath(deed, "/pages/2?w=850"), nil, nil)
	if len(head.body) != 0 || head.Header.Get("Content-Length") == "" {
		t.Errorf("HEAD has %d bytes and the headers %v, want 0 and a Content-Length", len(head.body), head.Header)
	}
}

// Users without permission see nothing. A cached image can't be revalidated by a different user.
func TestDocumentPermissions(t *testing.T) {
	t.Parallel()
	h, abstract, files := newServerWithDocuments(t)
	deed := files[1]
	tag := h.openBrowser(t, model.RoleViewer).get(t, 200, documentPath(deed, "/pages/1")).Header.Get("ETag")
	for _, address := range []string{"", "/pages/1", "/pages/1/marks?q=a", "/pages/1/words", "/find?q=a", "/thumbnail", "/text", "/download",
		"/original", "/print"} {
		got := h.send(t, "GET", documentPath(deed, address), "If-None-Match: "+tag)
		if got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/sign-in") {
			t.Errorf("%s without a session: status %d to %q, want 303 to the sign-in page", address, got.StatusCode, got.Header.Get("Location"))
		}
	}
	if got := h.send(t, "GET", "/abstracts/"+abstract+"/zip"); got.StatusCode != http.StatusSeeOther {
		t.Errorf("zip without a session: status %d, want 303", got.StatusCode)
	}
	viewer := &browser{h: h, token: h.signIn(t, "Kim of viewer", ""), client: &http.Client{}}
	for _, verb := range []string{"/rename", "/trash", "/restore", "/retry"} {
		viewer.post(t, 403, documentPath(deed, verb), url.Values{"name": {"x.pdf"}})
	}
	if file, err := h.vault.Files.Get(t.Context(), deed.ID); err != nil || file.Filename != deed.Filename {
		t.Errorf("Files.Get = %+v, %v, want the filename %q", file, err, deed.Filename)
	}
}

func TestThumbnail(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	g := h.openBrowser(t, model.RoleViewer)
	g.get(t, 200, documentPath(files[1], "/thumbnail")).checkHeaders(t,
		map[string]string{"Content-Type": "image/svg+xml", "Cache-Control": "no-store"})
	h.vault.Start(1 << 40)
	processed := func(f model.File) bool {
		f, err := h.vault.Files.Get(t.Context(), f.ID)
		return err == nil && !f.Processing
	}
	for until := time.Now().Add(20 * time.Second); !processed(files[0]) || !processed(files[1]); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the documents are not processed after 20 seconds")
		}
	}
	thumbnail := func(f model.File) reply { return g.get(t, 200, documentPath(f, "/thumbnail")) }
	if got := thumbnail(files[1]); got.Header.Get("Content-Type") != "image/png" || got.Header.Get("ETag") == "" {
		t.Errorf("headers of the thumbnail = %v, want a PNG with an ETag", got.Header)
	} else {
		g.get(t, 304, documentPath(files[1], "/thumbnail"), "If-None-Match", got.Header.Get("ETag"))
	}
	got := thumbnail(files[0])
	got.has(t, "<svg", ">TXT<")
	got.checkHeaders(t, map[string]string{"Content-Type": "image/svg+xml", "ETag": "",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'; sandbox"})
	g.get(t, 404, "/documents/99/thumbnail")
}

func TestFindInDocument(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	deed := files[1]
	g := h.openBrowser(t, model.RoleViewer)
	var found struct {
		Hits []struct {
			Page                 int
			Before, Match, After string
		}
		More bool
	}
	response := g.get(t, 200, documentPath(deed, "/find?q="+url.QueryEscape("warranty  deed")))
	if err := json.Unmarshal(response.body, &found); err != nil || len(found.Hits) != 3 || found.More {
		t.Fatalf("find = %s, %v, want 3 hits", response.body, err)
	}
	if hit := found.Hits[1]; hit.Page != 2 || hit.Match != "WARRANTY DEED" || hit.Before != "Page 2: GENERAL " {
		t.Errorf("hit 1 = %+v, want WARRANTY DEED on page 2", hit)
	}
	if got := g.get(t, 200, documentPath(deed, "/find?q=")); string(got.body) != `{"hits":[],"more":false}` {
		t.Errorf("find without text = %s, want no hits", got.body)
	}
	if got := g.get(t, 200, documentPath(deed, "/pages/2/marks?q=deed")); string(got.body) != `{"marks":[[[0.25,0.5,0.5,0.5]]]}` {
		t.Errorf("marks of page 2 = %s, want one", got.body)
	}
	if got := g.get(t, 200, documentPath(files[0], "/pages/1/marks?q=deed")); string(got.body) != `{"marks":[]}` {
		t.Errorf("marks of a text document = %s, want none", got.body)
	}
	g.get(t, 200, documentPath(deed, "/text?find=deed")).has(t, "3 matches", documentPath(deed, "?page=2&amp;find=deed"),
		`<mark id="hit-3">DEED</mark>`)
	g.get(t, 200, documentPath(deed, "/text?find=lien")).has(t, "No matches for “lien”.")
	g.get(t, 404, "/documents/99/find?q=a")
	g.get(t, 200, documentPath(files[2], "/text")).has(t, "No text in this document")
}

func TestOriginals(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	search, deed := files[0], files[1]
	g := h.openBrowser(t, model.RoleViewer)
	for _, address := range []string{"/original", "/print"} {
		got := g.get(t, 200, documentPath(deed, address))
		got.checkHeaders(t, map[string]string{"Content-Disposition": `inline; filename="` + deed.Filename + `"`,
			"Content-Type": "application/pdf", "ETag": "", "Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"})
		if string(got.body) != string(vaulttest.PDF(3, "a")) {
			t.Errorf("body of %s = %q, want the document", address, got.body)
		}
		g.get(t, 206, documentPath(deed, address), "Range", "bytes=5-9")
	}
	got := g.get(t, 200, documentPath(search, "/download"))
	got.checkHeaders(t, map[string]string{"Content-Disposition": `attachment; filename="a Search.txt"`, "Content-Type": "text/plain",
		"ETag": "", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'; sandbox"})
	if string(got.body) != "Judgments\nnone against <b>Smith</b>\n" {
		t.Errorf("body = %q, want the document", got.body)
	}
	g.get(t, 200, documentPath(search, "/print")).has(t, "&lt;b&gt;Smith")
	// After the user signs out, the documents can't be read with that session.
	if err := h.vault.Sessions.SignOut(t.Context(), g.token, ""); err != nil {
		t.Fatalf("Sessions.SignOut: %v", err)
	}
	g.get(t, 303, documentPath(deed, "/original"), "Range", "bytes=5-9")
}

func TestZipOfAbstract(t *testing.T) {
	t.Parallel()
	h, abstract, files := newServerWithDocuments(t)
	g := h.openBrowser(t, model.RoleViewer)
	got := g.get(t, 200, "/abstracts/"+abstract+"/zip")
	got.checkHeaders(t, map[string]string{"Content-Type": "application/zip",
		"Content-Disposition": `attachment; filename="118 Orchard _Lane_.zip"`})
	z, err := zip.NewReader(bytes.NewReader(got.body), int64(len(got.body)))
	if err != nil || len(z.File) != 3 {
		t.Fatalf("zip.NewReader: %v, want 3 files", err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatalf("open %s: %v", f.Name, err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil { // reading to the end verifies the checksum
			t.Errorf("read %s from the zip: %v", f.Name, err)
		}
	}
	content, err := os.ReadFile(h.blobPath(files[0]))
	if err != nil {
		t.Fatalf("os.ReadFile: %v", err)
	}
	h.deleteBlob(t, files[0])
	defer func() {
		if err := os.WriteFile(h.blobPath(files[0]), content, 0o400); err != nil {
			t.Fatalf("os.WriteFile: %v", err)
		}
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.server.URL+"/abstracts/"+abstract+"/zip", nil)
	if err != nil {
		t.Fatalf("new request: %v", err)
	}
	req.AddCookie(&http.Cookie{Name: "deedkeep", Value: g.token})
	if response, err := g.client.Do(req); err == nil {
		body, readErr := io.ReadAll(response.Body)
		if response.StatusCode == 200 && readErr == nil {
			t.Errorf("zip with a missing document is complete: %d bytes, want an error", len(body))
		}
		if err := response.Body.Close(); err != nil {
			t.Fatalf("close response body: %v", err)
		}
	}
	g.get(t, 404, "/abstracts/nonsense/zip")
}

// Reading a document is logged once, no matter how many pages are read. Prefetching isn't logged.
func TestReadingIsLoggedOnce(t *testing.T) {
	t.Parallel()
	h, abstract, files := newServerWithDocuments(t)
	deed := files[1]
	g := h.openBrowser(t, model.RoleViewer)
	g.send(t, 200, http.MethodHead, documentPath(deed, "/pages/1"), nil, nil)
	g.get(t, 200, documentPath(deed, "/thumbnail"))
	for _, address := range []string{"", "/text", "/original", "/print", "/download"} {
		g.send(t, 200, http.MethodHead, documentPath(deed, address), nil, nil)
	}
	if got := h.accessEvents(t); len(got) != 0 {
		t.Errorf("access events before reading = %q, want none", got)
	}
	g.get(t, 200, documentPath(deed, ""))
	for page := 1; page <= 3; page++ {
		g.get(t, 200, documentPath(deed, fmt.Sprintf("/pages/%d", page)))
	}
	g.get(t, 200, documentPath(deed, "/find?q=deed"))
	record := fmt.Sprintf("file:%d", deed.ID)
	if got := h.accessEvents(t); !slices.Equal(got, []string{"file.opened user " + record + " map[]"}) {
		t.Errorf("access events after reading = %q, want one of %s", got, record)
	}
	g.get(t, 200, documentPath(files[2], "/download"))
	g.get(t, 200, "/abstracts/"+abstract+"/zip")
	if got := h.accessEvents(t); len(got) != 5 {
		t.Errorf("access events after downloads = %q, want 5", got)
	}
}

func TestPageWords(t *testing.T) {
	h, _, files := newServerWithDocuments(t)
	g := &browser{h: h, token: h.signIn(t, "Owner", ""), client: &http.Client{}}
	for _, row := range []struct{ page, want string }{
		{"2", `"rotation":0,"scale":10000,"words":[{"text":"Page","box":[1,2,3,4]},{"text":"2:","box":[0,0,0,0],"breaks":1},` +
			`{"text":"GENERAL","box":[0,0,0,0],"breaks":2},{"text":"DEED","box":[0,0,0,0]}]`},
		{"4", `"words":[]`},
	} {
		if got := string(g.get(t, 200, documentPath(files[1], "/pages/"+row.page+"/words")).body); !strings.Contains(got, row.want) {
			t.Errorf("words of page %s: got %s, want %s", row.page, got, row.want)
		}
	}
	g.get(t, 404, "/documents/999/pages/1/words")
}

// The viewer's menu downloads a searchable PDF. Until OCR has read the pages, it says why it can't.
func TestSearchablePDF(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.OCRReader = new(vaulttest.FakeOCR) })
	h.createUser(t, "Owner", model.RoleAdmin)
	files := vaulttest.UploadDocs(t, h.vault, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.TextDoc("note.txt", "plain words"))
	g := h.openBrowser(t, model.RoleViewer)
	path := documentPath(files[0], "/searchable.pdf")
	g.get(t, 200, documentPath(files[0], "")).has(t, `aria-describedby="not-searchable"`, "being processed")
	g.get(t, 200, documentPath(files[1], "")).lacks(t, "searchable PDF")
	g.get(t, 409, path).has(t, "being processed")
	g.get(t, 404, documentPath(files[1], "/searchable.pdf"))
	vaulttest.ReadPages(t, h.vault, files[0].ID)
	g.get(t, 200, documentPath(files[0], "")).has(t, `href="`+path+`"`)
	got := g.get(t, 200, path)
	got.has(t, "%PDF-", "Willoughby")
	if name := got.Header.Get("Content-Disposition"); name != `attachment; filename=Deed-searchable.pdf` {
		t.Errorf("Content-Disposition = %q", name)
	}
}
