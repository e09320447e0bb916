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

// held presses a key with Ctrl held.
func (b *tab) held(key, code string, n int64) {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: code, Modifiers: 2, WindowsVirtualKeyCode: n, NativeVirtualKeyCode: n})
	}
}

// Expressions of the find box.
const (
	boxOpen   = `document.querySelector("#palette").open && document.activeElement.id == "palette-q"`
	boxChosen = `document.querySelector('#palette [aria-selected="true"]')`
)

// found waits until the find box has answered and an option says so, and gives all of them.
func (b *tab) found(words string) []string {
	b.t.Helper()
	b.until(fmt.Sprintf(`!document.querySelector("#palette [aria-busy]") && [...document.querySelectorAll("#palette [role=option]")].some(o => %s)`, says("o", words)))
	return value[[]string](b, `[...document.querySelectorAll("#palette [role=option]")].map(o => o.innerText.replace(/\s+/g, " "))`)
}

// chosen waits until the option that is chosen says so, and is named by the field.
func (b *tab) chosen(words string) {
	b.t.Helper()
	b.until(`(() => { const o = ` + boxChosen + `; return o && ` + says("o", words) + ` && document.querySelector("#palette-q").getAttribute("aria-activedescendant") == o.id })()`)
}

// searched waits until a text is found by its words: the index follows within seconds.
func (f *firm) searched(b *tab, text string) {
	f.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if value[bool](b, fmt.Sprintf(`fetch("/find/box?q=" + encodeURIComponent(%q), {headers: {"HX-Request": "true"}}).then(r => r.text()).then(t => t.includes('id="palette-1"'))`, text)) {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("%q is never found", text)
		}
	}
}

// Finding by keyboard alone, letter by letter.
func finding(t *testing.T, on *bench) {
	f := on.firm(t)
	b := on.tab(t, f.origin)
	b.signIn(staff)
	b.goTo("/orders")
	f.searched(b, "lien satisfied")
	t.Run("opens and closes", func(t *testing.T) { f.boxOpens(t, b) })
	t.Run("letter by letter", func(t *testing.T) { f.byLetter(t, b) })
	t.Run("slow and broken lines", func(t *testing.T) { slowFinding(t, b) })
	t.Run("the page", func(t *testing.T) { f.findPage(t, b) })
	t.Run("on the page", func(t *testing.T) { f.opensOnPage(t, b) })
	t.Run("on a phone", func(t *testing.T) { f.findsOnPhone(t, b) })
	t.Run("without scripts", func(t *testing.T) { f.findsPlainly(t, b) })
}

func (f *firm) boxOpens(t *testing.T, b *tab) {
	b.tabTo("main a | 2026-0199")
	b.press("/")
	b.until(boxOpen)
	b.noBarriers(t, "the find box")
	b.screenshot("scene-find-start")
	b.press(kb.Escape)
	b.until(`!document.querySelector("#palette").open && document.activeElement.innerText.includes("2026-0199")`)
	b.held("k", "KeyK", 75)
	b.until(boxOpen)
	b.press("/")
	if got := value[string](b, `document.querySelector("#palette-q").value`); got != "/" {
		t.Errorf("a slash in the box writes %q", got)
	}
	b.until(`document.querySelector("#palette").innerText.includes("at least two letters")`)
	b.press(kb.Escape)
	// In a field of the page it is a letter.
	b.fill("#q", "2026")
	b.press("/")
	b.until(`document.activeElement.id == "q" && document.activeElement.value == "2026/"`)
	b.goTo("/orders")
}

// byLetter types a number, looks at what each letter brings, chooses and opens.
func (f *firm) byLetter(t *testing.T, b *tab) {
	b.held("k", "KeyK", 75)
	b.until(boxOpen)
	typed := ""
	for _, letter := range "2026-01" {
		typed += string(letter)
		began := time.Now()
		b.press(string(letter))
		if len(typed) < 2 {
			continue
		}
		b.found("2026-0101")
		t.Logf("%q: %s", typed, time.Since(began).Round(time.Millisecond))
	}
	b.screenshot("scene-find-box")
	b.noBarriers(t, "what was found")
	options := b.found("All results")
	if len(options) < 5 {
		t.Errorf("%q", options)
	}
	b.sees("[data-enter] | all results")
	b.press(kb.ArrowDown)
	b.chosen(options[0])
	b.sees("[data-enter] | open")
	b.press(kb.ArrowDown + kb.End)
	b.chosen("All results")
	b.press(kb.ArrowDown)
	b.chosen(options[0])
	b.press(kb.ArrowUp + kb.Home + kb.ArrowDown)
	b.chosen(options[1])
	b.screenshot("scene-find-chosen")
	b.theme("dark")
	b.screenshot("scene-find-chosen-dark")
	b.noBarriers(t, "chosen, dark")
	b.theme("light")
	b.leave(func() { b.press(kb.Enter) })
	if at := value[string](b, "location.pathname"); !strings.HasPrefix(at, "/orders/") {
		t.Errorf("Enter leads to %s", at)
	}
	// What was found is there again, and what was opened is chosen.
	b.press("/")
	b.until(boxOpen)
	b.chosen(options[1])
	// Nothing is chosen: all of it on a page of its own; a whole number leads to its record.
	b.press("2026-0199")
	b.found("2026-0199")
	b.sees("[data-enter] | open")
	b.leave(func() { b.press(kb.Enter) })
	b.sees("h1 | 2026-0199")
}

