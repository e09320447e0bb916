//go:build browser

package cmd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// panelTest is a viewer with the panel beside the first document of a packet.
type panelTest struct {
	*tab
	t         *testing.T
	srv       *testServer
	documents []string
}

// openPanel opens the panel at a window width. The form for a new instrument has the focus.
func openPanel(t *testing.T, env *browserEnv, width int64) *panelTest {
	t.Helper()
	srv := env.newStaffedServer(t)
	_, documents := createPacket(t, srv.apiClient())
	b := env.newTab(t, srv.origin)
	b.setSize(width, 900)
	b.signIn(staff)
	b.goTo(documents[0])
	b.waitPageImage(1)
	b.press("i")
	b.waitFor(inType)
	return &panelTest{tab: b, t: t, srv: srv, documents: documents}
}

// waitShown waits until the viewer shows a page.
func (p *panelTest) waitShown(n int) {
	p.t.Helper()
	p.waitFor(fmt.Sprintf(`document.querySelector("[data-viewer]").dataset.shown == "%d"`, n))
}

// value returns a JavaScript expression for the text of a field.
func value(name string) string {
	return fmt.Sprintf(`(e => e.selectedOptions ? e.selectedOptions[0].text : e.value)(document.getElementById("instrument-%s"))`, name)
}

// waitValue waits until a field has a text.
func (p *panelTest) waitValue(name, want string) {
	p.t.Helper()
	p.waitFor(fmt.Sprintf(`%s == %q`, value(name), want))
}

// checkWarned checks whether the browser asks before it leaves the page.
func (ta *tab) checkWarned(what string, want bool) {
	ta.t.Helper()
	const warned = `(() => { const e = new Event("beforeunload", {cancelable: true}); dispatchEvent(e); return e.defaultPrevented })()`
	if got := eval[bool](ta, warned); got != want {
		ta.t.Errorf("%s: got warning before leaving %v, want %v", what, got, want)
	}
}

// holdSaves makes the page wait with its next save until releaseSave.
func (ta *tab) holdSaves() {
	ta.t.Helper()
	eval[bool](ta, `(() => { const send = window.fetch, held = new Promise(done => { window.releaseSave = done });
		window.saves = 0;
		window.fetch = async (to, options) => {
			if (options?.method == "POST") { window.saves++; await held }
			return send(to, options) };
		return true })()`)
}

// Page keys turn the page, whatever has the focus in the panel, and change no field. Neither do the first letters of
// other text.
func testViewerPanelPageKeys(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1440)
	p.press("Mortgage")
	p.waitValue("type_id", "Mortgage")
	p.press(kb.PageDown)
	p.waitShown(2)
	p.pressWith(withShift, kb.PageDown)
	p.waitShown(3)
	p.press(kb.PageUp)
	p.waitShown(2)
	if got := eval[string](p.tab, value("type_id")); got != "Mortgage" {
		t.Errorf("document type after page keys: got %q, want Mortgage", got)
	}
	p.click(".panel-form summary | More fields")
	for _, id := range []string{"status", "recording_system", "other_parties", "grantors"} {
		eval[bool](p.tab, fmt.Sprintf(`document.getElementById("instrument-%s").focus(), true`, id))
		p.press(kb.PageUp)
		p.waitShown(1)
		p.press(kb.PageDown)
		p.waitShown(2)
	}
	p.waitValue("status", "Automatic")
	p.waitValue("recording_system", "")

	eval[bool](p.tab, `document.getElementById("instrument-status").focus(), true`)
	p.press("Easement")
	p.waitFor(`[...document.querySelectorAll("[role=status]")].some(e => e.textContent.startsWith("No option matches “Ea"))`)
	p.waitValue("status", "Automatic")
	p.paste("Expires 2020")
	p.waitValue("status", "Automatic")
	p.paste("released or satisfied")
	p.waitValue("status", "Released or satisfied")
	p.press("?")
	p.press(kb.Escape + "?")
	p.waitVisible("dialog[open] dd | accept all suggestions")
	p.checkAccessible(t, "keyboard shortcuts")
}

