//go:build browser

package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// recording is an instrument as an examiner types it. kind selects the type by its first letters.
type recording struct{ kind, number, bookType, book, page, recorded, dated, grantor, grantee, amount, want string }

// recordings are the instruments of ten documents, in the sequence of the documents.
var recordings = []recording{
	{"w", "194800012", "Deed Book", "211", "17", "3/1/1948", "022748", "Hollis, Ezra", "Cedar, Morgan", "4500",
		"Warranty Deed Deed Book 211, Page 17"},
	{"w", "", "", "402", "88", "071571", "07121971", "Cedar, Morgan", "Cedar, Morgan; Cedar, Jo", "",
		"Warranty Deed Deed Book 402, Page 88"},
	{"eas", "", "", "455", "9", "050276", "", "Cedar, Morgan", "Wexcombe Power Co.", "1", "Easement or Right of Way Book 455, Page 9"},
	{"w", "199806020044", "", "611", "87", "060298", "052998", "Cedar, Morgan", "Alder, Casey", "88000",
		"Warranty Deed Deed Book 611, Page 87"},
	{"mo", "", "Mortgage Book", "320", "41", "060298", "", "Alder, Casey", "First Wexcombe Bank", "70400",
		"Mortgage Mortgage Book 320, Page 41"},
	{"rel", "", "", "588", "3", "091103", "", "First Wexcombe Bank", "Alder, Casey", "", "Release or Satisfaction Book 588, Page 3"},
	{"w", "201903140311", "", "1022", "311", "031419", "031219", "Alder, Casey", "Birch, Dana", "387500",
		"Warranty Deed Deed Book 1022, Page 311"},
	{"mo", "201903140315", "", "1022", "315", "031419", "", "Birch, Dana", "First Wexcombe Bank", "310000",
		"Mortgage Mortgage Book 1022, Page 315"},
	{"j", "2021-117", "", "", "", "110321", "", "Birch, Dana", "Harlow Supply", "2400.50", "Judgment Inst. 2021-117"},
	{"pl", "", "Plat Cabinet", "4", "12", "080569", "", "Hollis, Ezra", "", "", "Plat Plat Cabinet 4, Page 12"},
}

// keys returns what the examiner types: one key per letter, Tab after each field, and Enter at the
// end.
func (r recording) keys() string {
	fields := []string{r.kind, r.number, r.bookType, r.book, r.page, r.recorded, r.dated, r.grantor, r.grantee, r.amount}
	return strings.Join(fields, kb.Tab) + kb.Enter
}

// inType is a JavaScript expression that is true if the form for a new instrument has the focus.
const inType = `document.activeElement?.name == "instrument.type_id" && document.querySelector("[data-instrument-form]").dataset.id == "0"`

// focusedField returns a JavaScript expression that is true if a field of the form has the focus.
func focusedField(name string) string {
	return fmt.Sprintf(`document.activeElement?.id == "instrument-%s"`, name)
}

// createPacket creates an abstract with ten documents and returns its path and the path of the first
// document.
func createPacket(t *testing.T, c *client.Client) (abstract string, documents []string) {
	t.Helper()
	samples := []namedSample{{"00 Deed.pdf", "title/warranty-deed-g4-ocr-layer.pdf"}}
	for n := 1; n < len(recordings); n++ {
		samples = append(samples, namedSample{fmt.Sprintf("%02d Recorded.pdf", n), "title/open-end-mortgage.pdf"})
	}
	created, err := c.CreateAbstract(t.Context(), client.AbstractDraft{
		Address: "14 Orchard Ridge Road", County: "Wexcombe", State: "PA", TaxMap: "21-4-117",
		CustomFields: map[string]any{"file_number": "A-1", "search_from": "1948-01-01", "effective_date": "2026-05-01"},
		Files:        openSamples(t, samples),
	})
	if err != nil || len(created.Data.Files) != len(samples) {
		t.Fatalf("create abstract: got %+v, %v, want %d documents", created.Errors, err, len(samples))
	}
	for _, f := range created.Data.Files {
		documents = append(documents, fmt.Sprintf("/documents/%d?in=abstract:%s", f.ID, created.Data.ID))
	}
	return "/abstracts/" + created.Data.ID, documents
}

