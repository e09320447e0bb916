//go:build browser

package cmd_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

// sheetTest is a runsheet that a staff user has open.
type sheetTest struct {
	*firm
	*tab
	t    *testing.T
	path string
}

// openSheet opens the runsheet of createRunsheet at a window width.
func openSheet(t *testing.T, env *browserEnv, width int64) *sheetTest {
	t.Helper()
	srv := env.newStaffedServer(t)
	f := &firm{testServer: srv, client: srv.apiClient()}
	created, err := f.client.CreateAbstract(t.Context(), client.AbstractDraft{})
	f.must(err)
	f.createRunsheet(t.Context(), created.Data.ID)
	b := env.newTab(t, srv.origin)
	b.setSize(width, 900)
	b.signIn(staff)
	b.goTo("/abstracts/" + created.Data.ID)
	return &sheetTest{firm: f, tab: b, t: t, path: "/abstracts/" + created.Data.ID}
}

// columns of the runsheet
const (
	columnType, columnBookPage, columnNumber, columnGrantees, columnAmount, columnStatus, columnRemarks = 2, 5, 6, 8, 9, 10, 12
)

// cell returns the selector of a cell.
func (s *sheetTest) cell(id, column int) string {
	return fmt.Sprintf("#instrument-%d > :nth-child(%d)", id, column)
}

// waitCell waits until a cell is selected and has a text.
func (s *sheetTest) waitCell(id, column int, text string) {
	s.t.Helper()
	s.waitFor(fmt.Sprintf(`document.querySelector(%q) == document.activeElement && document.activeElement.innerText.trim() == %q`,
		s.cell(id, column), text))
}

// enter selects a cell and types into it.
func (s *sheetTest) enter(id, column int, text string) {
	s.t.Helper()
	s.click(s.cell(id, column))
	s.press(text)
}

// storedInstrument returns an instrument as the API has it.
func (f *firm) storedInstrument(ctx context.Context, id int) apitypes.Instrument {
	f.t.Helper()
	var got apitypes.InstrumentBody
	f.must(f.client.Do(ctx, http.MethodGet, fmt.Sprintf("/v1/instruments/%d", id), nil, &got))
	return got.Data
}

// stored returns an instrument as the API has it.
func (s *sheetTest) stored(id int) apitypes.Instrument {
	s.t.Helper()
	return s.storedInstrument(s.t.Context(), id)
}

// checkPlace checks the book and page of an instrument.
func (s *sheetTest) checkPlace(what string, id int, want string) {
	s.t.Helper()
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	i := s.stored(id)
	if got := text(i.BookType) + " " + text(i.Book) + "/" + text(i.Page); got != want {
		s.t.Errorf("%s: got book and page %q, want %q", what, got, want)
	}
}