// What comes late counts for nothing, one question is under way at a time, and a line
// that fails says so.
func slowFinding(t *testing.T, b *tab) {
	b.goTo("/orders")
	// The answer to one text waits until it is let go, although it was given up.
	value[bool](b, `(() => {
		const real = window.fetch; window.asked = 0; window.most = 0; window.late = 0; window.broken = false
		window.fetch = async (url, options) => {
			if (window.broken) throw new TypeError("no line")
			if (!String(url).startsWith("/find/box")) return real(url, options)
			window.most = Math.max(window.most, ++window.asked)
			const done = () => { window.asked-- }
			if (url.endsWith("q=2026")) {
				options.signal.addEventListener("abort", done, {once: true})
				await new Promise(r => { window.letGo = r })
				const answer = await real(url, {...options, signal: undefined}), text = await answer.text()
				setTimeout(() => { window.late++ }, 50)
				return {ok: true, status: 200, text: async () => text}
			}
			try { return await real(url, options) } finally { done() }
		}
		return true })()`)
	b.press("/")
	b.until(boxOpen)
	b.press("2026")
	b.sees(".palette-wait | Looking")
	b.until(`window.letGo`)
	b.press("-0199")
	options := b.found("2026-0199")
	value[bool](b, `window.letGo() || true`)
	b.until(`window.late == 1`)
	if now := b.found("2026-0199"); len(now) != len(options) || len(now) != 2 {
		t.Errorf("an older answer came over a newer one: %q, then %q", options, now)
	}
	if most := value[int](b, `window.most`); most != 1 {
		t.Errorf("%d questions at once", most)
	}
	value[bool](b, `window.broken = true`)
	b.press(kb.Backspace)
	b.sees(".palette-trouble | The server does not answer.")
	b.noBarriers(t, "no answer")
	b.screenshot("scene-find-no-answer")
	value[bool](b, `(window.broken = false) || true`)
	b.click(".palette-trouble button")
	b.found("2026-0199")
	b.until(boxOpen)
	b.press(kb.Escape)
}

// The page of what was found: its filters stand in the address, and back leads back.
func (f *firm) findPage(t *testing.T, b *tab) {
	b.goTo("/find?q=21-4")
	b.sees("#found .found-row")
	b.until(`[...document.querySelectorAll("#found :is(mark, .found-name, .found-snippet)")].every(e => getComputedStyle(e).unicodeBidi.startsWith("isolate"))`)
	b.follow(".tabs a | Abstracts")
	b.until(`location.search == "?kind=abstract&q=21-4"`)
	b.sees("#found .found-row")
	b.fill("#county", "Nowhere")
	b.press(kb.Tab)
	b.sees("#found | Nothing has all of what you asked for")
	b.until(`location.search == "?county=Nowhere&kind=abstract&q=21-4"`)
	b.screenshot("scene-find-filtered")
	value[bool](b, `history.back() || true`)
	b.until(`location.search == "?kind=abstract&q=21-4" && document.querySelector("#county").value == "" && document.querySelectorAll("#found .found-row").length > 5`)
	// The find box works on a page that came back, and from within a field.
	b.held("k", "KeyK", 75)
	b.until(boxOpen)
	b.press("2026-0199")
	b.found("2026-0199")
	b.press(kb.Escape)
	b.fill("#q", "21-4-11")
	b.until(`location.search == "?kind=abstract&q=21-4-11" && document.querySelectorAll("#found .found-row").length == 1`)
}

