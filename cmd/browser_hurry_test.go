//go:build browser

package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Finding in a hurry: keys and clicks that come before the answer, words typed on, and
// somebody else who comes to the same tab.
func hurriedFinding(t *testing.T, on *bench) {
	f := on.firm(t)
	b := on.tab(t, f.origin)
	b.signIn(staff)
	b.goTo("/orders")
	f.searched(b, "lien satisfied")
	t.Run("keys before the answer", func(t *testing.T) { keysBeforeTheAnswer(t, b) })
	t.Run("clicks before the answer", func(t *testing.T) { clicksBeforeTheAnswer(t, b) })
	t.Run("the first answer is slow", func(t *testing.T) { slowFirstAnswer(t, b) })
	t.Run("the title", func(t *testing.T) { titleFollows(b) })
	t.Run("somebody else", func(t *testing.T) { f.somebodyElseFinds(t, b) })
}

// holdsAnswers has the answers of the find box wait until letGo, from when it has a text.
func (b *tab) holdsAnswers(from string) {
	b.t.Helper()
	value[bool](b, fmt.Sprintf(`(() => {
		const real = window.fetch, go = new Promise(r => { window.letGo = r })
		window.fetch = async (url, options) => {
			if (String(url).startsWith("/find/box") && decodeURIComponent(url).includes(%q)) await go
			return real(url, options)
		}
		return true })()`, from))
}

// keysBeforeTheAnswer types on, chooses and opens while the list is still that of the text
// before: the keys count for the list that comes.
func keysBeforeTheAnswer(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.holdsAnswers("q=2026-0105")
	b.press("/")
	b.until(boxOpen)
	b.press("2026-01")
	if first := b.found("All results")[0]; strings.Contains(first, "2026-0105") {
		t.Fatalf("%q comes first already", first)
	}
	b.press("05" + kb.ArrowDown)
	if value[bool](b, "!!"+boxChosen) {
		t.Error("a key chooses of the list before")
	}
	// It is seen that the list is not that of the text.
	b.until(`(() => { const soft = getComputedStyle(document.querySelector(".palette-keys")).color
		return [...document.querySelectorAll("#palette :is([role=option], .found-name, mark, .badge)")].every(e => getComputedStyle(e).color == soft) })()`)
	b.noBarriers(t, "an older list")
	b.screenshot("scene-find-older")
	b.theme("dark")
	b.noBarriers(t, "an older list, dark")
	b.theme("light")
	b.press(kb.Enter)
	b.leave(func() { value[bool](b, `letGo() || true`) })
	b.sees("h1 | 2026-0105")

	// Whoever types on after such keys means them no more.
	b.goTo("/orders")
	b.holdsAnswers("q=2026-0105")
	b.press("/")
	b.until(boxOpen)
	b.press("2026-0105" + kb.ArrowDown + kb.Enter + kb.Backspace)
	b.found("2026-0101")
	if value[bool](b, "!!"+boxChosen) {
		t.Error("a key chooses of the list of another text")
	}
	value[bool](b, `letGo() || true`)
	b.press(kb.Escape)
}

// clicksBeforeTheAnswer clicks what was found by the text before.
func clicksBeforeTheAnswer(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.holdsAnswers("q=2026-0105")
	b.press("/")
	b.until(boxOpen)
	b.press("2026-01")
	b.found("All results")
	b.press("05")
	b.click("#palette-1")
	b.click("#palette-all")
	if !value[bool](b, boxOpen) {
		t.Error("a click before the answer leaves the box")
	}
	value[bool](b, `letGo() || true`)
	b.found("2026-0105")
	b.follow("#palette-1")
	b.sees("h1 | 2026-0105")
}

// slowFirstAnswer says that it looks, and no more that more has to be typed.
func slowFirstAnswer(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.holdsAnswers("q=")
	b.press("/")
	b.until(boxOpen)
	b.press("2")
	b.sees("#palette | at least two letters")
	b.press("0")
	b.sees(".palette-wait | Looking")
	if said := value[string](b, `document.querySelector("#palette").innerText + document.querySelector("#palette-said").textContent`); strings.Contains(said, "at least two") {
		t.Errorf("it says %q", said)
	}
	value[bool](b, `letGo() || true`)
	b.found("2026-0101")
	b.press(kb.Escape)
}

// titleFollows types on, on the page of what was found.
func titleFollows(b *tab) {
	b.goTo("/find?q=21-4")
	b.until(`document.title == "Find: 21-4 · deedkeep"`)
	b.fill("#q", "21-4-0")
	b.until(`document.title == "Find: 21-4-0 · deedkeep" && location.search == "?q=21-4-0"`)
	b.fill("#q", "")
	b.until(`document.title == "Find · deedkeep"`)
}

// somebodyElseFinds comes to the tab of somebody whose session has ended.
func (f *firm) somebodyElseFinds(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.press("/")
	b.until(boxOpen)
	b.press("2026-0101")
	b.found("2026-0101")
	b.leave(func() { b.press(kb.Enter) })
	b.press("/")
	b.until(boxOpen + ` && document.querySelector("#palette-q").value == "2026-0101"`)
	// The session gives way to another's without anybody's signing out.
	value[bool](b, fmt.Sprintf(`fetch("/sign-in", {method: "POST", redirect: "manual", body: new URLSearchParams({name: %q, password: %q})}).then(() => true)`, admin, password))
	b.goTo("/orders")
	if kept := value[string](b, "JSON.stringify(sessionStorage)"); strings.Contains(kept, "2026-0101") {
		t.Errorf("the tab keeps %s", kept)
	}
	b.press("/")
	b.until(boxOpen)
	if shown := value[string](b, `document.querySelector("#palette-q").value`); shown != "" {
		t.Errorf("somebody else sees %q", shown)
	}
}
