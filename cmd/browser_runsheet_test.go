//go:build browser

package cmd_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

// addInstrument adds an instrument to an abstract and returns its ID.
func (f *firm) addInstrument(ctx context.Context, abstract string, fields map[string]any) int64 {
	f.t.Helper()
	var created apitypes.InstrumentBody
	f.must(f.client.Do(ctx, http.MethodPost, "/v1/abstracts/"+abstract+"/instruments", fields, &created))
	return created.Data.ID
}

// createRunsheet adds instruments with a gap and a released mortgage to an abstract. It returns the ID
// of the release.
func (f *firm) createRunsheet(ctx context.Context, abstract string) int64 {
	f.t.Helper()
	f.addInstrument(ctx, abstract, map[string]any{"type": "Warranty Deed", "recorded": "2001-05-02", "book_type": "Deed Book",
		"book": "1022", "page": "311",
		"grantors": []string{"Ned Cole"}, "grantees": []string{"Bea Cole"}, "consideration": "120000"})
	mortgage := f.addInstrument(ctx, abstract, map[string]any{"type": "Mortgage", "recorded": "2001-05-02", "book": "1022", "page": "314",
		"grantors": []string{"Bea Cole"}, "grantees": []string{"First Wexcombe Bank"}, "consideration": "96000"})
	release := f.addInstrument(ctx, abstract, map[string]any{"type": "Release or Satisfaction", "recorded": "2010-01-05",
		"relations": []map[string]any{{"kind": "releases", "instrument_id": mortgage}}})
	f.addInstrument(ctx, abstract, map[string]any{"type": "Easement or Right of Way", "recorded": "2012-07-01",
		"grantors": []string{"Bea Cole"},
		"grantees": []string{"Wexcombe Electric"}, "remarks": "North 20 feet"})
	f.addInstrument(ctx, abstract, map[string]any{"type": "Quitclaim Deed", "recorded": "2019-04-17", "grantors": []string{"Dora Finch"},
		"grantees": []string{"Carl Diaz"}})
	return release
}

// Bits of the modifier keys in the DevTools protocol.
const (
	withAlt   = 1
	withCtrl  = 2
	withShift = 8
)

// pressWith presses a key together with modifier keys.
func (ta *tab) pressWith(modifiers int64, key string) {
	ta.t.Helper()
	for _, r := range key {
		for _, event := range kb.Encode(r) {
			if event.Type == input.DispatchKeyEventTypeChar {
				continue
			}
			event.Modifiers |= modifiers
			call(ta, input.DispatchKeyEvent, *event)
		}
	}
}

// paste pastes text where the focus is.
func (ta *tab) paste(text string) {
	ta.t.Helper()
	eval[bool](ta, fmt.Sprintf(`(() => { const data = new DataTransfer(); data.setData("text/plain", %s);
		document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true})); return true })()`,
		strconv.Quote(text)))
}

// sheetRows is a JavaScript expression that returns the texts of some columns of the runsheet.
const sheetRows = `[...document.querySelectorAll(".runsheet tbody tr[data-id]:not(.new-row)")].filter(tr => !tr.hidden)
	.map(tr => [0, 1, 3, 4].map(n => tr.cells[n].innerText.trim()).join(" ").trim())`

// waitSaved waits until all cells are saved.
func (ta *tab) waitSaved() {
	ta.t.Helper()
	ta.waitFor(`!document.querySelector(".runsheet .unsaved, .runsheet td > input")`)
}

func (ta *tab) checkRows(t *testing.T, what string, want ...string) {
	t.Helper()
	list := strings.Join(want, "\n")
	ta.waitFor(sheetRows + `.join("\n") == ` + strconv.Quote(list) + ` || window.giveUp`)
	if got := strings.Join(eval[[]string](ta, sheetRows), "\n"); got != list {
		t.Errorf("%s: got rows\n%s\nwant\n%s", what, got, list)
	}
}

