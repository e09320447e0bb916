//go:build browser

package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// pressCtrl presses a key while holding Ctrl.
func (ta *tab) pressCtrl(key, code string, keyCode int64) {
	ta.t.Helper()
	const ctrl = 2
	for _, event := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(ta, input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: event, Key: key, Code: code, Modifiers: ctrl, WindowsVirtualKeyCode: keyCode, NativeVirtualKeyCode: keyCode,
		})
	}
}

// JavaScript expressions for the find box.
const (
	findBoxOpen    = `document.querySelector("#palette").open && document.activeElement.id == "palette-q"`
	selectedOption = `document.querySelector('#palette [aria-selected="true"]')`
)

// waitResults waits until the find box shows a response that has an option containing text. It
// returns the texts of all options.
func (ta *tab) waitResults(text string) []string {
	ta.t.Helper()
	ta.waitFor(fmt.Sprintf(`!document.querySelector("#palette [aria-busy]") &&
		[...document.querySelectorAll("#palette [role=option]")].some(o => %s)`, hasTextJS("o", text)))
	return eval[[]string](ta, `[...document.querySelectorAll("#palette [role=option]")].map(o => o.innerText.replace(/\s+/g, " "))`)
}

// waitSelected waits until the selected option contains text and is the active descendant of
// the input field.
func (ta *tab) waitSelected(text string) {
	ta.t.Helper()
	ta.waitFor(`(() => { const o = ` + selectedOption + `; return o && ` + hasTextJS("o", text) +
		` && document.querySelector("#palette-q").getAttribute("aria-activedescendant") == o.id })()`)
}

// waitSearchable waits until a search for text has results. New records are indexed within
// seconds.
func (f *firm) waitSearchable(b *tab, text string) {
	f.t.Helper()
	found := fmt.Sprintf(`fetch("/find/box?q=" + encodeURIComponent(%q), {headers: {"HX-Request": "true"}})
		.then(r => r.text()).then(t => t.includes('id="palette-1"'))`, text)
	for end := time.Now().Add(tabTimeout); ; time.Sleep(50 * time.Millisecond) {
		if eval[bool](b, found) {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("search for %q: got no result after %v", text, tabTimeout)
		}
	}
}

// A user can find and open records with the keyboard only, and results are updated with each
// letter.
func testFind(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	b := env.newTab(t, f.origin)
	b.signIn(staff)
	b.goTo("/orders")
	f.waitSearchable(b, "lien satisfied")
	t.Run("open and close", func(t *testing.T) { f.testFindBoxOpens(t, b) })
	t.Run("letter by letter", func(t *testing.T) { f.testFindByLetter(t, b) })
	t.Run("slow and failed requests", func(t *testing.T) { testSlowFind(t, b) })
	t.Run("results page", func(t *testing.T) { f.testFindPage(t, b) })
	t.Run("open on page", func(t *testing.T) { f.testOpenOnPage(t, b) })
	t.Run("on a phone", func(t *testing.T) { f.testFindOnPhone(t, b) })
	t.Run("without scripts", func(t *testing.T) { f.testFindWithoutScripts(t, b) })
}

func (f *firm) testFindBoxOpens(t *testing.T, b *tab) {
	b.tabTo("main a | 2026-0199")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.checkAccessible(t, "find box")
	b.screenshot("scene-find-start")
	b.press(kb.Escape)
	b.waitFor(`!document.querySelector("#palette").open && document.activeElement.innerText.includes("2026-0199")`)
	b.pressCtrl("k", "KeyK", 75)
	b.waitFor(findBoxOpen)
	b.press("/")
	if got := eval[string](b, `document.querySelector("#palette-q").value`); got != "/" {
		t.Errorf("field after pressing a slash: got %q, want /", got)
	}
	b.waitFor(`document.querySelector("#palette").innerText.includes("at least two letters")`)
	b.press(kb.Escape)
	// In an input field of the page, a slash is ordinary text.
	b.fill("#q", "2026")
	b.press("/")
	b.waitFor(`document.activeElement.id == "q" && document.activeElement.value == "2026/"`)
	b.goTo("/orders")
}

