//go:build browser

package cmd_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// With the keyboard only, a user can sign in, create an abstract, upload a document, and
// read it. The focus indicator is always visible.
func testKeyboardOnly(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	b := env.newTab(t, srv.origin)
	b.goTo("/sign-in")
	b.press(staff + kb.Tab + password)
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.press(kb.Tab)
	if !eval[bool](b, `document.activeElement.matches(".skip") && document.activeElement.getBoundingClientRect().top >= 0`) {
		t.Error("focus after the first Tab: got another element, want the visible link that skips to the content")
	}
	b.tabTo("nav a | Abstracts")
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.tabTo("a | New abstract")
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.tabTo(`[name="address"]`)
	b.press("14 Orchard Ridge Road")
	b.tabTo(`[name="custom_fields.file_number"]`)
	b.press("A-2026-0117")
	b.tabTo("main form button.primary")
	b.waitNavigation(func() { b.press(kb.Enter) })
	path := eval[string](b, "location.pathname")
	b.tabTo("[data-upload] input[type=file], [data-upload] button")
	paths := copySamples(t, chainDocuments[1:2])
	b.chooseFiles(func() { b.press(kb.Enter) }, paths...)
	b.waitVisible(".documents .document-name | " + chainDocuments[1].name)
	b.screenshot("scene-keyboard")
	checkDocuments(t, c, path[len("/abstracts/"):], paths)
	b.tabTo(".documents .document a | " + chainDocuments[1].name)
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitPageImage(1)
	b.press(kb.ArrowRight + kb.ArrowRight)
	b.waitPageImage(3)
}