// An examiner accepts what the text of a document says: first the type, then all other fields.
func testViewerSuggestions(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	_, documents := createPacket(t, srv.apiClient())
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo(documents[0])
	b.waitPageImage(1)
	b.press("i")
	b.waitFor(inType)
	b.waitVisible(".panel-suggested | Warranty Deed")
	b.screenshot("scene-panel-suggestions")
	b.setSize(1440, 1600) // no field is partly behind the buttons at the bottom
	b.checkAccessible(t, "suggestions")
	b.setSize(360, 740)
	b.click("[data-panel-close]")
	b.press("i")
	b.waitFor(inType)
	if got := eval[string](b, `(() => { const top = document.querySelector(".panel-head").getBoundingClientRect().bottom,
		{ bottom } = document.querySelector("#panel").getBoundingClientRect(),
		box = document.querySelector("#panel-form-heading").getBoundingClientRect();
		return box.top >= top && box.bottom <= bottom ? "" : box.top + "-" + box.bottom + " in " + top + "-" + bottom })()`); got != "" {
		t.Errorf("heading of the form in a window of 360 px: got it at %s, want it in view", got)
	}
	b.screenshot("scene-panel-suggestions-narrow")
	b.setSize(1440, 900)
	b.press(kb.F4)
	b.waitFor(`document.querySelector('.panel-suggested li[hidden] [data-accept="instrument-type_id"]') != null`)
	b.pressWith(withShift, kb.F4)
	b.waitFor(`document.querySelector(".panel-suggested").hidden && document.querySelector("#instrument-grantors").value != ""`)
	b.screenshot("scene-panel-accepted")
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitVisible("main > .notice | Warranty Deed")
}

// An examiner records ten instruments from the viewer without leaving it, with the keyboard only.
func testViewerPanel(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	abstract, documents := createPacket(t, srv.apiClient())
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo(documents[0])
	b.waitPageImage(1)
	b.press("i")
	b.waitFor(inType)
	b.waitVisible(".panel-facts | Jan 1, 1948 – May 1, 2026")
	b.screenshot("scene-panel")
	b.setSize(1440, 1600) // no field is partly behind the buttons at the bottom
	b.checkAccessible(t, "panel")
	b.setSize(1440, 900)
	total, control := 0, 0
	for n, r := range recordings {
		keys := r.keys()
		total, control = total+len([]rune(keys)), control+strings.Count(keys, kb.Tab)+1
		at := eval[string](b, "location.pathname")
		if n == len(recordings)-1 {
			b.press(keys)
			b.waitVisible(".panel-body .notice | This was the last document.")
			break
		}
		b.press(keys[:len(keys)-1])
		if got := eval[string](b, "location.pathname"); got != at {
			t.Fatalf("while typing instrument %d: got page %s, want %s", n, got, at)
		}
		if r.kind == "rel" { // asks which instrument is released
			b.expect("status of 422")
			b.press(kb.Enter)
			b.waitFor(`document.activeElement.name == "instrument.relations.0.instrument_id"`)
			b.press("Not")
		}
		b.waitNavigation(func() { b.press(kb.Enter) })
		b.waitFor(inType)
		b.waitVisible("main > .notice | saved.")
	}
	t.Logf("%d instruments: %d keys, %.1f per instrument, %.1f of them Tab and Enter", len(recordings), total,
		float64(total)/float64(len(recordings)), float64(control)/float64(len(recordings)))
	if limit := 11; control > limit*len(recordings) {
		t.Errorf("Tab and Enter: got %d for %d instruments, want at most %d each", control, len(recordings), limit)
	}
	b.goTo(abstract)
	lines := eval[[]string](b, `[...document.querySelectorAll(".document-instruments")].map(e => e.innerText.replace(/\s+/g, " "))`)
	for n, r := range recordings {
		if n >= len(lines) || !strings.Contains(lines[n], strings.TrimSuffix(r.want, " ")) {
			t.Errorf("instrument %d: got %q, want %q", n, lines[min(n, len(lines)-1):min(n+1, len(lines))], r.want)
		}
	}
	b.screenshot("scene-panel-document-rows")
	b.goTo(documents[3])
	b.waitVisible(".panel-list a | Warranty Deed")
	b.click(".panel-list a | Warranty Deed")
	b.waitFor(`document.getElementById("instrument-recorded")?.value == "6/2/1998" && document.getElementById("instrument-consideration").value == "88000"`)
	b.checkAccessible(t, "panel of an instrument")
	b.setTheme("dark")
	b.checkAccessible(t, "panel of an instrument, dark")
	b.screenshot("scene-panel-dark")
	b.setTheme("light")
	b.setSize(360, 740)
	b.checkFits(360)
	b.checkAccessible(t, "panel of an instrument, narrow")
	b.screenshot("scene-panel-narrow")
}

