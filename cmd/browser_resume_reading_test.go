//go:build browser

package cmd_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Reading is left and taken up again: by keys, with documents turned as they were, and
// after the session has ended.
func testResumeReading(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	b := env.newTab(t, f.origin)
	b.signIn(admin)
	scan, deed := f.files[chainDocuments[1].name], f.files[chainDocuments[2].name]

	// Back to the row, and where "next" was pressed the way back stays one step.
	b.goTo("/abstracts/" + f.abstract)
	b.clickLink(".document-name a | " + chainDocuments[1].name)
	b.waitPageImage(1)
	b.press("?")
	b.waitVisible("dialog dd | to where the document lies")
	b.press(kb.Escape)
	b.waitFor(`!document.querySelector("dialog[open]")`)
	b.waitNavigation(func() { b.press("n") })
	b.waitVisible("h1 | " + chainDocuments[2].name)
	b.waitPageImage(1)
	b.waitNavigation(func() { b.press(kb.Escape) })
	b.waitFor(fmt.Sprintf(`location.pathname == "/abstracts/%s" && document.activeElement.id == "read-%d"`, f.abstract, deed))
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitPageImage(1)
	b.waitNavigation(func() { b.press("p") })
	eval[bool](b, `setTimeout(() => history.back(), 0) > 0`)
	b.waitFor(fmt.Sprintf(`location.pathname == "/abstracts/%s"`, f.abstract))

	// A document stays turned; its neighbor is not.
	turned := `[...document.querySelectorAll("[data-pages] .viewer-paper img")].some(i => i.style.transform.includes("rotate(90deg)"))`
	b.goTo(fmt.Sprintf("/documents/%d", scan))
	b.waitPageImage(1)
	b.press("r")
	b.waitFor(turned)
	b.goTo(fmt.Sprintf("/documents/%d", deed))
	b.waitPageImage(1)
	b.waitFor("!" + turned)
	b.goTo(fmt.Sprintf("/documents/%d", scan))
	b.waitPageImage(1)
	b.waitFor(turned)
	b.press("rrr")
	b.waitFor("!" + turned + ` && localStorage.getItem("viewer.turned") == "[]"`)

	t.Run("signed out", func(t *testing.T) { f.testSignedOutWhileReading(b) })
	t.Run("a phone", func(t *testing.T) { f.testOnPhone(t, b) })
}

// testSignedOutWhileReading ends the session under a page: it says so, and goes on when
// somebody has signed in again.
func (f *firm) testSignedOutWhileReading(b *tab) {
	b.goTo(fmt.Sprintf("/documents/%d", f.files[chainDocuments[3].name]))
	b.waitPageImage(1)
	eval[bool](b, `fetch("/sign-out", {method: "POST", redirect: "manual", body: new URLSearchParams({})}).then(() => true)`)
	b.press(kb.End)
	b.waitVisible(".viewer-out | You were signed out.")
	b.waitFor(`[...document.querySelectorAll(".viewer-paper.absent")].some(e => getComputedStyle(e, "::after").content.includes("Not loaded"))`)
	b.checkAccessible(b.t, "signed out")
	b.screenshot("scene-signed-out")
	b.press("/")
	b.press("deed" + kb.Enter)
	b.waitVisible(".viewer-count | no answer")
	eval[bool](b, fmt.Sprintf(`fetch("/sign-in", {method: "POST", redirect: "manual", body: new URLSearchParams({name: %q, password: %q})}).then(() => true)`, admin, password))
	eval[bool](b, `window.dispatchEvent(new Event("focus"))`)
	b.waitFor("!" + findJS(".viewer-out"))
	b.waitVisible(".viewer-count | of ")
	b.waitFor(`document.querySelector(".viewer-paper img") && !document.querySelector(".viewer-paper:is(.absent, .waiting, .failed)")`)
}

// testOnPhone looks at what a small window shows: a complete warning in two lines at most,
// and nothing about dropping.
func (f *firm) testOnPhone(t *testing.T, b *tab) {
	b.goTo("/abstracts/" + f.emptyAbstract)
	b.waitVisible(".drops")
	b.setSize(360, 740)
	b.goTo("/abstracts/" + f.emptyAbstract)
	b.waitVisible("main > .warning | There is no backup")
	const warning = `document.querySelector("main > .warning > span")`
	if height := eval[float64](b, warning+".getBoundingClientRect().height"); height > 50 {
		t.Errorf("the warning is %v pixels high, want two lines at most", height)
	}
	if eval[bool](b, warning+".scrollWidth > "+warning+".clientWidth") {
		t.Error("the warning is cut off")
	}
	if eval[bool](b, "!!"+findJS(".drops")) {
		t.Error("a phone is told to drop")
	}
}
