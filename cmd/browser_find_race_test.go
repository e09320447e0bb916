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
func testFindRaces(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	b := env.newTab(t, f.origin)
	b.signIn(staff)
	b.goTo("/orders")
	f.waitSearchable(b, "lien satisfied")
	t.Run("keys before the answer", func(t *testing.T) { testKeysBeforeResponse(t, b) })
	t.Run("clicks before the answer", func(t *testing.T) { testClicksBeforeResponse(t, b) })
	t.Run("the first answer is slow", func(t *testing.T) { testSlowFirstResponse(t, b) })
	t.Run("the title", func(t *testing.T) { testTitleFollows(b) })
	t.Run("somebody else", func(t *testing.T) { f.testFindAfterUserChange(t, b) })
}

// delayResponses has the answers of the find box wait until letGo, from when it has a text.
func (b *tab) delayResponses(from string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
		const real = window.fetch, go = new Promise(r => { window.letGo = r })
		window.fetch = async (url, options) => {
			if (String(url).startsWith("/find/box") && decodeURIComponent(url).includes(%q)) await go
			return real(url, options)
		}
		return true })()`, from))
}

// testKeysBeforeResponse types on, chooses and opens while the list is still that of the text
// before: the keys count for the list that comes.
func testKeysBeforeResponse(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.delayResponses("q=2026-0105")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2026-01")
	if first := b.waitResults("All results")[0]; strings.Contains(first, "2026-0105") {
		t.Fatalf("%q comes first already", first)
	}
	b.press("05" + kb.ArrowDown)
	if eval[bool](b, "!!"+selectedOption) {
		t.Error("a key chooses of the list before")
	}
	// It is seen that the list is not that of the text.
	b.waitFor(`(() => { const soft = getComputedStyle(document.querySelector(".palette-keys")).color
		return [...document.querySelectorAll("#palette :is([role=option], .found-name, mark, .badge)")].every(e => getComputedStyle(e).color == soft) })()`)
	b.checkAccessible(t, "an older list")
	b.screenshot("scene-find-older")
	b.setTheme("dark")
	b.checkAccessible(t, "an older list, dark")
	b.setTheme("light")
	b.press(kb.Enter)
	b.waitNavigation(func() { eval[bool](b, `letGo() || true`) })
	b.waitVisible("h1 | 2026-0105")

	// Whoever types on after such keys means them no more.
	b.goTo("/orders")
	b.delayResponses("q=2026-0105")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2026-0105" + kb.ArrowDown + kb.Enter + kb.Backspace)
	b.waitResults("2026-0101")
	if eval[bool](b, "!!"+selectedOption) {
		t.Error("a key chooses of the list of another text")
	}
	eval[bool](b, `letGo() || true`)
	b.press(kb.Escape)
}

// testClicksBeforeResponse clicks what was found by the text before.
func testClicksBeforeResponse(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.delayResponses("q=2026-0105")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2026-01")
	b.waitResults("All results")
	b.press("05")
	b.click("#palette-1")
	b.click("#palette-all")
	if !eval[bool](b, findBoxOpen) {
		t.Error("a click before the answer leaves the box")
	}
	eval[bool](b, `letGo() || true`)
	b.waitResults("2026-0105")
	b.clickLink("#palette-1")
	b.waitVisible("h1 | 2026-0105")
}

// testSlowFirstResponse says that it looks, and no more that more has to be typed.
func testSlowFirstResponse(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.delayResponses("q=")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2")
	b.waitVisible("#palette | at least two letters")
	b.press("0")
	b.waitVisible(".palette-wait | Looking")
	if said := eval[string](b, `document.querySelector("#palette").innerText + document.querySelector("#palette-said").textContent`); strings.Contains(said, "at least two") {
		t.Errorf("it says %q", said)
	}
	eval[bool](b, `letGo() || true`)
	b.waitResults("2026-0101")
	b.press(kb.Escape)
}

// testTitleFollows types on, on the page of what was found.
func testTitleFollows(b *tab) {
	b.goTo("/find?q=21-4")
	b.waitFor(`document.title == "Find: 21-4 · deedkeep"`)
	b.fill("#q", "21-4-0")
	b.waitFor(`document.title == "Find: 21-4-0 · deedkeep" && location.search == "?q=21-4-0"`)
	b.fill("#q", "")
	b.waitFor(`document.title == "Find · deedkeep"`)
}

// testFindAfterUserChange comes to the tab of somebody whose session has ended.
func (f *firm) testFindAfterUserChange(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2026-0101")
	b.waitResults("2026-0101")
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.press("/")
	b.waitFor(findBoxOpen + ` && document.querySelector("#palette-q").value == "2026-0101"`)
	// The session gives way to another's without anybody's signing out.
	eval[bool](b, fmt.Sprintf(`fetch("/sign-in", {method: "POST", redirect: "manual", body: new URLSearchParams({name: %q, password: %q})}).then(() => true)`, admin, password))
	b.goTo("/orders")
	if kept := eval[string](b, "JSON.stringify(sessionStorage)"); strings.Contains(kept, "2026-0101") {
		t.Errorf("the tab keeps %s", kept)
	}
	b.press("/")
	b.waitFor(findBoxOpen)
	if shown := eval[string](b, `document.querySelector("#palette-q").value`); shown != "" {
		t.Errorf("somebody else sees %q", shown)
	}
}