// testFindByLetter types a number and checks the results after each letter. It then selects and
// opens a result.
func (f *firm) testFindByLetter(t *testing.T, b *tab) {
	b.pressCtrl("k", "KeyK", 75)
	b.waitFor(findBoxOpen)
	typed := ""
	for _, letter := range "2026-01" {
		typed += string(letter)
		start := time.Now()
		b.press(string(letter))
		if len(typed) < 2 {
			continue
		}
		b.waitResults("2026-0101")
		t.Logf("%q: %s", typed, time.Since(start).Round(time.Millisecond))
	}
	b.screenshot("scene-find-box")
	b.checkAccessible(t, "results")
	options := b.waitResults("All results")
	if len(options) < 5 {
		t.Errorf("options: got %q, want at least 5", options)
	}
	b.waitVisible("[data-enter] | all results")
	b.press(kb.ArrowDown)
	b.waitSelected(options[0])
	b.waitVisible("[data-enter] | open")
	b.press(kb.ArrowDown + kb.End)
	b.waitSelected("All results")
	b.press(kb.ArrowDown)
	b.waitSelected(options[0])
	b.press(kb.ArrowUp + kb.Home + kb.ArrowDown)
	b.waitSelected(options[1])
	b.screenshot("scene-find-chosen")
	b.setTheme("dark")
	b.screenshot("scene-find-chosen-dark")
	b.checkAccessible(t, "selected option, dark")
	b.setTheme("light")
	b.waitNavigation(func() { b.press(kb.Enter) })
	if at := eval[string](b, "location.pathname"); !strings.HasPrefix(at, "/orders/") {
		t.Errorf("page after Enter: got %s, want an order", at)
	}
	// When reopened, the find box still shows the results and the selected option.
	b.press("/")
	b.waitFor(findBoxOpen)
	b.waitSelected(options[1])
	// If no option is selected, pressing Enter after a complete number opens the record.
	b.press("2026-0199")
	b.waitResults("2026-0199")
	b.waitVisible("[data-enter] | open")
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitVisible("h1 | 2026-0199")
}

// The find box ignores outdated responses, sends one request at a time, and shows an error if a
// request fails.
func testSlowFind(t *testing.T, b *tab) {
	b.goTo("/orders")
	// Delay the response to one search until release is called, even if the page aborts the
	// request.
	eval[bool](b, `(() => {
		const realFetch = window.fetch; window.pending = 0; window.maxPending = 0; window.late = 0; window.offline = false
		window.fetch = async (url, options) => {
			if (window.offline) throw new TypeError("offline")
			if (!String(url).startsWith("/find/box")) return realFetch(url, options)
			window.maxPending = Math.max(window.maxPending, ++window.pending)
			const done = () => { window.pending-- }
			if (url.endsWith("q=2026")) {
				options.signal.addEventListener("abort", done, {once: true})
				await new Promise(r => { window.release = r })
				const response = await realFetch(url, {...options, signal: undefined}), text = await response.text()
				setTimeout(() => { window.late++ }, 50)
				return {ok: true, status: 200, text: async () => text}
			}
			try { return await realFetch(url, options) } finally { done() }
		}
		return true })()`)
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2026")
	b.waitVisible(".palette-wait | Searching")
	b.waitFor(`window.release`)
	b.press("-0199")
	options := b.waitResults("2026-0199")
	eval[bool](b, `window.release() || true`)
	b.waitFor(`window.late == 1`)
	if now := b.waitResults("2026-0199"); len(now) != len(options) || len(now) != 2 {
		t.Errorf("results after a late response: got %q, want %q", now, options)
	}
	if got := eval[int](b, `window.maxPending`); got != 1 {
		t.Errorf("concurrent requests: got %d, want 1", got)
	}
	eval[bool](b, `window.offline = true`)
	b.press(kb.Backspace)
	b.waitVisible(".palette-trouble | The server isn't responding.")
	b.checkAccessible(t, "failed request")
	b.screenshot("scene-find-no-answer")
	eval[bool](b, `(window.offline = false) || true`)
	b.click(".palette-trouble button")
	b.waitResults("2026-0199")
	b.waitFor(findBoxOpen)
	b.press(kb.Escape)
}