// A click selects a cell, and one key changes no cell. Saved changes can be undone and repeated, but a change of
// another person is never overwritten.
func testRunsheetUndo(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	s.click(s.cell(1, columnGrantees))
	s.waitCell(1, columnGrantees, "Bea Cole")
	s.press("n") // types, as any letter does
	s.waitFor(`document.activeElement.value == "n"`)
	s.press(kb.Escape)
	s.waitCell(1, columnGrantees, "Bea Cole")
	s.press(kb.Insert)
	s.waitFor(`document.activeElement.closest("#instrument-new")`)
	s.click(s.cell(1, columnBookPage))
	s.press(kb.Enter + "9")
	s.waitFor(`document.activeElement.value == "Deed Book 1022/3119"`)
	s.press(kb.Escape)
	s.waitCell(1, columnBookPage, "Deed Book 1022/311")

	s.press("Liber 7/8" + kb.Enter)
	s.waitSaved()
	s.waitCell(1, columnBookPage, "Liber 7/8")
	s.enter(2, columnRemarks, "north pt."+kb.Enter)
	s.waitSaved()
	s.waitCell(2, columnRemarks, "north pt.")
	s.pressWith(withCtrl, "z")
	s.waitCell(2, columnRemarks, "")
	s.pressWith(withCtrl, "z")
	s.waitCell(1, columnBookPage, "Deed Book 1022/311")
	s.checkPlace("after Ctrl+Z", 1, "Deed Book 1022/311")
	s.waitFor(`document.getElementById("runsheet-said").textContent == "Row 1, Book/Page is now Deed Book 1022/311."`)
	s.pressWith(withCtrl, "y")
	s.waitCell(1, columnBookPage, "Liber 7/8")
	s.pressWith(withCtrl|withShift, "Z")
	s.waitCell(2, columnRemarks, "north pt.")
	s.waitFor(`document.getElementById("runsheet-said").textContent == "Row 2, Remarks is now north pt."`)
	s.checkPlace("after Ctrl+Y", 1, "Liber 7/8")

	// Another person's change stays.
	s.enter(1, columnBookPage, "Liber 9/10"+kb.Enter)
	s.waitSaved()
	s.must(s.client.Do(t.Context(), http.MethodPatch, "/v1/instruments/1", map[string]any{"page": "77"}, &apitypes.InstrumentBody{}))
	s.expect("status of 412")
	s.pressWith(withCtrl, "z")
	s.waitVisible("#instrument-1 + .cell-note [role=alert] | Row 1, Book/Page: API key tests changed this to “Liber 9/77” on ")
	s.checkPlace("after a conflict", 1, "Liber 9/77")
	s.checkAccessible(t, "undo with a conflict")
	s.screenshot("scene-runsheet-undo-conflict")
	s.press(kb.Escape)
	s.waitCell(1, columnBookPage, "Liber 9/77")

	// A moved row moves back.
	s.click(s.cell(2, columnRemarks))
	s.pressWith(withAlt, kb.ArrowUp)
	s.waitFor(`document.querySelector("#instrument-2 .number").innerText == "1"`)
	s.pressWith(withCtrl, "z")
	s.waitFor(`document.querySelector("#instrument-2 .number").innerText == "2" && document.querySelector("#instrument-1 + #instrument-2")`)

	// A new row is trashed and comes back, with its second cell.
	s.press(kb.Insert + "mort" + kb.Tab + "5/2/2001" + kb.Enter)
	s.waitSaved()
	s.waitVisible("#instrument-6 td | Mortgage")
	s.pressWith(withCtrl, "z")
	s.waitFor(`document.activeElement.closest("#instrument-6") && document.activeElement.innerText == ""`)
	s.pressWith(withCtrl, "z")
	s.waitVisible(".notice | “Mortgage” is in the trash.")
	s.pressWith(withCtrl, "y")
	s.waitVisible("#instrument-6 td | Mortgage")
	s.pressWith(withCtrl, "y")
	s.waitVisible("#instrument-6 td | 5/2/2001")
	s.click("#runsheet-undo")
	s.waitFor(`!document.querySelector("#instrument-6").innerText.includes("5/2/2001")`)
	s.click("#runsheet-redo")
	s.waitVisible("#instrument-6 td | 5/2/2001")

	// A new row disappears if its only cell is discarded.
	s.expect("status of 422")
	s.press(kb.Insert + "xyz" + kb.Enter)
	s.waitVisible(".cell-note | “xyz” isn't a document type.")
	s.press(kb.Escape)
	s.waitFor(`document.activeElement.closest("#instrument-new") && document.querySelectorAll(".runsheet tbody tr[data-id]").length == 7`)
}