// Changes of the form can be undone and repeated, accepted suggestions too.
func testViewerPanelUndo(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1440)
	p.waitVisible(".panel-suggested | Warranty Deed")
	inView := func(button string) bool {
		return eval[bool](p.tab, `(() => { const e = `+findJS("button | "+button)+`, r = e.getBoundingClientRect();
			return e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)) })()`)
	}
	if !inView("Accept all") {
		t.Error("Accept all when the panel opens: got it out of view, want it in view")
	}
	const fromName = "Deed" // the name of the document says so
	p.waitValue("type_id", fromName)
	p.press(kb.Tab + "77-1" + kb.Tab)
	p.checkWarned("after typing", true)
	p.pressWith(withShift, kb.F4)
	p.waitFor(`document.querySelector(".panel-suggested").hidden`)
	p.waitValue("type_id", "Warranty Deed")
	accepted := eval[string](p.tab, value("grantors"))
	if accepted == "" {
		t.Fatal("grantors after Accept all: got none")
	}
	p.pressWith(withCtrl, "z")
	p.waitValue("grantors", "")
	p.waitValue("type_id", fromName)
	p.waitValue("instrument_number", "77-1")
	p.waitFor(`document.querySelector("[data-said]").textContent.startsWith("Undone: Document type")`)
	p.waitVisible(".panel-suggested | Warranty Deed")
	p.pressWith(withCtrl, "z")
	p.waitValue("instrument_number", "")
	p.checkWarned("after undo of all changes", false)
	p.pressWith(withCtrl, "y")
	p.waitValue("instrument_number", "77-1")
	p.pressWith(withCtrl|withShift, "Z")
	p.waitValue("grantors", accepted)
	// A typed date is one step, with its format.
	before := eval[string](p.tab, value("recorded"))
	p.fill("#instrument-recorded", "022001")
	p.press(kb.Tab)
	p.waitValue("recorded", "2/20/2001")
	p.pressWith(withCtrl, "z")
	p.waitValue("recorded", before)
	p.screenshot("scene-panel-undone")
	p.setSize(360, 740)
	p.checkFits(360)
	p.expect("dialog: beforeunload")
	p.goTo(p.documents[0])
	p.waitPageImage(1)
	p.press("i")
	p.waitFor(inType)
	if !inView("Accept all") {
		t.Error("Accept all at 360 px: got it out of view, want it in view")
	}
	p.screenshot("scene-panel-narrow-open")
}

// A relation without a target isn't lost. If the user declines to discard changes, everything stays as it was.
func testViewerPanelKeeps(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1440)
	p.fill("#instrument-book", "7")
	p.click("[data-then=another]")
	p.waitVisible(".panel-list a | Book 7")
	p.waitFor(inType)
	p.press("rel")
	p.waitFor(`document.querySelector("[data-relation-kind]").value == "releases"`)
	p.expect("status of 422")
	p.click("[data-then=stay], [data-then=another]")
	p.waitVisible("#instrument-relations-problem | Which instrument is released? Select one or “Not on this runsheet”,")
	p.waitFor(`document.activeElement.name == "instrument.relations.0.instrument_id"`)
	p.waitFor(`document.querySelector("[data-relation-kind]").value == "releases"`)
	if !eval[bool](p.tab, `document.scrollingElement.scrollTop == 0 && document.body.scrollTop == 0`) {
		t.Error("question in the panel: got the viewer scrolled out of its window, want it in place")
	}
	p.checkAccessible(t, "question about a relation")
	p.screenshot("scene-panel-relation")
	eval[bool](p.tab, `document.querySelector("[name='instrument.relations.0.instrument_id']").focus(), true`)
	p.press("Not")
	p.press(kb.PageDown + kb.Escape)
	p.waitShown(3)
	p.declines.Store(true)
	p.expect("dialog: confirm")
	p.click(".panel-list a | Book 7")
	p.waitShown(3)
	p.waitFor(`document.querySelector("[data-instrument-form]").dataset.id == "0"`)
	p.waitFor(`document.querySelector("[name='instrument.relations.0.instrument_id']").value == "other"`)
	p.expect("dialog: beforeunload")
	p.waitFor(`new URL(location.href).searchParams.get("page") == "3"`) // which the viewer stores later
	at := eval[string](p.tab, "location.href")
	eval[bool](p.tab, `document.querySelector("[data-pages]").focus(), true`)
	p.press("n")
	p.waitFor(fmt.Sprintf(`location.href == %q`, at))
	p.waitShown(3)
	p.click("[data-then=another]")
	p.waitVisible(".panel-list a | Release or Satisfaction")
	p.declines.Store(false)
}

