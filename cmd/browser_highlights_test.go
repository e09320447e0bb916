//go:build browser

package cmd_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// box is where an area is on the image of its page, as it is shown: left, top, right, and bottom as fractions of the image,
// and the size of the image in pixels.
type box struct{ Left, Top, Right, Bottom, Width, Height float64 }

// areaBox returns where the area of the note with a text is.
func (ta *tab) areaBox(text string) box {
	ta.t.Helper()
	button := fmt.Sprintf(`[...document.querySelectorAll(".viewer-areas button")].find(e => e.ariaLabel.includes(%q))`, text)
	ta.waitFor(button + `?.closest(".viewer-paper").querySelector("img")`)
	return eval[box](ta, `(() => { const e = `+button+`, r = e.getBoundingClientRect(),
		i = e.closest(".viewer-paper").querySelector("img").getBoundingClientRect();
		return {Left: (r.left - i.left) / i.width, Top: (r.top - i.top) / i.height, Right: (r.right - i.left) / i.width,
			Bottom: (r.bottom - i.top) / i.height, Width: i.width, Height: i.height} })()`)
}

// rotated returns the box after the page was rotated clockwise by 90 degrees.
func (bo box) rotated() box {
	return box{1 - bo.Bottom, bo.Left, 1 - bo.Top, bo.Right, bo.Height, bo.Width}
}

// checkArea checks that the area of a note is at a place of the image, within a pixel.
func (ta *tab) checkArea(t *testing.T, what, text string, want box) {
	t.Helper()
	got := ta.areaBox(text)
	for n, side := range [][2]float64{{got.Left, want.Left}, {got.Right, want.Right}, {got.Top, want.Top}, {got.Bottom, want.Bottom}} {
		if size := []float64{got.Width, got.Height}[n/2]; math.Abs(side[0]-side[1])*size > 1 {
			t.Errorf("%s: got the area of %q at %+v, want it at %+v", what, text, got, want)
			return
		}
	}
}

// onPage returns the coordinates in the window of a place of a page's image.
func (ta *tab) onPage(n int, across, down float64) (x, y float64) {
	ta.t.Helper()
	ta.waitFor(pageImageJS(n))
	at := eval[[]float64](ta, fmt.Sprintf(`(() => { const r = %s.getBoundingClientRect();
		return [r.left + %v * r.width, r.top + %v * r.height] })()`, pageImageJS(n), across, down))
	return at[0], at[1]
}

// highlight drags over an area of page 1 and saves a note about it.
func (ta *tab) highlight(at box, text string) {
	ta.t.Helper()
	ta.waitVisible(".viewer-areas [data-draft]")
	x, y := ta.onPage(1, at.Left, at.Top)
	toX, toY := ta.onPage(1, at.Right, at.Bottom)
	ta.run(chromedp.DragAndDropXY(x, y, toX, toY))
	ta.waitVisible("[data-note-card] h2 | New note on page 1")
	ta.fill("[data-note-card] textarea", text)
	ta.click("[data-note-card] button | Save")
	ta.waitVisible("[data-note-card] .lines | " + text)
	ta.waitFor(`!document.querySelector("[data-draft]")`)
}