// The panel opens and closes with keys, and its state is remembered. Keys of the viewer work outside
// its fields only.
func testViewerPanelKeys(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	_, documents := createPacket(t, srv.apiClient())
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo(documents[0])
	b.waitPageImage(1)
	b.press("i")
	b.waitFor(inType)
	b.press(kb.Tab + "inpg?[]/0")
	if got := eval[string](b, `document.activeElement.value + location.pathname`); got != "inpg?[]/0"+strings.Split(documents[0], "?")[0] {
		t.Errorf("typed text and page: got %q, want the keys in the field", got)
	}
	// Page keys in the form turn the page, and F8 and F9 set the pages of the instrument.
	shown := func(n int) {
		b.waitFor(fmt.Sprintf(`document.querySelector("[data-viewer]").dataset.shown == "%d"`, n))
	}
	b.press(kb.PageDown)
	shown(2)
	b.press(kb.F8 + kb.PageDown)
	shown(3)
	b.press(kb.F9)
	b.waitFor(`document.getElementById("instrument-pages").value == "2-3" && ` + focusedField("instrument_number"))
	b.press(kb.Escape)
	b.waitFor(`document.activeElement.matches("[data-pages]")`)
	b.press(kb.Home)
	shown(1)
	b.press("e")
	b.waitFor(focusedField("instrument_number"))
	// Text that is selected in the text of the page goes into the field that had the focus last.
	b.click("[data-page-text] summary")
	b.waitVisible("[data-page-text] pre | DEED")
	want := eval[string](b, `(() => { const text = document.querySelector("[data-page-text] pre").firstChild, at = text.data.search(/\S+ \S+/);
		const end = at + text.data.slice(at).match(/\S+ \S+/)[0].length, range = document.createRange();
		range.setStart(text, at); range.setEnd(text, end); getSelection().removeAllRanges(); getSelection().addRange(range);
		return text.data.slice(at, end).replace(/\s+/g, " ") })()`)
	b.press(kb.F2)
	b.waitFor(fmt.Sprintf(`document.getElementById("instrument-instrument_number").value == %q`, "inpg?[]/0"+want))
	b.fill("#instrument-grantees", "Kim Lee")
	b.press(kb.F2)
	b.waitFor(fmt.Sprintf(`document.getElementById("instrument-grantees").value == "Kim Lee\n" + %q`, want))
	// Ctrl+Shift+Enter saves and starts the next instrument of the packet.
	b.fill("#instrument-pages", "1-2")
	b.pressWith(withCtrl|withShift, kb.Enter)
	b.waitFor(inType + ` && document.getElementById("instrument-pages").value == "3"`)
	shown(3)
	b.press(kb.Escape + "i")
	b.waitFor(`document.querySelector("[data-panel]").hidden`)
	b.goTo(documents[1])
	b.waitPageImage(1)
	if !eval[bool](b, `document.querySelector("[data-panel]").hidden`) {
		t.Error("panel: got it open, want it closed as before")
	}
	b.press("i")
	b.waitFor(inType)
	b.press(kb.Escape)
	b.waitNavigation(func() { b.press("n") })
	b.waitVisible("[data-panel] h2 | Instruments")
	b.waitFor(`document.activeElement.matches("[data-pages]")`)
	// A release opens the relations and proposes the kind.
	b.press("e")
	b.waitFor(inType)
	b.press("rel")
	b.waitFor(`document.querySelector("[data-links]").open && document.querySelector("[data-relation-kind]").value == "releases"`)
	b.expect("status of 422")
	b.pressWith(withCtrl|withShift, kb.Enter)
	b.waitVisible("#instrument-relations-problem | Which instrument is released?")
	b.press("Not")
	b.pressWith(withCtrl|withShift, kb.Enter)
	b.waitVisible(".panel-list a | Release or Satisfaction")
}

