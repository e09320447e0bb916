//go:build browser

package cmd_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// An examiner reviews the suggestions of two documents, one of which is a deed that is on the runsheet, and
// undoes them. Then the examiner keys the deed again from its document, and the panel asks.
func testDuplicates(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	f := &firm{testServer: srv, client: srv.apiClient()}
	created, err := f.client.CreateAbstract(t.Context(), client.AbstractDraft{Files: openSamples(t, []namedSample{
		{"02_Deed_2001-05-02_Bk1022-Pg0311.pdf", "title/warranty-deed-scan-100dpi.pdf"},
		{"03_Mortgage_Bk77-Pg8.pdf", "title/warranty-deed-scan-100dpi.pdf"}})})
	f.must(err)
	abstract := "/abstracts/" + created.Data.ID
	f.createRunsheet(t.Context(), created.Data.ID)
	b := env.newTab(t, srv.origin)
	b.setSize(1440, 900)
	b.signIn(staff)
	// The notice follows what is entered in the runsheet.
	b.goTo(abstract)
	b.waitVisible("#suggestions-heading | 1 suggested instrument from document names, and 1 instrument on the runsheet without its document")
	b.click("#instrument-new > :nth-child(5)")
	b.press("77/8" + kb.Enter)
	b.waitSaved()
	b.waitVisible("#suggestions-heading | 2 instruments on the runsheet without their documents")
	b.setSize(360, 740)
	b.checkFits(360)
	b.setSize(1440, 900)
	b.pressWith(withCtrl, "z")
	b.waitVisible("#suggestions-heading | 1 suggested instrument from document names")
	b.goTo(abstract + "?view=documents")
	b.waitNavigation(func() { b.click("#suggestions a | Review suggestions") })
	b.waitVisible("td b | Already on the runsheet as No. 1: Warranty Deed, Deed Book 1022, Page 311")
	b.checkAccessible(t, "suggestions from documents")
	b.screenshot("scene-suggestions")
	b.setSize(360, 740)
	b.checkFits(360)
	b.screenshot("scene-suggestions-narrow")
	b.setSize(1440, 900)
	b.waitNavigation(func() { b.click("button | Add selected instruments") })
	b.waitVisible("main > .notice | 1 instrument added, 1 instrument on the runsheet completed.")
	b.waitVisible("#instrument-1 a.file")
	b.screenshot("scene-suggestions-undo")
	b.waitNavigation(func() { b.click("main > .notice button | Undo") })
	b.waitVisible("main > .notice | Undone: 2 instruments.")
	b.waitFor(`!document.querySelector("#instrument-1 a.file, #instrument-6")`)

	b.goTo(fmt.Sprintf("/documents/%d?in=abstract:%s", created.Data.Files[0].ID, created.Data.ID))
	b.waitPageImage(1)
	b.press("i")
	b.waitFor(inType)
	b.waitVisible(".panel-form .warning, .panel-body .warning | Already on the runsheet as No. 1")
	eval[bool](b, `(() => { for (const [id, value] of Object.entries({book_type: "DB", book: "1022", page: "311", remarks: "Faint copy"}))
		document.querySelector("#instrument-" + id).value = value; return true })()`)
	b.expect("status of 422")
	b.pressWith(withCtrl, kb.Enter)
	b.waitFor(findJS("button | Add document to No. 1") + ` == document.activeElement`)
	b.waitFor(`document.querySelector("#instrument-remarks").value == "Faint copy"`)
	for _, theme := range []string{"light", "dark"} {
		b.setTheme(theme)
		b.checkAccessible(t, "duplicate, "+theme)
		b.screenshot("scene-panel-duplicate-" + theme)
	}
	b.setSize(360, 740)
	b.checkFits(360)
	b.screenshot("scene-panel-duplicate-narrow")
	b.setSize(1440, 900)
	b.click("a | Back to editing")
	b.waitFor(inType)
	b.expect("status of 422")
	b.pressWith(withCtrl, kb.Enter)
	b.waitVisible("button | Add document to No. 1")
	b.waitNavigation(func() { b.click("button | Add document to No. 1") })
	b.waitVisible("main > .notice | Added to No. 1")
	b.waitVisible("main > .notice button | Undo")
	b.goTo(abstract)
	b.waitVisible("#instrument-1 a.file")
	b.waitVisible("#instrument-1 .remarks | Faint copy")
}

// A row takes its place when its date is typed, and the cursor goes with it. Sorting by recording date is undone
// from its notice. A cell that makes a row a duplicate is asked about.
func testRunsheetPlaces(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	first := func(id string) {
		t.Helper()
		s.waitFor(fmt.Sprintf(`document.querySelector(".runsheet tbody tr[data-id]").id == %q`, id))
	}
	s.click("#instrument-new > :nth-child(2)")
	s.press("Easement or Right of Way" + kb.Tab)
	s.waitSaved()
	first("instrument-1")
	s.press("5/2/1979" + kb.Tab)
	first("instrument-6")
	s.waitFor(`document.activeElement == document.querySelector("#instrument-6 > :nth-child(4)")`)
	s.waitFor(`document.querySelector("#runsheet-said").textContent == "Moved to position 1 of 6."`)
	s.screenshot("scene-runsheet-moved")

	s.pressWith(withAlt, kb.ArrowDown)
	first("instrument-1")
	s.waitVisible("#runsheet-sort button")
	s.click("button | Sort by recording date")
	s.waitVisible("#runsheet-notices .notice | Runsheet sorted by recording date.")
	first("instrument-6")
	s.screenshot("scene-runsheet-sorted")
	s.click("#runsheet-notices button | Undo")
	s.waitVisible("#runsheet-notices .notice | Sequence restored.")
	first("instrument-1")
	s.screenshot("scene-runsheet-chosen")
	s.setSize(360, 740)
	s.checkFits(360)
	s.screenshot("scene-runsheet-chosen-narrow")
	s.setSize(1440, 900)

	s.expect("status of 422")
	s.enter(6, columnBookPage, "1022/0311"+kb.Enter)
	s.waitVisible(".cell-note [role=alert] | May already be on the runsheet as No. 1: Warranty Deed, Deed Book 1022, Page 311.")
	s.checkAccessible(t, "question about a duplicate")
	s.waitVisible("#runsheet-sort button")
	s.screenshot("scene-runsheet-duplicate")
	s.click(".cell-note button | Open No. 1")
	s.waitFor(`document.activeElement == document.querySelector("#instrument-1 > :nth-child(2)")`)
	s.click(".cell-note button | Keep both")
	s.waitFor(`!document.querySelector(".cell-note, .unsaved")`)
	if got := s.stored(6); got.Page == nil || *got.Page != "0311" {
		t.Errorf("page after Keep both: got %v, want 0311", got.Page)
	}
}