// Staff highlight areas of a page and write notes. An area stays at its place of the page at every zoom and rotation, and for
// other users.
func testHighlights(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	file := f.files[chainDocuments[4].name] // it has a layer of words
	document := fmt.Sprintf("/documents/%d", file)
	deed, err := f.client.CreateInstrument(t.Context(), f.abstract, client.InstrumentDraft{Type: "Warranty Deed",
		Documents: []map[string]any{{"file_id": file}}})
	f.must(err)
	b := env.newTab(t, f.origin)
	b.signIn(staff)
	b.goTo(document)
	b.waitPageImage(1)

	b.press("0") // 100 %
	b.waitVisible("[data-percent] | 100%")
	b.press("h")
	b.waitFor(`document.activeElement.matches("[data-draft]")`)
	b.screenshot("scene-highlight-draft")
	b.checkAccessible(t, "area that is being chosen")
	vesting := box{Left: 0.2, Top: 0.3, Right: 0.6, Bottom: 0.36}
	b.highlight(vesting, "Check the vesting.")
	b.checkArea(t, "100%", "Check the vesting.", vesting)
	b.screenshot("scene-highlight")
	b.checkAccessible(t, "highlight with its note")
	b.setTheme("dark")
	b.screenshot("scene-highlight-dark")
	b.checkColors(t, "highlight, dark")
	b.setTheme("light")
	b.press(kb.Escape)
	b.waitFor(`!document.querySelector("[data-note-card]").open && document.activeElement.matches(".viewer-areas button")`)
	b.press("++")
	b.checkArea(t, "zoomed", "Check the vesting.", vesting)
	b.press("r")
	b.checkArea(t, "rotated", "Check the vesting.", vesting.rotated())
	b.press("w")
	legal := box{Left: 0.1, Top: 0.1, Right: 0.2, Bottom: 0.5}
	b.press("h")
	b.highlight(legal, "Lot 4 is missing.")
	b.checkArea(t, "drawn on a rotated page", "Lot 4 is missing.", legal)
	b.screenshot("scene-highlight-rotated")
	b.goTo(document)
	b.checkArea(t, "reloaded", "Check the vesting.", vesting.rotated())
	b.checkArea(t, "reloaded", "Lot 4 is missing.", legal)
	b.press("rrr")
	b.checkArea(t, "upright", "Check the vesting.", vesting)
	b.checkArea(t, "upright", "Lot 4 is missing.", legal.rotated().rotated().rotated())

	f.testHighlightByKeyboard(t, env, b, document)
	f.testHighlightUndo(t, b, document)
	f.testHighlightLists(t, b, document, deed.ID)
	f.testHighlightOnPhone(t, b, document)
}

// testHighlightByKeyboard adds and reads notes without a mouse. Another user who has the document open sees them.
func (f *firm) testHighlightByKeyboard(t *testing.T, env *browserEnv, b *tab, document string) {
	other := env.newTab(t, f.origin)
	other.signIn(viewer)
	other.goTo(document)
	other.checkArea(t, "another user", "Check the vesting.", box{Left: 0.2, Top: 0.3, Right: 0.6, Bottom: 0.36})
	b.goTo(document)
	b.waitPageImage(1)
	const draft = `document.querySelector("[data-draft]").getBoundingClientRect()`
	size := func() []float64 {
		return eval[[]float64](b, `(({left, top, width, height}) => [left, top, width, height])(`+draft+`)`)
	}
	b.press("h")
	b.waitFor(`document.activeElement.matches("[data-draft]")`)
	before := size()
	b.press(kb.ArrowRight + kb.ArrowRight + kb.ArrowDown)
	b.pressWith(withShift, kb.ArrowUp)
	b.pressWith(withShift, kb.ArrowRight)
	after := size()
	for n, want := range []float64{16, 8, 8, -8} {
		if got := after[n] - before[n]; math.Abs(got-want) > 1 {
			t.Errorf("area after the arrow keys: got %v, want %v plus 16, 8, 8, and -8", after, before)
			break
		}
	}
	b.press(kb.Escape)
	b.waitFor(`!document.querySelector("[data-draft]") && document.activeElement.matches("[data-pages]")`)
	b.press("h")
	b.waitFor(`document.activeElement.matches("[data-draft]")`)
	b.press(kb.Enter)
	b.waitFor(`document.activeElement.matches("[data-note-card] textarea")`)
	b.press("Typed" + kb.Tab + kb.Enter)
	saved := time.Now()
	other.areaBox("Typed")
	t.Logf("another user sees the area after %v", time.Since(saved))
	b.waitVisible("[data-note-card] .lines | Typed")
	b.press(kb.Escape)
	b.waitFor(`document.activeElement.ariaLabel == "Typed"`)
	b.press(kb.Enter)
	b.waitVisible("[data-note-card] .muted | " + staff)

	// Others read the note, and can't change it. A click on a word of the area opens it.
	x, y := other.onPage(1, 0.4, 0.33)
	other.run(chromedp.MouseClickXY(x, y))
	other.waitVisible("[data-note-card] .lines | Check the vesting.")
	if eval[bool](other, `!!document.querySelector("[data-note-card] :is(form, a)")`) {
		t.Error("note in the viewer: a user with the role viewer can change it, want only the author")
	}
	b.click("[data-note-card] button | Delete")
	b.click("dialog:modal button.danger")
	other.waitFor(`![...document.querySelectorAll(".viewer-areas button")].some(e => e.ariaLabel == "Typed")`)
	b.waitFor(`!document.querySelector("[data-note-card]").open`)
}

