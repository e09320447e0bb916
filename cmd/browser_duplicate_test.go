//go:build browser

package cmd_test

import (
	"fmt"
	"slices"
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
	b.goTo(abstract)
	b.waitNavigation(func() { b.click("#suggestions a | Review suggestions") })
	b.waitVisible("td b | Already on the runsheet as No. 1: Warranty Deed, Deed Book 1022, Page 311")
	b.checkAccessible(t, "suggestions from documents")
	b.screenshot("scene-suggestions")
	b.setSize(360, 740)
	b.checkFits(360)
	b.screenshot("scene-suggestions-narrow")
	b.setSize(1440, 900)
	b.waitNavigation(func() { b.click("button | Add selected instruments") })
	b.waitVisible("main > .notice | 1 instrument added, 1 instrument on the runsheet updated.")
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
	b.waitFor(findJS("button | Add document to No. 1") + ` == document.activeElement`) // not that of the first question
	b.waitNavigation(func() { b.click("button | Add document to No. 1") })
	b.waitVisible("main > .notice | Added to No. 1")
	b.waitVisible("main > .notice button | Undo")
	b.goTo(abstract)
	b.waitVisible("#instrument-1 a.file")
	b.waitVisible("#instrument-1 .remarks | Faint copy")

	// After Back to editing, Enter checks what is in the form now, as Save does.
	b.goTo(fmt.Sprintf("/documents/%d?in=abstract:%s&panel=1", created.Data.Files[1].ID, created.Data.ID))
	b.waitPageImage(1)
	b.press("e")
	b.waitFor(inType)
	b.press("w")
	fill := func(fields map[string]string) {
		for id, value := range fields {
			b.fill("#instrument-"+id, value)
		}
	}
	fill(map[string]string{"instrument_number": "", "book_type": "DB", "book": "1022", "page": "311"})
	b.expect("status of 422")
	b.press(kb.Enter)
	b.waitVisible("button | Add document to No. 1")
	b.click("a | Back to editing")
	b.fill("#instrument-remarks", "Another copy")
	b.fill("#instrument-page", "0311")
	b.expect("status of 422")
	b.press(kb.Enter)
	b.waitFor(findJS("button | Add document to No. 1") + ` == document.activeElement`)
	b.click("a | Back to editing")
	fill(map[string]string{"book": "1033", "page": "17"})
	b.press(kb.Enter)
	b.waitVisible(".panel-body .notice | Warranty Deed · DB 1033, Page 17 saved.")
	if got := f.storedInstrument(t.Context(), 1); *got.Book != "1022" || len(got.Documents) != 1 {
		t.Errorf("No. 1: got book %q and %d documents, want 1022 and 1", *got.Book, len(got.Documents))
	}
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
	if places := eval[[]float64](s.tab, `[...document.querySelectorAll(".cell-note button")].map(e => e.getBoundingClientRect()).flatMap(
		(box, n, all) => n ? [box.top - all[n - 1].top, box.left - all[n - 1].right] : [])`); slices.ContainsFunc(places,
		func(gap float64) bool { return gap > 16 }) {
		t.Errorf("gaps between the buttons of a question: got %v, want them side by side", places)
	}
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
