package ui_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// The details of a document that was created from pages link to the documents that it comes from.
func TestViewerNamesOrigin(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	_, stored := h.createAbstract(t, actor, nil, model.Property{}, "2019 packet.pdf")
	source := stored.Files[0].ID
	draft := jobs.PagesDraft{Name: model.StringInput("Deed"), Parts: []jobs.PagesPart{{FileID: model.NewIDInput(source)}}}
	created, err := h.vault.Previews.CreateFromPages(t.Context(), actor, draft, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("CreateFromPages: %v", err)
	}
	link := fmt.Sprintf(`<dt>Created from</dt><dd>pages 1–2 of <a href="/documents/%d">2019 packet.pdf</a></dd>`, source)
	h.request(t, 200, "GET", fmt.Sprintf("/documents/%d", created.Files[0].ID), cookie).has(t, link)
	h.request(t, 200, "GET", fmt.Sprintf("/documents/%d", source), cookie).has(t, "<dt>Uploaded</dt>")
	h.newUser(t, "ada", model.RoleAdmin).get(t, 200, fmt.Sprintf("/admin/activity?record=file:%d", created.Files[0].ID)).
		has(t, "created document <a", "from pages 1–2 of 2019 packet.pdf")
}

// The viewer links back to the document's row on the correct page of the list.
func TestViewerLinksBackToRow(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	names := make([]string, 100) // the maximum number of documents in one form
	for i := range names {
		names[i] = fmt.Sprintf("%03d.pdf", i)
	}
	path, stored := h.createAbstract(t, actor, nil, model.Property{}, names...)
	staged := h.newStagedUpload(t)
	if err := staged.Add("100.pdf", bytes.NewReader(vaulttest.PDF(1, "100"))); err != nil {
		t.Fatalf("stage file: %v", err)
	}
	updated, err := h.vault.Abstracts.Attach(t.Context(), actor, stored.Abstract.ID, model.UploadDraft{}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Attach: %v", err)
	}
	stored = h.getAbstract(t, updated.Abstract.ID)
	in := "?in=" + url.QueryEscape("abstract:"+path[len("/abstracts/"):])
	for at, want := range map[int]string{0: path + "#read-%d", 99: path + "#read-%d", 100: path + "?page=2#read-%d"} {
		id := stored.Files[at].ID
		back := fmt.Sprintf(want, id)
		h.request(t, 200, "GET", fmt.Sprintf("/documents/%d%s", id, in), cookie).has(t, `data-back="`+back+`"`,
			`href="`+back+`" aria-label="Back to`)
	}
	last := fmt.Sprintf(`id="read-%d"`, stored.Files[100].ID)
	h.request(t, 200, "GET", path+"?page=2", cookie).has(t, last)
	h.request(t, 200, "GET", path, cookie).lacks(t, last)
	h.request(t, 200, "GET", path, cookie).has(t, `<a class="skip" href="#documents">`)
	loose := h.upload(t, "loose.txt", []byte("words"))
	row := fmt.Sprintf("read-%d", loose.ID)
	h.request(t, 200, "GET", fmt.Sprintf("/documents/%d", loose.ID), cookie).has(t, `data-back="/vault#`+row+`"`)
	h.request(t, 200, "GET", "/vault", cookie).has(t, `id="`+row+`"`)
}

// failingRenderer fails to render images: permanently for one document and temporarily for the
// other.
type failingRenderer struct{ pageRenderer }

func (failingRenderer) PageImage(_ context.Context, r sandbox.Request, _, _ int, _ document.ExtractLimits) (document.Image, error) {
	if r.Size%2 == 0 {
		return document.Image{}, fmt.Errorf("too wide: %w", document.ErrTooLarge)
	}
	return document.Image{}, sandbox.ErrDeadline
}

// If a document can't be rendered permanently, its page has no retry button and requests no images.
// The dashboard lists the document for one week.
func TestPermanentProcessingFailure(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Reader = failingRenderer{} })
	h.createUser(t, "Owner", model.RoleAdmin)
	pdf := func(length int) []byte {
		salt := ""
		for len(vaulttest.PDF(1, salt))%2 != length%2 {
			salt += "."
		}
		return vaulttest.PDF(1, salt)
	}
	impossible, slow := h.upload(t, "never.pdf", pdf(0)), h.upload(t, "slow.pdf", pdf(1))
	h.vault.Start(time.Hour)
	for _, f := range []model.File{impossible, slow} {
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			now, err := h.vault.Files.Get(t.Context(), f.ID)
			if err != nil || time.Now().After(end) {
				t.Fatalf("Files.Get = %+v, %v, want processed after 20 seconds", now, err)
			}
			if !now.Processing {
				break
			}
		}
	}
	g := h.openBrowser(t, model.RoleStaff)
	retry := func(f model.File) string { return documentPath(f, "/retry") }
	page := g.get(t, 200, documentPath(impossible, ""))
	page.has(t, "Preview not available", "exceeds the size limits", documentPath(impossible, "/download"))
	page.lacks(t, retry(impossible), "/pages/")
	g.get(t, 200, documentPath(slow, "")).has(t, documentPath(slow, "/pages/1"), `data-as="pages"`)
	for _, list := range []string{"/vault", "/"} {
		page := g.get(t, 200, list)
		page.has(t, "never.pdf", "exceeds the size limits", retry(slow))
		page.lacks(t, retry(impossible))
	}
	h.clock.Advance(8 * 24 * time.Hour)
	g = h.openBrowser(t, model.RoleAdmin)
	page = g.get(t, 200, "/")
	page.has(t, retry(slow))
	page.lacks(t, "exceeds the size limits")
	if err := h.vault.Files.Trash(t.Context(), model.Actor{Kind: "operator"}, slow.ID, vault.Match{}); err != nil {
		t.Fatalf("Files.Trash: %v", err)
	}
	g.get(t, 200, "/").lacks(t, "Processing failed", "/documents/retry")
}