// testHighlightUndo changes the text of a note and undoes that.
func (f *firm) testHighlightUndo(t *testing.T, b *tab, document string) {
	b.goTo(document)
	b.areaBox("Check the vesting.")
	eval[bool](b, `document.querySelector(".viewer-areas button[aria-label='Check the vesting.']").focus() || true`)
	b.press(kb.Enter)
	b.click("[data-note-card] a | Edit")
	b.fill("[data-note-card] textarea", "Vested in Dana Birch.")
	b.allow("Discard your changes?")
	b.declines.Store(true) // keeps what was typed
	b.press(kb.Escape)
	b.declines.Store(false)
	b.click("[data-note-card] button | Save")
	b.waitVisible("[data-note-card] .lines | Vested in Dana Birch.")
	b.areaBox("Vested in Dana Birch.")
	b.clickLink("[data-note-card] .notice button | Undo")
	b.waitVisible("[data-note-card] .lines | Check the vesting.")
	if at := eval[string](b, "location.search"); !strings.Contains(at, "note=") {
		t.Errorf("address after Undo: got %s, want one with the note", at)
	}
	b.checkArea(t, "after Undo", "Check the vesting.", box{Left: 0.2, Top: 0.3, Right: 0.6, Bottom: 0.36})
}

// testHighlightLists opens areas from the notes of the document, its details, the panel, and the page of the instrument.
func (f *firm) testHighlightLists(t *testing.T, b *tab, document string, instrument int64) {
	b.goTo(document + "/notes")
	b.clickLink("#notes a | page 1, highlighted")
	b.waitVisible("[data-note-card] .lines | Check the vesting.")
	b.press(kb.Escape)
	b.waitFor(`!location.search.includes("note=")`)
	b.press("i")
	b.waitVisible("[data-panel-notes] a | Lot 4 is missing.")
	b.screenshot("scene-highlight-panel")
	b.checkAccessible(t, "notes of an instrument in the panel")
	b.click("[data-panel-notes] a | Lot 4 is missing.")
	b.waitVisible("[data-note-card] .lines | Lot 4 is missing.")
	b.goTo(fmt.Sprintf("/instruments/%d/edit", instrument))
	b.checkAccessible(t, "notes of an instrument")
	b.screenshot("scene-highlight-instrument")
	b.clickLink(".instrument-notes a | Check the vesting.")
	b.waitVisible("[data-note-card] .lines | Check the vesting.")
}

// testHighlightOnPhone highlights an area with a finger on a narrow window.
func (f *firm) testHighlightOnPhone(t *testing.T, b *tab, document string) {
	b.goTo(document)
	b.waitVisible("[data-panel-close]")
	b.click("[data-panel-close]")
	b.setSize(360, 740)
	b.goTo(document)
	b.waitPageImage(1)
	b.click("summary[aria-label=More]")
	b.click(".menu button | Highlight")
	b.waitVisible("[data-draft]")
	touch := func(kind input.DispatchTouchEventType, across, down float64) {
		params := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}}
		if kind != input.DispatchTouchEventTypeTouchEnd {
			x, y := b.onPage(1, across, down)
			params.TouchPoints = append(params.TouchPoints, &input.TouchPoint{X: x, Y: y})
		}
		call(b, input.DispatchTouchEvent, params)
	}
	at := box{Left: 0.2, Top: 0.55, Right: 0.7, Bottom: 0.65}
	touch(input.DispatchTouchEventTypeTouchStart, at.Left, at.Top)
	touch(input.DispatchTouchEventTypeTouchMove, 0.5, 0.6)
	touch(input.DispatchTouchEventTypeTouchMove, at.Right, at.Bottom)
	touch(input.DispatchTouchEventTypeTouchEnd, 0, 0)
	b.waitVisible("[data-note-card] h2 | New note on page 1")
	b.fill("[data-note-card] textarea", "By finger")
	b.screenshot("scene-highlight-phone-form")
	b.checkAccessible(t, "note on a phone")
	b.click("[data-note-card] button | Save")
	b.waitVisible("[data-note-card] .lines | By finger")
	b.checkArea(t, "on a phone", "By finger", at)
	b.screenshot("scene-highlight-phone")
	b.checkFits(360)
	b.setSize(1280, 900)
}