// The results page keeps its filters in the URL, so the back button restores them.
func (f *firm) testFindPage(t *testing.T, b *tab) {
	b.goTo("/find?q=21-4")
	b.waitVisible("#found .found-row")
	b.waitFor(`[...document.querySelectorAll("#found :is(mark, .found-name, .found-snippet)")]
		.every(e => getComputedStyle(e).unicodeBidi.startsWith("isolate"))`)
	b.clickLink(".tabs a | Abstracts")
	b.waitFor(`location.search == "?kind=abstract&q=21-4"`)
	b.waitVisible("#found .found-row")
	b.fill("#county", "Nowhere")
	b.press(kb.Tab)
	b.waitVisible("#found | Try removing a filter.")
	b.waitFor(`location.search == "?county=Nowhere&kind=abstract&q=21-4"`)
	b.screenshot("scene-find-filtered")
	eval[bool](b, `history.back() || true`)
	b.waitFor(`location.search == "?kind=abstract&q=21-4" && document.querySelector("#county").value == "" &&
		document.querySelectorAll("#found .found-row").length > 5`)
	// The find box opens from a text field, and on a page restored by the back button.
	b.pressCtrl("k", "KeyK", 75)
	b.waitFor(findBoxOpen)
	b.press("2026-0199")
	b.waitResults("2026-0199")
	b.press(kb.Escape)
	b.fill("#q", "21-4-11")
	b.waitFor(`location.search == "?kind=abstract&q=21-4-11" && document.querySelectorAll("#found .found-row").length == 1`)
}

// testOpenOnPage searches for words that occur only in the text of documents, opens a document
// at the page with the words, and steps through the matches.
func (f *firm) testOpenOnPage(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("eudora pennyfarthing")
	options := b.waitResults("Page 3")
	b.screenshot("scene-find-words")
	b.checkAccessible(t, "results from the text of documents")
	at := slices.IndexFunc(options, func(o string) bool {
		return strings.Contains(o, chainDocuments[4].name) && strings.Contains(o, "Page 3")
	})
	if at < 0 {
		t.Fatalf("options: got %q, want page 3 of %q", options, chainDocuments[4].name)
	}
	b.press(strings.Repeat(kb.ArrowDown, at+1))
	b.waitSelected(chainDocuments[4].name)
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitFor(`document.querySelector("#find-in").value == "eudora pennyfarthing" && document.querySelector("[data-number]").value == "3"`)
	b.waitFor(`(() => { const m = document.querySelector(".viewer-marks i.now"), r = m?.getBoundingClientRect();
		return r && r.width > 20 && r.top > 0 && r.bottom < innerHeight })()`)
	b.waitPageImage(3)
	b.screenshot("scene-find-marked")
	b.checkAccessible(t, "marked words")
	// In a document, "/" searches the document, but Ctrl+K opens the find box, which still
	// shows the results.
	b.pressCtrl("k", "KeyK", 75)
	b.waitFor(findBoxOpen)
	b.waitSelected(chainDocuments[4].name)
	b.press("grantors instrument")
	options = b.waitResults(chainDocuments[4].name)
	b.press(kb.ArrowDown)
	b.waitSelected(options[0])
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitFor(`document.querySelector(".viewer-marks i.now")`)
	first := eval[string](b, `document.querySelector("[data-place]").textContent`)
	b.press(kb.Enter)
	b.waitFor(`document.querySelector("[data-place]").textContent != "` + first + `"`)
	// A search with a typo finds a document that is displayed as text.
	b.pressCtrl("k", "KeyK", 75)
	b.waitFor(findBoxOpen)
	b.press("prothonotery")
	b.waitVisible(".palette-said | similar spelling")
	options = b.waitResults(chainDocuments[6].name)
	b.screenshot("scene-find-typing-error")
	at = slices.IndexFunc(options, func(o string) bool { return strings.Contains(o, chainDocuments[6].name) })
	b.press(strings.Repeat(kb.ArrowDown, at+1))
	b.waitSelected(chainDocuments[6].name)
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitVisible(".viewer-text mark.now | Prothonotary")
	b.screenshot("scene-find-marked-text")
	f.testBackToResults(t, b)
}