// The panel is one scroll area. The page beside it is another.
func testViewerPanelScrolls(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1440)
	p.waitVisible(".panel-suggested | Warranty Deed")
	p.click("[data-page-text] summary")
	p.waitVisible("[data-page-text] pre | DEED")
	eval[bool](p.tab, `document.querySelectorAll("#panel details").forEach(e => { e.open = true }), true`)
	for _, size := range [][2]int64{{1440, 900}, {1024, 768}, {360, 740}} {
		p.setSize(size[0], size[1])
		if got := eval[string](p.tab, `[...document.querySelectorAll("#panel, #panel *")]
			.filter(e => ["auto", "scroll"].includes(getComputedStyle(e).overflowY))
			.filter(e => e.scrollHeight > e.clientHeight + 1 && !e.matches("textarea, select"))
			.map(e => e.className || e.tagName).join(" ")`); got != "viewer-panel" {
			t.Errorf("scroll areas of the panel at %d px: got %s, want viewer-panel", size[0], got)
		}
		p.checkFits(int(size[0]))
		eval[bool](p.tab, `document.querySelector("#panel").scrollTo(0, 0), true`)
		p.screenshot(fmt.Sprintf("scene-panel-scrolls-%d", size[0]))
		eval[bool](p.tab, `document.querySelector("#panel").scrollTo(0, 400), true`)
		p.screenshot(fmt.Sprintf("scene-panel-scrolls-%d-middle", size[0]))
	}
}

// Text that is typed while a save is under way is still there afterward, and isn't saved yet.
func testViewerPanelSlowSave(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1440)
	p.fill("#instrument-book", "7")
	p.holdSaves()
	at := eval[string](p.tab, "location.pathname")
	p.press(kb.Enter)
	p.waitFor("saves == 1")
	p.fill("#instrument-remarks", "typed after Enter")
	eval[bool](p.tab, "releaseSave(), true")
	p.waitVisible(".panel-body .notice | What you typed since then isn't saved yet.")
	if got := eval[string](p.tab, "location.pathname"); got != at {
		t.Errorf("page after the save: got %s, want %s, because of what was typed", got, at)
	}
	p.waitFor(focusedField("remarks") + ` && document.querySelector("[data-instrument-form]").dataset.id == "1"`)
	p.waitValue("remarks", "typed after Enter")
	p.checkWarned("after the save", true)
	p.checkAccessible(t, "typed while saving")
	p.screenshot("scene-panel-typed-while-saving")
	p.saveInPanel()
	p.checkWarned("after the second save", false)
	p.holdSaves()
	p.click("[data-then=stay]")
	p.waitFor("saves == 1")
	p.fill("#instrument-page", "311")
	eval[bool](p.tab, "releaseSave(), true")
	p.waitVisible(".panel-body .notice | What you typed since then isn't saved yet.")
	p.waitValue("page", "311")
	p.saveInPanel()
	p.waitVisible(".panel-list a | Book 7, Page 311")
	// A value that can't be right is asked about. Text that is typed in the meantime stays.
	p.holdSaves()
	p.fill("#instrument-grantors", "3/9/1998")
	p.expect("status of 422")
	p.click("[data-then=stay]")
	p.waitFor("saves == 1")
	p.fill("#instrument-remarks", "typed before the question")
	eval[bool](p.tab, "releaseSave(), true")
	p.waitVisible(".question | “3/9/1998” looks like a date. Keep it as a grantor?")
	p.waitValue("remarks", "typed before the question")
	p.checkWarned("with a question", true)
	p.checkAccessible(t, "question in the panel")
	p.screenshot("scene-panel-question")
	p.setSize(360, 740)
	p.checkFits(360)
	p.screenshot("scene-panel-question-narrow")
	p.setSize(1440, 900)
	p.click(".question label | Keep")
	p.saveInPanel()
	p.checkWarned("after keeping the value", false)
	// A blank form saves nothing, but what follows stays.
	p.goTo(p.documents[2])
	p.waitVisible("[data-instrument-form]")
	p.press("e")
	p.waitFor(inType)
	p.holdSaves()
	p.press(kb.Enter)
	p.waitFor("saves == 1")
	p.fill("#instrument-book", "9")
	eval[bool](p.tab, "releaseSave(), true")
	p.waitFor(`!document.querySelector("[data-panel][aria-busy]")`)
	p.waitValue("book", "9")
	p.checkWarned("after saving a blank form", true)
}

