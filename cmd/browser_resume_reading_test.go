//go:build browser

package cmd_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// A user can leave a document with the keyboard and return to it. Documents are still
// rotated, and reading continues after the session has expired.
func testResumeReading(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	b := env.newTab(t, f.origin)
	b.signIn(admin)
	scan, deed := f.files[chainDocuments[1].name], f.files[chainDocuments[2].name]

	// Escape returns to the document's row in the list, even after the user has moved to the
	// next document. Moving to another document doesn't add a history entry.
	b.goTo("/abstracts/" + f.abstract)
	b.clickLink(".document-name a | " + chainDocuments[1].name)
	b.waitPageImage(1)
	b.press("?")
	b.waitVisible("dialog dd | Back to the search results or the document list")
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

	// A document stays rotated. Other documents aren't rotated.
	rotated := `[...document.querySelectorAll("[data-pages] .viewer-paper img")].some(i => i.style.transform.includes("rotate(90deg)"))`
	b.goTo(fmt.Sprintf("/documents/%d", scan))
	b.waitPageImage(1)
	b.press("r")
	b.waitFor(rotated)
	b.goTo(fmt.Sprintf("/documents/%d", deed))
	b.waitPageImage(1)
	b.waitFor("!" + rotated)
	b.goTo(fmt.Sprintf("/documents/%d", scan))
	b.waitPageImage(1)
	b.waitFor(rotated)
	f.testStoredRotation(t, env, b, scan)

	t.Run("signed out", func(t *testing.T) { f.testSignedOutWhileReading(b) })
	t.Run("on a phone", func(t *testing.T) { f.testOnPhone(t, b) })
}

// testStoredRotation checks that another user sees the document rotated as in b, also its thumbnails. A viewer rotates it
// only for a while.
func (f *firm) testStoredRotation(t *testing.T, env *browserEnv, b *tab, scan int64) {
	other := env.newTab(t, f.origin)
	other.signIn(viewer)
	const transform = `document.querySelector("[data-pages] .viewer-paper img").style.transform`
	document := fmt.Sprintf("/documents/%d", scan)
	other.goTo(document)
	other.waitPageImage(1)
	other.waitFor(transform + `.includes("rotate(90deg)")`)
	other.waitFor(`document.querySelectorAll(".viewer-leaf-paper").length > 0`)
	other.waitFor(`[...document.querySelectorAll(".viewer-leaf-paper")].every(e => e.dataset.turn == "1")`)
	other.waitFor(`document.querySelector(".viewer-leaf-paper img").getBoundingClientRect().width > 0`)
	other.screenshot("scene-rotated")
	other.press("r")
	other.waitFor(transform + `.includes("rotate(180deg)")`)
	other.waitVisible("[data-said] | only on your screen")
	other.goTo("/abstracts/" + f.abstract)
	other.waitFor(fmt.Sprintf(`getComputedStyle(document.querySelector("#document-%d .thumb img")).transform.startsWith("matrix(")`, scan))
	other.screenshot("scene-rotated-list")
	b.press("rrr") // in a tab in the background, which isn't drawn
	eval[bool](b, `(async () => {
		while (!(await (await fetch(location.pathname)).text()).includes('data-turns="0000"')) await new Promise(r => setTimeout(r, 50));
		return true;
	})()`)
	other.goTo(document)
	other.waitPageImage(1)
	other.waitFor(transform + ` == "none"`)
}

// testSignedOutWhileReading signs the user out while a document is open. The page shows that
// the user is signed out, and resumes loading when the user has signed in again.
func (f *firm) testSignedOutWhileReading(b *tab) {
	b.goTo(fmt.Sprintf("/documents/%d", f.files[chainDocuments[3].name]))
	b.waitPageImage(1)
	b.signOut()
	b.press(kb.End)
	b.waitVisible(".viewer-out | You were signed out.")
	b.waitFor(`[...document.querySelectorAll(".viewer-paper.absent")]
		.some(e => getComputedStyle(e, "::after").content.includes("Not loaded"))`)
	b.checkAccessible(b.t, "signed out")
	b.screenshot("scene-signed-out")
	b.press("/")
	b.press("deed" + kb.Enter)
	b.waitVisible(".viewer-count | no response")
	b.fetchSignIn(admin)
	eval[bool](b, `window.dispatchEvent(new Event("focus"))`)
	b.waitFor("!" + findJS(".viewer-out"))
	b.waitVisible(".viewer-count | of ")
	b.waitFor(`document.querySelector(".viewer-paper img") && !document.querySelector(".viewer-paper:is(.absent, .waiting, .failed)")`)
}

// testOnPhone checks that on a phone, the warning is completely visible in at most two
// lines, and that the page doesn't mention dropping files.
func (f *firm) testOnPhone(t *testing.T, b *tab) {
	b.goTo("/abstracts/" + f.emptyAbstract)
	b.waitVisible(".drops")
	b.setSize(360, 740)
	b.goTo("/abstracts/" + f.emptyAbstract)
	if eval[bool](b, "!!"+findJS(".drops")) {
		t.Error("hint to drop files on a phone: got shown, want hidden")
	}
	b.goTo("/admin/users")
	b.waitVisible("main > .warning | No backup exists")
	const warning = `document.querySelector("main > .warning > span")`
	if height := eval[float64](b, warning+".getBoundingClientRect().height"); height > 50 {
		t.Errorf("height of the warning: got %v px, want at most 50 px, which is two lines", height)
	}
	if eval[bool](b, warning+".scrollWidth > "+warning+".clientWidth") {
		t.Error("warning: got truncated, want the complete text")
	}
}