// Undo undoes the last action first, also if it sorted the runsheet or changed how it is shown. A gap stays
// with its instrument however the rows are sorted.
func testRunsheetSorting(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	rows := func(want string) {
		t.Helper()
		s.waitFor(fmt.Sprintf(`[...document.querySelectorAll(".runsheet tbody tr:not(.new-row)")].filter(e => e.checkVisibility())
			.map(e => e.dataset.id ?? "gap").join(" ") == %q`, want))
	}
	const gap = "1 2 3 4 gap 5"
	rows(gap)
	s.enter(1, columnRemarks, "typed first"+kb.Enter)
	s.waitSaved()
	recorded := ".runsheet thead button | Recorded"
	s.click(recorded)
	s.click(recorded)
	rows("gap 5 4 3 1 2")
	s.screenshot("scene-runsheet-descending")
	s.pressWith(withCtrl, "z")
	rows(gap)
	s.waitVisible(`th[aria-sort="ascending"]`)
	s.pressWith(withCtrl, "z")
	s.waitFor(`!document.querySelector("[aria-sort]")`)
	s.waitVisible("#instrument-1 .remarks | typed first")
	s.pressWith(withCtrl, "y")
	s.waitVisible(`th[aria-sort="ascending"]`)
	s.click(".runsheet thead button | Grantees")
	rows("1 gap 5 2 4 3")
	eval[bool](s.tab, `(() => { const e = document.querySelector("#runsheet-category"); e.value = "Security";
		e.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
	rows("2")
	s.waitVisible("#runsheet-shown | 1 of 5 shown, 1 gap hidden")
	s.click("#runsheet-undo")
	rows("1 gap 5 2 4 3")
	s.click("#runsheet-reset")
	rows(gap)

	s.click(s.cell(1, columnRemarks))
	s.pressWith(withAlt, kb.ArrowDown)
	s.waitVisible("#runsheet-sort button")
	rows("2 1 3 4 gap 5")
	s.click("button | Sort by recording date")
	s.waitVisible("#runsheet-notices .notice | Runsheet sorted by recording date.")
	rows(gap)
	s.click(s.cell(1, columnRemarks))
	s.pressWith(withCtrl, "z")
	rows("2 1 3 4 gap 5")
	s.waitVisible("#runsheet-sort button")
	s.pressWith(withCtrl, "z")
	rows(gap)
	s.pressWith(withCtrl, "y")
	rows("2 1 3 4 gap 5")
	s.pressWith(withCtrl, "y")
	rows(gap)
	// Otherwise, the page would show the change before the keys are pressed.
	eval[bool](s.tab, `document.addEventListener("deedkeep:live", (event) => event.stopImmediatePropagation(), true), true`)
	s.must(s.client.Do(t.Context(), http.MethodPatch, "/v1/instruments/3", map[string]any{"position": 1}, &apitypes.InstrumentBody{}))
	s.expect("status of 412")
	s.pressWith(withCtrl, "z")
	s.waitVisible("#runsheet-notices .problem | The runsheet was reordered in the meantime")
	rows("3 1 2 4 gap 5")
}

// Values that can't be right for their column are asked about beside their cell.
func testRunsheetQuestions(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	s.expect("status of 422")
	s.enter(1, columnGrantees, "3/9/1998"+kb.Enter)
	const question = ".cell-note [role=alert] | Row 1, Grantees: “3/9/1998” looks like a date. Keep it as a grantee?"
	s.waitVisible("#instrument-1 + " + question)
	s.waitFor(findJS("button | Change") + ` == document.activeElement`)
	if got := s.stored(1).Grantees; len(got) != 1 || got[0] != "Bea Cole" {
		t.Errorf("grantees while the question is open: got %q, want Bea Cole", got)
	}
	for _, theme := range []string{"light", "dark"} {
		s.setTheme(theme)
		s.checkAccessible(t, "question about a cell, "+theme)
		s.screenshot("scene-runsheet-question-" + theme)
	}
	s.setSize(360, 740)
	s.checkFits(360)
	s.screenshot("scene-runsheet-question-narrow")
	s.setSize(1440, 900)
	s.press(kb.Enter)
	s.waitFor(`document.activeElement.value == "3/9/1998"`)
	s.press(kb.Escape)
	s.waitCell(1, columnGrantees, "Bea Cole")
	s.expect("status of 422")
	s.press("3/9/1998" + kb.Enter)
	s.waitVisible(question)
	s.click(".cell-note button | Keep")
	s.waitFor(`!document.querySelector(".cell-note, .unsaved")`)
	if got := s.stored(1).Grantees; len(got) != 1 || got[0] != "3/9/1998" {
		t.Errorf("grantees after Keep: got %q, want 3/9/1998", got)
	}
	s.pressWith(withCtrl, "z")
	s.waitCell(1, columnGrantees, "Bea Cole")

	// A status is typed completely. The first letter of other text selects none.
	for _, row := range []struct {
		column       int
		typed, asked string
	}{
		{columnStatus, "easement", "“easement” isn't a status."},
		{columnType, "j", "“j” isn't a document type."},
		{columnBookPage, "Assign", "“Assign” looks like words. Keep it as the book?"},
		{columnNumber, "3/9/1998", "looks like a date. Keep it as the instrument number?"},
		{columnRemarks, "d", "“d” is only one character. Keep it as the remarks?"},
	} {
		s.expect("status of 422")
		s.enter(2, row.column, row.typed+kb.Tab)
		s.waitVisible("#instrument-2 + .cell-note | " + row.asked)
		s.click(s.cell(2, row.column))
		s.press(kb.Escape)
		s.waitFor(`!document.querySelector(".cell-note")`)
	}
	s.checkRows(t, "after all questions", "1 Warranty Deed 5/2/2001 Deed Book 1022/311", "2 Mortgage 5/2/2001 1022/314",
		"3 Release or Satisfaction 1/5/2010", "4 Easement or Right of Way 7/1/2012", "5 Quitclaim Deed 4/17/2019")
	s.enter(2, columnStatus, "open"+kb.Enter)
	s.waitSaved()
	if i := s.stored(2); i.StatusSetBy == nil || i.Status == nil || *i.Status != "open" {
		t.Errorf("status: got %v by %v, want open by a user", i.Status, i.StatusSetBy)
	}
}

// While a conflict is shown, only an explicit save replaces the other person's entry: not Discard, another cell, or Tab.
func testRunsheetConflictChoices(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	const note = "#instrument-1 + .cell-note"
	theirs := ""
	check := func(what string) {
		t.Helper()
		if got := s.stored(1).Remarks; got == nil || *got != theirs {
			t.Errorf("remarks %s: got %v, want %q", what, got, theirs)
		}
	}
	// collide opens a cell, lets another person change it, types, and presses Enter.
	collide := func(other string) {
		t.Helper()
		s.click(s.cell(1, columnRemarks))
		s.press(kb.Enter)
		theirs = other
		s.must(s.client.Do(t.Context(), http.MethodPatch, "/v1/instruments/1", map[string]any{"remarks": other}, &apitypes.InstrumentBody{}))
		s.press("mine")
		s.expect("status of 412")
		s.press(kb.Enter)
		s.waitVisible(note + " | changed this to “" + other + "”")
	}
	collide("theirs 1")
	s.click(note + " button | Discard")
	s.waitCell(1, columnRemarks, "theirs 1")
	s.waitFor(`!document.querySelector(".cell-note, .unsaved")`)
	check("after Discard")

	collide("theirs 2")
	s.click(s.cell(4, columnGrantees))
	s.waitCell(4, columnGrantees, "Wexcombe Electric")
	s.click(note + " button | Change")
	s.waitFor(`document.activeElement.value.endsWith("mine")`)
	s.press(" again" + kb.Tab)
	s.waitFor(`document.querySelector("#instrument-1 .remarks").innerText.endsWith("mine again")`)
	s.click(note + " button | Change")
	s.waitFor(`document.activeElement.value.endsWith("mine again")`)
	s.click(s.cell(4, columnGrantees))
	s.enter(4, columnRemarks, "saved after the others"+kb.Enter) // requests are sent one after another
	s.waitCell(4, columnRemarks, "saved after the others")
	s.waitFor(`!document.querySelector(".unsaved")`)
	check("after selecting other cells")
	s.screenshot("scene-runsheet-conflict")
	s.click(note + " button | Change")
	s.press(kb.Enter)
	s.waitFor(`!document.querySelector(".cell-note, .unsaved, .runsheet textarea")`)
	theirs = "theirs 1mine again"
	check("after Change and Enter")
}

// Long values stay in their cells, also on paper, and numbers on one line.
func testRunsheetLayout(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	s.must(s.client.Do(t.Context(), http.MethodPatch, "/v1/instruments/1", map[string]any{"instrument_number": "201510020020117",
		"consideration_text": "One Dollar ($1.00) and other good and valuable consideration"}, &apitypes.InstrumentBody{}))
	s.goTo(s.path)
	s.waitVisible("#instrument-1 td | valuable consideration")
	s.screenshot("scene-runsheet-long-values")
	if cut := eval[[]string](s.tab, `[...document.querySelectorAll(".runsheet tr[data-id] > td")].filter(e => e.scrollWidth > e.clientWidth &&
		!e.title.includes(e.innerText.trim())).map(e => e.innerText)`); len(cut) > 0 {
		t.Errorf("text that is cut, without its complete text as title: %q", cut)
	}
	if high := eval[[]string](s.tab, `[...document.querySelectorAll(".runsheet tr[data-id]")].filter(e => e.offsetHeight > 36).map(
		e => e.innerText)`); len(high) > 0 {
		t.Errorf("rows of several lines: %q", high)
	}
	s.click(s.cell(1, columnAmount))
	s.waitFor(fmt.Sprintf("document.querySelector(%[1]q).scrollWidth <= document.querySelector(%[1]q).clientWidth", s.cell(1, columnAmount)))
	if lines := eval[int](s.tab, fmt.Sprintf(`(() => { const r = document.createRange();
		r.selectNodeContents(document.querySelector(%q)); return r.getClientRects().length })()`, s.cell(1, columnNumber))); lines != 1 {
		t.Errorf("lines of an instrument number = %d, want 1", lines)
	}
	s.goTo(s.path + "/print")
	s.waitVisible(".print-runsheet td | valuable consideration")
	s.screenshot("scene-print-long-values")
	if share := eval[float64](s.tab, `document.querySelector(".print-runsheet th.num").offsetWidth /
		document.querySelector(".print-runsheet table").offsetWidth`); share > 0.2 {
		t.Errorf("width of the amounts on the print = %.0f%% of the table, want at most 20%%", share*100)
	}
}
