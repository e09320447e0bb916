//go:build browser

package cmd_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Reading is left and taken up again: by keys, with documents turned as they were, and
// after the session has ended.
func readingGoesOn(t *testing.T, on *bench) {
	f := on.firm(t)
	b := on.tab(t, f.origin)
	b.signIn(admin)
	scan, deed := f.files[chain[1].name], f.files[chain[2].name]

	// Back to the row, and where "next" was pressed the way back stays one step.
	b.goTo("/abstracts/" + f.abstract)
	b.follow(".document-name a | " + chain[1].name)
	b.shows(1)
	b.press("?")
	b.sees("dialog dd | to where the document lies")
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog[open]")`)
	b.leave(func() { b.press("n") })
	b.sees("h1 | " + chain[2].name)
	b.shows(1)
	b.leave(func() { b.press(kb.Escape) })
	b.until(fmt.Sprintf(`location.pathname == "/abstracts/%s" && document.activeElement.id == "read-%d"`, f.abstract, deed))
	b.leave(func() { b.press(kb.Enter) })
	b.shows(1)
	b.leave(func() { b.press("p") })
	value[bool](b, `setTimeout(() => history.back(), 0) > 0`)
	b.until(fmt.Sprintf(`location.pathname == "/abstracts/%s"`, f.abstract))

	// A document stays turned; its neighbor is not.
	turned := `[...document.querySelectorAll("[data-pages] .viewer-paper img")].some(i => i.style.transform.includes("rotate(90deg)"))`
	b.goTo(fmt.Sprintf("/documents/%d", scan))
	b.shows(1)
	b.press("r")
	b.until(turned)
	b.goTo(fmt.Sprintf("/documents/%d", deed))
	b.shows(1)
	b.until("!" + turned)
	b.goTo(fmt.Sprintf("/documents/%d", scan))
	b.shows(1)
	b.until(turned)
	b.press("rrr")
	b.until("!" + turned + ` && localStorage.getItem("viewer.turned") == "[]"`)

	t.Run("signed out", func(t *testing.T) { f.signedOutWhileReading(b) })
	t.Run("a phone", func(t *testing.T) { f.onAPhone(t, b) })
}

// signedOutWhileReading ends the session under a page: it says so, and goes on when
// somebody has signed in again.
func (f *firm) signedOutWhileReading(b *tab) {
	b.goTo(fmt.Sprintf("/documents/%d", f.files[chain[3].name]))
	b.shows(1)
	value[bool](b, `fetch("/sign-out", {method: "POST", redirect: "manual", body: new URLSearchParams({})}).then(() => true)`)
	b.press(kb.End)
	b.sees(".viewer-out | You were signed out.")
	b.until(`[...document.querySelectorAll(".viewer-paper.absent")].some(e => getComputedStyle(e, "::after").content.includes("Not loaded"))`)
	b.noBarriers(b.t, "signed out")
	b.screenshot("scene-signed-out")
	b.press("/")
	b.press("deed" + kb.Enter)
	b.sees(".viewer-count | no answer")
	value[bool](b, fmt.Sprintf(`fetch("/sign-in", {method: "POST", redirect: "manual", body: new URLSearchParams({name: %q, password: %q})}).then(() => true)`, admin, password))
	value[bool](b, `window.dispatchEvent(new Event("focus"))`)
	b.until("!" + pick(".viewer-out"))
	b.sees(".viewer-count | of ")
	b.until(`document.querySelector(".viewer-paper img") && !document.querySelector(".viewer-paper:is(.absent, .waiting, .failed)")`)
}

// onAPhone looks at what a small window shows: a complete warning in two lines at most,
// and nothing about dropping.
func (f *firm) onAPhone(t *testing.T, b *tab) {
	b.goTo("/abstracts/" + f.bare)
	b.sees(".drops")
	b.size(360, 740)
	b.goTo("/abstracts/" + f.bare)
	b.sees("main > .warning | There is no backup")
	const warning = `document.querySelector("main > .warning > span")`
	if height := value[float64](b, warning+".getBoundingClientRect().height"); height > 50 {
		t.Errorf("the warning is %v pixels high, want two lines at most", height)
	}
	if value[bool](b, warning+".scrollWidth > "+warning+".clientWidth") {
		t.Error("the warning is cut off")
	}
	if value[bool](b, "!!"+pick(".drops")) {
		t.Error("a phone is told to drop")
	}
}
