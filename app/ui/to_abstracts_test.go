package ui_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// fileInInbox uploads a document and moves it to the folder Inbox.
func (ts *testServer) fileInInbox(t *testing.T, doc vaulttest.Doc) model.File {
	t.Helper()
	file := vaulttest.UploadDocs(t, ts.vault, doc)[0]
	_, err := ts.vault.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: []uint64{file.ID},
		To: vault.Destination{Folder: 1}})
	vaulttest.NoError(t, err)
	return file
}

// The documents of a folder are moved one after another to the abstracts that are suggested, and an undo shows the
// document again.
func TestMoveToAbstracts(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	const start = "/vault/1/to-abstracts"
	kim.get(t, 200, "/vault/1").has(t, `href="/vault/1/to-abstracts"`, "Move to abstracts")
	kim.get(t, 200, start).has(t, "Inbox has no documents to move", `href="/vault/1"`)
	firstPath, first := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-0140"}, model.Property{County: "Albany"})
	_, second := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-0141"},
		model.Property{Address: "12 Elm St", City: "Troy"})
	h.vault.Start(time.Hour)
	a := h.fileInInbox(t, vaulttest.TextDoc("26-0140 a.txt", "Property: 12 Elm Street, Troy, NY\n<b>"))
	b := h.fileInInbox(t, vaulttest.PDFDoc("b.pdf", "b"))
	c := h.fileInInbox(t, vaulttest.PDFDoc("c.pdf", "c"))
	vaulttest.WaitProcessed(t, h.vault)

	page := kim.get(t, 200, start)
	page.has(t, "<h1>Move to abstracts</h1>", "1 of 3", "26-0140 a.txt", "&lt;b&gt;", "Suggested abstracts",
		"File number 26-0140 in the document name", "12 Elm St, Troy on page 1", fmt.Sprintf(`href="/vault/1/to-abstracts?document=%d" data-skip`, b.ID))
	choices := page.matches(t, `name="to" value="(abstract:[^"]+)" data-key="1"`)
	other := page.matches(t, `name="to" value="(abstract:[^"]+)" data-key="2"`)
	form := func(file model.File, to string, moved int) url.Values {
		return url.Values{"document": {fmt.Sprint(file.ID)}, "to": {to}, "moved": {fmt.Sprint(moved)}}
	}
	moved := kim.post(t, 303, start, form(a, choices[0], 0))
	if want := fmt.Sprintf("/vault/1/to-abstracts?document=%d&moved=1", b.ID); moved.location() != want ||
		h.noticeOf(t, moved) != "“26-0140 a.txt” was moved to “26-0140”." {
		t.Errorf("Location %q, notice %q; want %q", moved.location(), h.noticeOf(t, moved), want)
	}
	if got := vaulttest.File(t, h.vault, a.ID); got.AbstractID != first.Abstract.ID {
		t.Errorf("abstract of the document = %d, want %d", got.AbstractID, first.Abstract.ID)
	}
	kim.get(t, 200, moved.location()).has(t, "2 of 3", "b.pdf", "/documents/"+fmt.Sprint(b.ID)+"/pages/1?w=", "Recently changed abstracts")
	kim.get(t, 303, fmt.Sprintf("%s?document=%d", start, a.ID)) // it isn't there anymore

	undone := kim.undo(t, moved)
	if want := fmt.Sprintf("/vault/1/to-abstracts?document=%d", a.ID); undone.location() != want ||
		h.noticeOf(t, undone) != "1 document was moved back." {
		t.Errorf("after the undo: Location %q, notice %q; want %q", undone.location(), h.noticeOf(t, undone), want)
	}
	kim.get(t, 200, undone.location()).has(t, "1 of 3", "26-0140 a.txt")

	// Without a choice, and with an abstract that was deleted, the page says what to do.
	kim.post(t, 422, start, form(a, "", 0)).has(t, "No abstract is selected. Select one, or skip the document.", "26-0140 a.txt")
	kim.post(t, 422, start, form(a, "folder:2", 0)).has(t, "No abstract is selected.")
	vaulttest.NoError(t, h.vault.Abstracts.Trash(t.Context(), vaulttest.Operator, second.Abstract.ID, vault.Match{}))
	kim.post(t, 422, start, form(a, other[0], 0)).has(t, "The abstract was deleted. Select another one, or skip the document.")
	kim.post(t, 422, start, url.Values{"to": {choices[0]}})

	// The last document leads to the end, whether others were skipped or not.
	end := kim.post(t, 303, start, form(c, choices[0], 0))
	kim.get(t, 200, end.location()).has(t, "This was the last document", "You moved 1 document.", "2 documents are",
		`href="/vault/1/to-abstracts"`)
	kim.post(t, 303, start, form(b, choices[0], 1))
	end = kim.post(t, 303, start, form(a, choices[0], 2))
	kim.get(t, 200, end.location()).has(t, "Inbox has no documents to move", "You moved 3 documents.")
	// Someone else moved the document in the meantime.
	gone := kim.post(t, 303, start, form(a, choices[0], 0))
	if notice := h.noticeOf(t, gone); notice != "The document is no longer in “Inbox”." {
		t.Errorf("notice = %q", notice)
	}
	kim.get(t, 200, firstPath+"/history").has(t, "26-0140 a.txt")
}

// Users can search for an abstract that isn't suggested, with and without scripts.
func TestMoveToAbstractsSearch(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-0140"}, model.Property{})
	file := vaulttest.UploadDocs(t, h.vault, vaulttest.PDFDoc("a.pdf", "a"))[0]
	address := fmt.Sprintf("/vault/to-abstracts?document=%d&q=26-01", file.ID)
	kim.get(t, 200, "/vault").has(t, `href="/vault/to-abstracts"`)
	kim.get(t, 200, address).has(t, "Abstracts found", "26-0140", `value="26-01"`, `name="q" value="26-01"`)
	part := kim.get(t, 200, address, "HX-Request", "true")
	if text := string(part.body); !strings.HasPrefix(text, `<div id="to-choices">`) || !strings.Contains(text, "26-0140") {
		t.Errorf("part of the page = %s, want only the choices", text)
	}
	kim.get(t, 200, fmt.Sprintf("/vault/to-abstracts?document=%d&q=zzzz", file.ID)).has(t, "No matches. Check the spelling")
	kim.get(t, 303, "/vault/to-abstracts?document=999")
	kim.get(t, 404, "/vault/999/to-abstracts")
	kim.get(t, 200, "/vault/to-abstracts?document=x&moved=-1").has(t, "1 of 1", "a.pdf")

	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 200, "/vault").lacks(t, "to-abstracts")
	viewer.get(t, 403, address)
	viewer.post(t, 403, "/vault/to-abstracts", url.Values{"document": {fmt.Sprint(file.ID)}})
}

// The page says if suggestions are missing, because of an error or because the text is still being read.
func TestMoveToAbstractsWithoutSuggestions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	h.vault.Vault.BeforeDerive = func(part string) error {
		if part == "suggested abstracts" {
			return fmt.Errorf("injected error in %s", part)
		}
		return nil
	}
	vaulttest.UploadDocs(t, h.vault, vaulttest.PDFDoc("a.pdf", "a"))
	kim.get(t, 200, "/vault/to-abstracts").has(t, "Not all suggestions could be found.", "Try again", "No abstracts yet.",
		"The server is still reading the text of this document. More suggestions may follow.")
}