// After the session has ended, the panel says so and can be closed. It continues after the user has signed in again.
func testViewerPanelSignedOut(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1440)
	p.press(kb.Escape + "i")
	p.goTo(p.documents[1])
	p.waitPageImage(1)
	p.tab.signOut()
	p.expect("status of 401")
	p.press("i")
	p.waitVisible("[data-panel-problem] a | Sign in again in a new tab")
	p.checkAccessible(t, "panel after the session ended")
	p.screenshot("scene-panel-not-loaded")
	p.click("[data-panel-close]")
	p.waitFor(`document.querySelector("[data-panel]").hidden`)
	p.press("i")
	p.fetchSignIn(staff)
	eval[bool](p.tab, `window.dispatchEvent(new Event("focus"))`)
	p.waitFor(`document.querySelector("[data-instrument-form]")`)
}

// On narrow windows, thumbnails and the panel are beside the page, not over it, and buttons don't overlap.
func testViewerNarrow(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1280)
	covered := func() string {
		return eval[string](p.tab, `(() => { const box = document.querySelector("[data-pages]").getBoundingClientRect(), found = [];
			for (const x of [box.left + 5, (box.left + box.right) / 2, box.right - 20]) for (const y of [box.top + 5, box.bottom - 20]) {
				const e = document.elementFromPoint(x, y);
				if (!e?.closest("[data-pages]")) found.push((e?.className || e?.tagName) + " at " + x + "," + y) }
			return box.height < 120 ? "height " + box.height : found.join("; ") })()`)
	}
	const overlapping = `(() => {
		const list = [...document.querySelectorAll(".viewer-bar :is(a, button, input, summary)")]
			.filter(e => e.checkVisibility({visibilityProperty: true}));
		const wrong = [];
		for (const [n, a] of list.entries()) for (const b of list.slice(n + 1)) {
			const r = a.getBoundingClientRect(), s = b.getBoundingClientRect();
			if (Math.min(r.right, s.right) - Math.max(r.left, s.left) > 1 && Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > 1)
				wrong.push(a.ariaLabel + " and " + b.ariaLabel) }
		return wrong.join("; ") })()`
	p.waitVisible("[data-strip]")
	p.screenshot("scene-viewer-wide")
	for _, width := range []int64{600, 360} {
		p.setSize(width, 740)
		p.waitFor(`!document.querySelector(".with-strip")`)
		if got := covered(); got != "" {
			t.Errorf("page at %d px with the panel: got it covered by %s, want it in view", width, got)
		}
		if got := eval[string](p.tab, overlapping); got != "" {
			t.Errorf("buttons at %d px: got %s, want none overlapping", width, got)
		}
		p.checkFits(int(width))
		p.screenshot(fmt.Sprintf("scene-viewer-panel-%d", width))
	}
	p.click("[data-panel-close]")
	p.press("/")
	p.waitVisible("#find-in")
	if got := eval[string](p.tab, overlapping); got != "" {
		t.Errorf("buttons beside the open finder: got %s, want none overlapping", got)
	}
	p.press(kb.Escape + "s")
	p.waitVisible("[data-strip]")
	if got := covered(); got != "" {
		t.Errorf("page at 360 px with thumbnails: got it covered by %s, want it in view", got)
	}
	p.checkFits(360)
	p.checkAccessible(t, "thumbnails on a narrow window")
	p.screenshot("scene-viewer-strip-narrow")
	p.press("s")
	p.setSize(1280, 900)
	p.waitVisible("[data-strip]")
}

