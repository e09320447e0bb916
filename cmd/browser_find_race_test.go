//go:build browser

package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// The find box handles races: keys and clicks before a response arrives, text typed while a
// search is running, and a change of the user in the same tab.
func testFindRaces(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	b := env.newTab(t, f.origin)
	b.signIn(staff)
	b.goTo("/orders")
	f.waitSearchable(b, "lien satisfied")
	t.Run("keys before response", func(t *testing.T) { testKeysBeforeResponse(t, b) })
	t.Run("clicks before response", func(t *testing.T) { testClicksBeforeResponse(t, b) })
	t.Run("slow first response", func(t *testing.T) { testSlowFirstResponse(t, b) })
	t.Run("title", func(t *testing.T) { testTitleFollows(b) })
	t.Run("another user", func(t *testing.T) { f.testFindAfterUserChange(t, b) })
}

// delayResponses delays the find box requests whose URL includes part until the JavaScript
// function release is called.
func (ta *tab) delayResponses(part string) {
	ta.t.Helper()
	eval[bool](ta, fmt.Sprintf(`(() => {
		const realFetch = window.fetch, released = new Promise(r => { window.release = r })
		window.fetch = async (url, options) => {
			if (String(url).startsWith("/find/box") && decodeURIComponent(url).includes(%q)) await released
			return realFetch(url, options)
		}
		return true })()`, part))
}

// testKeysBeforeResponse presses Down and Enter while the find box still shows the results
// for an earlier text. The keys must take effect on the new results.
func testKeysBeforeResponse(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.delayResponses("q=2026-0105")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2026-01")
	if first := b.waitResults("All results")[0]; strings.Contains(first, "2026-0105") {
		t.Fatalf("first option of the earlier list: got %q, want another order", first)
	}
	b.press("05" + kb.ArrowDown)
	if eval[bool](b, "!!"+selectedOption) {
		t.Error("Down before the response: got an option of the earlier list selected, want none")
	}
	// Gray text shows that the results are outdated.
	b.waitFor(`(() => { const muted = getComputedStyle(document.querySelector(".palette-keys")).color
		return [...document.querySelectorAll("#palette :is([role=option], .found-name, mark, .badge)")]
			.every(e => getComputedStyle(e).color == muted) })()`)
	b.checkAccessible(t, "outdated list")
	b.screenshot("scene-find-older")
	b.setTheme("dark")
	b.checkAccessible(t, "outdated list, dark")
	b.setTheme("light")
	b.press(kb.Enter)
	b.waitNavigation(func() { eval[bool](b, `release() || true`) })
	b.waitVisible("h1 | 2026-0105")

	// Typing more text discards keys that were pressed before the response.
	b.goTo("/orders")
	b.delayResponses("q=2026-0105")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2026-0105" + kb.ArrowDown + kb.Enter + kb.Backspace)
	b.waitResults("2026-0101")
	if eval[bool](b, "!!"+selectedOption) {
		t.Error("Down, Enter, and more text: got an option selected, want none")
	}
	eval[bool](b, `release() || true`)
	b.press(kb.Escape)
}

// testClicksBeforeResponse clicks results for an earlier text. The clicks must have no
// effect.
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
		t.Error("find box after a click before the response: got closed, want open")
	}
	eval[bool](b, `release() || true`)
	b.waitResults("2026-0105")
	b.clickLink("#palette-1")
	b.waitVisible("h1 | 2026-0105")
}

// testSlowFirstResponse checks that the find box shows that a search is running and no
// longer asks for at least two letters.
func testSlowFirstResponse(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.delayResponses("q=")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2")
	b.waitVisible("#palette | at least two letters")
	b.press("0")
	b.waitVisible(".palette-wait | Searching")
	text := eval[string](b, `document.querySelector("#palette").innerText + document.querySelector("#palette-said").textContent`)
	if strings.Contains(text, "at least two") {
		t.Errorf("text of the find box: got %q, want no \"at least two\"", text)
	}
	eval[bool](b, `release() || true`)
	b.waitResults("2026-0101")
	b.press(kb.Escape)
}

// testTitleFollows checks that changing the text on the results page updates the title and
// the URL.
func testTitleFollows(b *tab) {
	b.goTo("/find?q=21-4")
	b.waitFor(`document.title == "Search: “21-4” · deedkeep"`)
	b.fill("#q", "21-4-0")
	b.waitFor(`document.title == "Search: “21-4-0” · deedkeep" && location.search == "?q=21-4-0"`)
	b.fill("#q", "")
	b.waitFor(`document.title == "Search · deedkeep"`)
}

// testFindAfterUserChange signs in as another user without signing out first. The find box
// must not show the first user's search to the other user.
func (f *firm) testFindAfterUserChange(t *testing.T, b *tab) {
	b.goTo("/orders")
	b.press("/")
	b.waitFor(findBoxOpen)
	b.press("2026-0101")
	b.waitResults("2026-0101")
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.press("/")
	b.waitFor(findBoxOpen + ` && document.querySelector("#palette-q").value == "2026-0101"`)
	b.fetchSignIn(admin)
	b.goTo("/orders")
	if got := eval[string](b, "JSON.stringify(sessionStorage)"); strings.Contains(got, "2026-0101") {
		t.Errorf("session storage after the change of users: got %s, want no search text", got)
	}
	b.press("/")
	b.waitFor(findBoxOpen)
	if got := eval[string](b, `document.querySelector("#palette-q").value`); got != "" {
		t.Errorf("find box of the second user: got %q, want it empty", got)
	}
}