// testBackToResults opens a document from the results page, searches it for other words, and
// returns to the results using the keyboard.
func (f *firm) testBackToResults(t *testing.T, b *tab) {
	const list = "/find?kind=file&q=quillfeather+instrument"
	b.goTo(list)
	b.waitNavigation(func() { b.click(fmt.Sprintf("#read-%d", f.files[chainDocuments[4].name])) })
	b.waitFor(`document.querySelector(".viewer-marks i.now")`)
	b.press("/")
	b.press("zz")
	b.waitFor(`document.querySelector("[data-hits]").hidden && !document.querySelector(".viewer-marks i") &&
		document.querySelector("[data-place]").textContent == ""`)
	b.press(kb.Escape)
	b.waitNavigation(func() { b.press(kb.Escape) })
	b.waitFor(fmt.Sprintf(`location.pathname + location.search == %q && location.hash == "#read-%d"`, list, f.files[chainDocuments[4].name]))
	b.waitVisible("#found .found-row")
	b.screenshot("scene-find-back")
	// The document opens where the words occur as a phrase, not where they first occur
	// separately.
	b.goTo(fmt.Sprintf("/documents/%d?find=%s&words=1", f.files[chainDocuments[6].name], "municipal+lien"))
	b.waitFor(`document.querySelector(".viewer-text mark.now")?.textContent.startsWith("municipal")`)
	b.screenshot("scene-find-text-phrase")
	b.press("/")
	b.press("zz")
	b.waitFor(`document.querySelector(".viewer-pages.stale") && document.querySelector("[data-place]").textContent == ""`)
}

func (f *firm) testFindOnPhone(t *testing.T, b *tab) {
	b.setSize(360, 740)
	b.goTo("/orders")
	b.click(".find-open")
	b.waitFor(findBoxOpen)
	b.checkFits(360)
	b.screenshot("scene-find-phone-start")
	b.press("2026-01")
	b.waitResults("All results")
	b.checkFits(360)
	b.screenshot("scene-find-phone")
	b.checkAccessible(t, "on a phone")
	b.click("#palette [data-palette=close]")
	b.waitFor(`!document.querySelector("#palette").open && document.activeElement.matches(".find-open")`)
	b.goTo("/find?q=21-4")
	b.checkFits(360)
	b.screenshot("scene-find-page-phone")
	b.goTo(fmt.Sprintf("/documents/%d?page=3&find=grantors+instrument&words=1", f.files[chainDocuments[4].name]))
	b.waitFor(`document.querySelector(".viewer-marks i.now")`)
	b.waitPageImage(3)
	b.waitFor(`(() => { const r = document.querySelector(".viewer-marks i.now").getBoundingClientRect();
		return document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)?.closest(".viewer-paper") })()`)
	b.checkFits(360)
	// The viewer keeps its scroll position when the window briefly shrinks to almost nothing,
	// as it can while a phone is being folded.
	for _, height := range []int64{1, 740} {
		b.setSize(min(height, 360), height)
		b.waitFor(fmt.Sprintf(`innerHeight == %d`, height))
		eval[bool](b, `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`)
	}
	b.waitFor(`document.querySelector("[data-number]").value == "3" &&
		document.querySelector(".viewer-marks i.now")?.getBoundingClientRect().top > 0`)
	b.screenshot("scene-find-marked-phone")
	b.goTo("/orders?q=orchard")
	b.checkFits(360)
	b.screenshot("scene-find-list-phone")
	b.setSize(1280, 900)
}

func (f *firm) testFindWithoutScripts(t *testing.T, b *tab) {
	b.enableScripts(false)
	b.goTo("/orders")
	b.fill("#find", "21-4")
	b.press(kb.Enter)
	b.waitVisible("h1 | Search: “21-4”")
	b.waitVisible("#found .found-row")
	b.screenshot("scene-find-plain")
	b.fill("#county", "Nowhere")
	b.clickLink("main form button | Search")
	b.waitFor(`location.search == "?county=Nowhere&q=21-4"`)
	b.enableScripts(true)
}