// While the server reads a scan, the panel says so. The suggestions then appear, and the typed text stays.
func testViewerPanelReading(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t, "DEEDKEEP_OCR_ENABLED=true")
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	created, err := srv.apiClient().CreateAbstract(t.Context(), client.AbstractDraft{
		Files: openSamples(t, []namedSample{{"Scan.tif", "title/deed-pages-lzw.tif"}}),
	})
	if err != nil || len(created.Data.Files) != 1 {
		t.Fatalf("create abstract: got %+v, %v, want a document", created.Errors, err)
	}
	b.goTo(fmt.Sprintf("/documents/%d?panel=new", created.Data.Files[0].ID))
	b.waitVisible("[data-reading] | Text is being read")
	b.checkAccessible(t, "text is being read")
	b.screenshot("scene-panel-reading")
	b.press(kb.Tab + "77-1" + kb.Tab)
	const suggested = `document.querySelector(".panel-suggested:not([hidden])") != null`
	for end := time.Now().Add(3 * time.Minute); !eval[bool](b, suggested); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no suggestions appear\n%s\n%s", b.describe(), srv.stderr)
		}
	}
	p := panelTest{tab: b, t: t}
	p.waitValue("instrument_number", "77-1")
	b.waitFor(focusedField("book_type"))
	b.screenshot("scene-panel-read")
	b.pressWith(withShift, kb.F4)
	p.waitValue("type_id", "Warranty Deed")
	const reading = `document.querySelector("[data-reading]").textContent != ""`
	for end := time.Now().Add(3 * time.Minute); eval[bool](b, reading); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the panel still says that text is being read\n%s\n%s", strings.TrimSpace(b.describe()), srv.stderr)
		}
	}
}

// After an edit in the panel, its notice undoes it, and that, too.
func testUndoInPanel(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1440)
	const number = "#instrument-instrument_number"
	p.fill(number, "77")
	p.click("button[data-then=another]")
	p.waitVisible(".panel-body .notice button | Undo")
	p.click(".panel-list a")
	p.waitValue("instrument_number", "77")
	p.fill(number, "78")
	p.click("button[data-then=stay]")
	p.waitVisible(".panel-body .notice | saved.")
	p.waitFor(`document.activeElement == document.querySelector(".panel-body .notice button")`)
	p.waitValue("instrument_number", "78")
	p.checkAccessible(t, "panel with Undo")
	p.press(kb.Enter)
	p.waitVisible("main .notice | Change undone.")
	p.waitValue("instrument_number", "77")
	p.click("main .notice button | Redo")
	p.waitVisible("main .notice | Change repeated.")
	p.waitValue("instrument_number", "78")
}

// The panel says below the county and the parcel that they differ from those of the abstract.
func testViewerPanelPlace(t *testing.T, env *browserEnv) {
	p := openPanel(t, env, 1440)
	const number = "#instrument-instrument_number"
	p.fill(number, "77")
	p.fill("#instrument-parcels", "99-8-77")
	eval[bool](p.tab, `document.querySelectorAll("#panel details").forEach(e => { e.open = true }), true`)
	p.fill("#instrument-county", "Polk")
	p.click("button[data-then=another]")
	p.waitVisible(".panel-body .notice | saved.")
	for _, size := range [][2]int64{{1440, 900}, {360, 740}} {
		p.setSize(size[0], size[1])
		p.goTo(p.documents[0] + "&panel=next")
		p.waitFor(focusedField("type_id"))
		for _, field := range []string{"county", "parcels"} {
			p.waitFor(fmt.Sprintf(`(([input, warning]) => warning.height > 0 && warning.top >= input.bottom && warning.top < input.bottom + 90)(
				["", "-warning"].map(end => document.getElementById("instrument-%s" + end).getBoundingClientRect()))`, field))
		}
		p.checkFits(int(size[0]))
		p.screenshot(fmt.Sprintf("scene-panel-place-%d", size[0]))
	}
}
