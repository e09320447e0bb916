//go:build browser

package cmd_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// By keyboard alone from signing in to an uploaded document that is read: Tab, Enter
// and letters, and wherever the focus goes it can be seen.
func keyboardOnly(t *testing.T, on *bench) {
	h := on.staffed(t)
	c := h.api()
	b := on.tab(t, h.origin)
	b.goTo("/sign-in")
	b.press(staff + kb.Tab + password)
	b.leave(func() { b.press(kb.Enter) })
	b.press(kb.Tab)
	if !value[bool](b, `document.activeElement.matches(".skip") && document.activeElement.getBoundingClientRect().top >= 0`) {
		t.Error("the first Tab leads not to the link past the head")
	}
	b.tabTo("nav a | Abstracts")
	b.leave(func() { b.press(kb.Enter) })
	b.tabTo("a | New abstract")
	b.leave(func() { b.press(kb.Enter) })
	b.tabTo(`[name="address"]`)
	b.press("14 Orchard Ridge Road")
	b.tabTo(`[name="custom_fields.file_number"]`)
	b.press("A-2026-0117")
	b.tabTo("main form button.primary")
	b.leave(func() { b.press(kb.Enter) })
	path := value[string](b, "location.pathname")
	b.tabTo("[data-upload] input[type=file], [data-upload] button")
	paths := lay(t, chain[1:2])
	b.choose(func() { b.press(kb.Enter) }, paths...)
	b.sees(".documents .document-name | " + chain[1].name)
	b.screenshot("scene-keyboard")
	holds(t, c, path[len("/abstracts/"):], paths)
	b.tabTo(".documents .document a | " + chain[1].name)
	b.leave(func() { b.press(kb.Enter) })
	b.shows(1)
	b.press(kb.ArrowRight + kb.ArrowRight)
	b.shows(3)
}