// The panel has the form of the row whose document was opened, and of the page at which it was opened. If the user
// turns to another instrument, it says so.
func testViewerPanelPacket(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	f := &firm{testServer: srv, client: srv.apiClient()}
	created, err := f.client.CreateAbstract(t.Context(), client.AbstractDraft{
		Files: openSamples(t, []namedSample{{"Packet.pdf", "title/open-end-mortgage.pdf"}})})
	f.must(err)
	file := created.Data.Files[0].ID
	for _, row := range [][2]string{{"Warranty Deed", "1-2"}, {"Mortgage", "3"}, {"Assignment", "3"}} {
		f.addInstrument(t.Context(), created.Data.ID, map[string]any{"type": row[0],
			"documents": []map[string]any{{"file_id": file, "pages": row[1]}}})
	}
	document := fmt.Sprintf("/documents/%d?in=abstract:%s", file, created.Data.ID)
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo(document)
	b.waitPageImage(1)
	b.press("i")
	b.waitVisible("#panel-form-heading | Warranty Deed")
	for id, kind := range []string{"", "Warranty Deed", "Mortgage", "Assignment"} {
		if id == 0 {
			continue
		}
		b.goTo("/abstracts/" + created.Data.ID)
		b.clickLink(fmt.Sprintf("#instrument-%d a.file", id))
		b.waitVisible("#panel-form-heading | " + kind)
	}
	b.goTo(document + "&page=3")
	b.waitVisible("#panel-form-heading | Mortgage")
	b.waitFor(`document.querySelector("[data-other-page]").textContent == ""`)
	b.press(kb.Home)
	b.waitVisible("[data-other-page] | This form is for page 3, not for page 1.")
	for _, theme := range []string{"light", "dark"} {
		b.setTheme(theme)
		b.checkAccessible(t, "form of another page, "+theme)
	}
	b.screenshot("scene-panel-other-page")
	b.fill("#instrument-pages", "1,3")
	b.waitFor(`document.querySelector("[data-other-page]").textContent == ""`)
	packet := env.newTab(t, srv.origin)
	packet.signIn(staff)
	packet.checkPacket(t, f.client)
}