// opensOnPage finds words that stand in documents alone, opens one where they stand, and
// goes through them.
func (f *firm) opensOnPage(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.press("/")
	b.until(boxOpen)
	b.press("eudora pennyfarthing")
	options := b.found("Page 3")
	b.screenshot("scene-find-words")
	b.noBarriers(t, "words in documents")
	at := slices.IndexFunc(options, func(o string) bool { return strings.Contains(o, chain[4].name) && strings.Contains(o, "Page 3") })
	if at < 0 {
		t.Fatalf("%q", options)
	}
	b.press(strings.Repeat(kb.ArrowDown, at+1))
	b.chosen(chain[4].name)
	b.leave(func() { b.press(kb.Enter) })
	b.until(`document.querySelector("#find-in").value == "eudora pennyfarthing" && document.querySelector("[data-number]").value == "3"`)
	b.until(`(() => { const m = document.querySelector(".viewer-marks i.now"), r = m?.getBoundingClientRect(); return r && r.width > 20 && r.top > 0 && r.bottom < innerHeight })()`)
	b.shows(3)
	b.screenshot("scene-find-marked")
	b.noBarriers(t, "marked words")
	// From here too, where "/" is for the document; what was found is there again.
	b.held("k", "KeyK", 75)
	b.until(boxOpen)
	b.chosen(chain[4].name)
	b.press("grantors instrument")
	options = b.found(chain[4].name)
	b.press(kb.ArrowDown)
	b.chosen(options[0])
	b.leave(func() { b.press(kb.Enter) })
	b.until(`document.querySelector(".viewer-marks i.now")`)
	first := value[string](b, `document.querySelector("[data-place]").textContent`)
	b.press(kb.Enter)
	b.until(`document.querySelector("[data-place]").textContent != "` + first + `"`)
	// A document that is shown as text, and a letter that is wrong.
	b.held("k", "KeyK", 75)
	b.until(boxOpen)
	b.press("prothonotery")
	b.sees(".palette-said | spelled a little differently")
	options = b.found(chain[6].name)
	b.screenshot("scene-find-typing-error")
	at = slices.IndexFunc(options, func(o string) bool { return strings.Contains(o, chain[6].name) })
	b.press(strings.Repeat(kb.ArrowDown, at+1))
	b.chosen(chain[6].name)
	b.leave(func() { b.press(kb.Enter) })
	b.sees(".viewer-text mark.now | Prothonotary")
	b.screenshot("scene-find-marked-text")
	f.comesBack(t, b)
}

// comesBack types other words in a document that was opened from a list of what was
// found, and goes back to that by keyboard.
func (f *firm) comesBack(t *testing.T, b *tab) {
	const list = "/find?kind=file&q=quillfeather+instrument"
	b.goTo(list)
	b.leave(func() { b.click(fmt.Sprintf("#read-%d", f.files[chain[4].name])) })
	b.until(`document.querySelector(".viewer-marks i.now")`)
	b.press("/")
	b.press("zz")
	b.until(`document.querySelector("[data-hits]").hidden && !document.querySelector(".viewer-marks i") && document.querySelector("[data-place]").textContent == ""`)
	b.press(kb.Escape)
	b.leave(func() { b.press(kb.Escape) })
	b.until(fmt.Sprintf(`location.pathname + location.search == %q && location.hash == "#read-%d"`, list, f.files[chain[4].name]))
	b.sees("#found .found-row")
	b.screenshot("scene-find-back")
	// The words that were looked for stand together further down.
	b.goTo(fmt.Sprintf("/documents/%d?find=%s&words=1", f.files[chain[6].name], "municipal+lien"))
	b.until(`document.querySelector(".viewer-text mark.now")?.textContent.startsWith("municipal")`)
	b.screenshot("scene-find-text-phrase")
	b.press("/")
	b.press("zz")
	b.until(`document.querySelector(".viewer-pages.stale") && document.querySelector("[data-place]").textContent == ""`)
}

func (f *firm) findsOnPhone(t *testing.T, b *tab) {
	b.size(360, 740)
	b.goTo("/orders")
	b.click(".find-open")
	b.until(boxOpen)
	b.fits(360)
	b.screenshot("scene-find-phone-start")
	b.press("2026-01")
	b.found("All results")
	b.fits(360)
	b.screenshot("scene-find-phone")
	b.noBarriers(t, "on a phone")
	b.click("#palette [data-palette=close]")
	b.until(`!document.querySelector("#palette").open && document.activeElement.matches(".find-open")`)
	b.goTo("/find?q=21-4")
	b.fits(360)
	b.screenshot("scene-find-page-phone")
	b.goTo(fmt.Sprintf("/documents/%d?page=3&find=grantors+instrument&words=1", f.files[chain[4].name]))
	b.until(`document.querySelector(".viewer-marks i.now")`)
	b.shows(3)
	b.until(`(() => { const r = document.querySelector(".viewer-marks i.now").getBoundingClientRect();
		return document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)?.closest(".viewer-paper") })()`)
	b.fits(360)
	// A window that is nothing for a while, as while a phone is folded, keeps the place.
	for _, height := range []int64{1, 740} {
		b.size(min(height, 360), height)
		b.until(fmt.Sprintf(`innerHeight == %d`, height))
		value[bool](b, `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`)
	}
	b.until(`document.querySelector("[data-number]").value == "3" && document.querySelector(".viewer-marks i.now")?.getBoundingClientRect().top > 0`)
	b.screenshot("scene-find-marked-phone")
	b.goTo("/orders?q=orchard")
	b.fits(360)
	b.screenshot("scene-find-list-phone")
	b.size(1280, 900)
}

func (f *firm) findsPlainly(t *testing.T, b *tab) {
	b.scripts(false)
	b.goTo("/orders")
	b.fill("#find", "21-4")
	b.press(kb.Enter)
	b.sees("h1 | Find “21-4”")
	b.sees("#found .found-row")
	b.screenshot("scene-find-plain")
	b.fill("#county", "Nowhere")
	b.follow("main form button | Find")
	b.until(`location.search == "?county=Nowhere&q=21-4"`)
	b.scripts(true)
}