// A user fills in a runsheet without the mouse: new rows, changes, rows from a spreadsheet, the
// sequence, and the trash.
func testRunsheetByKeyboard(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	created, err := srv.apiClient().CreateAbstract(t.Context(), client.AbstractDraft{CustomFields: map[string]any{"file_number": "2026-0117"}})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/abstracts/" + created.Data.ID)
	b.press("r")
	b.waitFor(`document.activeElement.id == "runsheet"`)
	b.waitVisible("#runsheet-empty | No instruments yet")
	b.checkAccessible(t, "empty runsheet")
	b.screenshot("scene-runsheet-empty")

	b.press("n")
	b.press("Warranty Deed" + kb.Tab + "5/1/2001" + kb.Tab + "05022001" + kb.Tab + "Deed Book 1022/311-313" + kb.Tab + "2001-77" + kb.Tab +
		"Ned Cole; Ann Cole" + kb.Tab + "Bea Cole" + kb.Tab + "387500" + kb.Enter)
	b.waitSaved()
	b.waitVisible(".runsheet td | $387,500.00")
	b.checkRows(t, "first row", "1 Warranty Deed 5/2/2001 Deed Book 1022/311-313")
	// The start of a type's name is enough.
	b.press(kb.Insert + "mort" + kb.Tab + kb.Tab + "5/2/2001" + kb.Tab + "1022/314" + kb.Tab + kb.Tab + "Bea Cole" + kb.Tab + "First Bank" + kb.Enter)
	b.waitSaved()
	b.checkRows(t, "second row", "1 Warranty Deed 5/2/2001 Deed Book 1022/311-313", "2 Mortgage 5/2/2001 1022/314")
	b.waitVisible(".runsheet .badge | Open")

	// Esc cancels. An invalid value stays in the cell until it is corrected.
	b.press("x" + kb.Escape)
	b.press(kb.Home + kb.ArrowRight + kb.ArrowRight + kb.ArrowRight)
	b.expect("status of 422")
	b.press("2/30/2001" + kb.Enter)
	b.waitVisible(".cell-note .problem | Row 2, Recorded: ")
	b.waitFor(`document.activeElement.value == "2/30/2001"`)
	b.checkAccessible(t, "invalid date")
	b.screenshot("scene-runsheet-problem")
	b.press(kb.Escape)
	b.waitFor(`document.activeElement.innerText == "5/2/2001"`)

	// Rows from a spreadsheet: an unknown column, a wrong cell that is corrected in place, and a judgment whose Grantor is the
	// plaintiff.
	b.paste("Type\tRecorded\tBook/Page\tGrantor\tGrantee\tAmount\tExaminer\n" +
		"Quitclaim Deed\t4/17/2019\t2417/883\tDora Finch\tCarl Diaz\t$10 & OVC\tKim\n" +
		"Judgment\t6/31/2020\t\tFirst Bank\tNed Cole\t5,000\t")
	b.waitVisible("dialog h2 | Add 1 instrument?")
	b.waitVisible("dialog td .problem | “6/31/2020” isn't a date. Write it like 3/9/1998.")
	b.waitVisible("dialog .paste-columns .unknown label | Examiner")
	b.waitFor(`document.activeElement.name == "cell.3.1"`)
	b.checkAccessible(t, "pasted rows")
	b.screenshot("scene-runsheet-paste")
	b.fill("dialog [name='cell.3.1']", "6/1/2020")
	b.press(kb.Enter)
	b.waitVisible("dialog h2 | Add 2 instruments?")
	b.click("dialog td button | Swap parties")
	b.waitFor(`[...document.querySelectorAll("dialog td")].some((cell) => cell.innerText == "Plaintiff: First Bank")`)
	eval[bool](b, `(() => { const list = document.querySelector("dialog .unknown select"); list.value = "leave_out";
		list.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
	b.waitFor(`[...document.querySelectorAll("dialog del")].some((cell) => cell.innerText == "Kim")`)
	b.checkAccessible(t, "corrected rows")
	b.waitNavigation(func() { b.click("dialog button | Add 2 instruments") })
	b.waitVisible(".notice | 2 instruments added.")
	b.waitFor(`document.querySelector("#runsheet").innerText.includes("$10 & OVC")`)
	b.checkRows(t, "after pasting", "1 Warranty Deed 5/2/2001 Deed Book 1022/311-313", "2 Mortgage 5/2/2001 1022/314",
		"3 Quitclaim Deed 4/17/2019 2417/883",
		"4 Judgment 6/1/2020")
	b.waitVisible(".runsheet .gap | Possible gap in the chain of title: no earlier instrument in this runsheet names Dora Finch as grantee")

	// The last row moves to the top, goes to the trash, and comes back.
	eval[bool](b, `document.querySelector(".runsheet td[tabindex]").focus(), true`)
	b.pressWith(withCtrl, kb.End)
	b.press(kb.ArrowUp)
	for range 3 {
		b.pressWith(withAlt, kb.ArrowUp)
	}
	b.checkRows(t, "after moving", "1 Judgment 6/1/2020", "2 Warranty Deed 5/2/2001 Deed Book 1022/311-313", "3 Mortgage 5/2/2001 1022/314",
		"4 Quitclaim Deed 4/17/2019 2417/883")
	b.pressWith(withCtrl, kb.Delete)
	b.waitVisible(".notice | “Judgment · Ned Cole to First Bank” is in the trash.")
	b.checkAccessible(t, "row in the trash")
	b.screenshot("scene-runsheet-undo")
	b.pressWith(withCtrl, "z")
	b.waitVisible(".notice | “Judgment · Ned Cole to First Bank” restored.")
	b.goTo("/abstracts/" + created.Data.ID)
	b.checkRows(t, "after a reload", "1 Judgment 6/1/2020", "2 Warranty Deed 5/2/2001 Deed Book 1022/311-313", "3 Mortgage 5/2/2001 1022/314",
		"4 Quitclaim Deed 4/17/2019 2417/883")

	// Sorting and filters change only what is shown.
	b.click(".runsheet thead button | Recorded")
	b.checkRows(t, "sorted by date", "2 Warranty Deed 5/2/2001 Deed Book 1022/311-313", "3 Mortgage 5/2/2001 1022/314",
		"4 Quitclaim Deed 4/17/2019 2417/883", "1 Judgment 6/1/2020")
	b.click("#runsheet-tools label | Open encumbrances first")
	b.checkRows(t, "open encumbrances first", "3 Mortgage 5/2/2001 1022/314", "1 Judgment 6/1/2020",
		"2 Warranty Deed 5/2/2001 Deed Book 1022/311-313",
		"4 Quitclaim Deed 4/17/2019 2417/883")
	b.fill("#runsheet-category", "Conveyance")
	b.checkRows(t, "conveyances", "2 Warranty Deed 5/2/2001 Deed Book 1022/311-313", "4 Quitclaim Deed 4/17/2019 2417/883")
	b.click("#runsheet-reset")
	b.dragRow("#instrument-3 .row-handle", "#instrument-1 .row-handle")
	b.waitFor(sheetRows + `[3] != "4 Quitclaim Deed 4/17/2019 2417/883"`)
	for _, theme := range []string{"light", "dark"} {
		b.setTheme(theme)
		b.checkAccessible(t, "runsheet, "+theme)
		b.screenshot("scene-runsheet-" + theme)
	}
	b.setSize(360, 740)
	b.checkFits(360)
	b.screenshot("scene-runsheet-narrow")
}

// Two users edit the same cell. The second one learns what the first one entered.
func testRunsheetConflict(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	f := &firm{testServer: srv, client: srv.apiClient()}
	created, err := f.client.CreateAbstract(t.Context(), client.AbstractDraft{})
	f.must(err)
	release := f.createRunsheet(t.Context(), created.Data.ID)
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo(fmt.Sprintf("/abstracts/%s#instrument-%d", created.Data.ID, release))
	b.waitVisible(".relation a | No. 2")
	b.waitVisible(".relation | Released by")
	b.waitFor(fmt.Sprintf(`document.activeElement.closest("#instrument-%d")`, release))
	b.press(kb.ArrowRight + kb.ArrowRight + kb.ArrowRight)
	b.press(kb.Enter)
	var saved apitypes.InstrumentBody
	address := fmt.Sprintf("/v1/instruments/%d", release)
	f.must(f.client.Do(t.Context(), http.MethodPatch, address, map[string]any{"book": "7", "page": "8"}, &saved))
	b.press("9/10")
	b.expect("status of 412")
	b.press(kb.Enter)
	b.waitVisible(".cell-note .problem | Row 3, Book/Page: API key tests changed this to “7/8” on ")
	b.waitFor(findJS("button | Change") + ` == document.activeElement`)
	b.press(kb.Enter)
	b.waitFor(`document.activeElement.value == "9/10"`)
	b.press(kb.Escape)
	b.waitFor(`document.activeElement.innerText == "7/8"`)
	b.press("9/10" + kb.Enter)
	b.waitSaved()
	f.must(f.client.Do(t.Context(), http.MethodGet, address, nil, &saved))
	if saved.Data.Book == nil || *saved.Data.Book != "9" {
		t.Errorf("saved book: got %v, want 9", saved.Data.Book)
	}
	// All fields are on a form of their own.
	b.press(kb.Home)
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitVisible("legend | Status and related instruments")
	b.fill("#type_id", "7")
	b.waitVisible("label | Mortgagor")
	for _, theme := range []string{"light", "dark"} {
		b.setTheme(theme)
		b.checkAccessible(t, "form of an instrument, "+theme)
		b.screenshot("scene-instrument-" + theme)
	}
	b.setSize(360, 740)
	b.checkFits(360)
	b.screenshot("scene-instrument-narrow")
	b.fill("[name=consideration]", "$1,000")
	b.clickLink("button.primary | Save")
	b.waitVisible(".notice | Instrument saved.")
}

// A runsheet with 400 rows opens and reacts quickly.
func testLongRunsheet(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	f := &firm{testServer: srv, client: srv.apiClient()}
	created, err := f.client.CreateAbstract(t.Context(), client.AbstractDraft{})
	f.must(err)
	const count = 400
	for n := range count {
		f.addInstrument(t.Context(), created.Data.ID, map[string]any{"type": "Mortgage", "book": "7", "page": fmt.Sprint(n),
			"recorded": "2001-05-02",
			"grantors": []string{"Bea Cole"}, "grantees": []string{"First Bank"}, "consideration": "1000"})
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	start := time.Now()
	b.goTo("/abstracts/" + created.Data.ID)
	t.Logf("%d rows opened in %v", count, time.Since(start))
	eval[bool](b, `document.querySelector(".runsheet td[tabindex]").focus(), true`)
	start = time.Now()
	b.press(strings.Repeat(kb.ArrowDown, 50))
	t.Logf("50 arrow keys took %v", time.Since(start))
	b.press(kb.End + "checked")
	start = time.Now()
	b.press(kb.Enter)
	b.waitSaved()
	t.Logf("a cell was saved in %v", time.Since(start))
	start = time.Now()
	b.click(".runsheet thead button | Book/Page")
	t.Logf("sorting took %v", time.Since(start))
}