// Problems are shown next to their fields, another user's change is not overwritten, and what was
// typed survives while the server is away.
func testViewerPanelProblems(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	_, documents := createPacket(t, srv.apiClient())
	one, two := env.newTab(t, srv.origin), env.newTab(t, srv.origin)
	for b, user := range map[*tab]string{one: admin, two: staff} {
		b.signIn(user)
		b.goTo(documents[0])
		b.press("i")
		b.waitFor(inType)
	}
	one.fill("#instrument-book", "7")
	one.fill("#instrument-recorded", "2/30/2019")
	one.expect("status of 422")
	one.press(kb.Enter)
	one.waitVisible("#instrument-recorded-problem | “2/30/2019” isn't a date. Write it like 3/9/1998.")
	one.waitFor(focusedField("recorded") + ` && document.getElementById("instrument-book").value == "7"`)
	one.checkAccessible(t, "panel with a problem")
	one.screenshot("scene-panel-problem")
	one.fill("#instrument-recorded", "022819")
	one.pressWith(withCtrl|withShift, kb.Enter)
	one.waitVisible(".panel-list a | Book 7")
	for _, b := range []*tab{one, two} {
		b.goTo(documents[0])
		b.click(".panel-list a | Book 7")
		b.waitFor(`document.getElementById("instrument-book")?.value == "7"`)
	}
	one.fill("#instrument-book", "8")
	one.click("[data-then=stay]")
	one.waitVisible(".panel-list a | Book 8")
	two.fill("#instrument-book", "9")
	two.expect("status of 412")
	two.click("[data-then=stay]")
	two.waitVisible(".pick legend | " + admin + " changed this to “8” on ")
	// How far the form is scrolled depends on the time in the message, so the bar with the buttons can cover part of a target.
	two.checkAccessible(t, "panel with a conflict", "target-size")
	for _, height := range eval[[]float64](two, `[...document.querySelectorAll("#panel button")].filter(e => e.checkVisibility()).map(
		e => e.getBoundingClientRect().height)`) {
		if height < 24 {
			t.Errorf("height of a button in the panel = %v px, want at least 24", height)
		}
	}
	two.checkWarned("with a conflict", true)
	two.screenshot("scene-panel-conflict")
	two.click(".pick label | Keep “8”")
	two.click("[data-then=stay]")
	two.waitFor(`document.getElementById("instrument-book").value == "8" && !document.querySelector(".pick")`)

	one.allow("net::ERR_CONNECTION_REFUSED", "net::ERR_EMPTY_RESPONSE", "net::ERR_CONNECTION_RESET")
	srv.stop()
	one.fill("#instrument-remarks", "typed while the server was away")
	one.click("[data-then=stay]")
	one.waitVisible("[data-panel-problem] | The server isn't responding. What you typed is still here.")
	one.checkWarned("after a failed save", true)
	srv.start()
	one.saveInPanel()
	if got := eval[string](one, `document.getElementById("instrument-remarks").value`); got != "typed while the server was away" {
		t.Errorf("remarks: got %q, want what was typed", got)
	}
	if got := eval[[]string](one, `[...document.querySelectorAll(".panel-list b")].map(e => e.innerText)`); !slices.Equal(got,
		[]string{"Deed"}) {
		t.Errorf("instruments: got %q, want one", got)
	}
	one.checkSignedOutPanel(t)
}

// checkSignedOutPanel saves an instrument after the session has ended. The complete message is in
// view below the panel's heading, its link in line with its text, and what was typed can be saved
// after the user has signed in again.
func (ta *tab) checkSignedOutPanel(t *testing.T) {
	t.Helper()
	ta.fill("#instrument-remarks", "typed while signed out")
	ta.signOut()
	ta.expect("status of 401")
	ta.click("[data-then=stay]")
	ta.waitVisible("[data-panel-problem] a | Sign in again in a new tab")
	ta.screenshot("scene-panel-signed-out")
	if !eval[bool](ta, `(() => {
		const message = document.querySelector("[data-panel-problem]").getBoundingClientRect();
		return message.top >= document.querySelector(".panel-head").getBoundingClientRect().bottom;
	})()`) {
		t.Error("message below the panel's heading: got covered, want in view")
	}
	if !eval[bool](ta, `getComputedStyle(document.querySelector("[data-panel-problem] a")).display == "inline"`) {
		t.Error("link of the message: got a column of its own, want in line with the text")
	}
	ta.fetchSignIn(admin)
	ta.saveInPanel()
	if got := eval[string](ta, `document.getElementById("instrument-remarks").value`); got != "typed while signed out" {
		t.Errorf("remarks: got %q, want what was typed", got)
	}
}

// saveInPanel saves the instrument in the panel, and waits until the panel says so.
func (ta *tab) saveInPanel() {
	ta.t.Helper()
	eval[bool](ta, `document.querySelectorAll(".panel-body .notice").forEach(e => e.remove()) || true`) // of the last save
	ta.click("[data-then=stay]")
	ta.waitVisible(".panel-body .notice | saved.")
}
