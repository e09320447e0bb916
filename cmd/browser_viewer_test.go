//go:build browser

package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pageImageJS returns a JavaScript expression for the image of page n in the viewer. Its value is
// undefined until the image is loaded.
func pageImageJS(n int) string {
	return fmt.Sprintf(`[...document.querySelectorAll("[data-pages] img")]
		.find(i => /\/pages\/%d(\?|$)/.test(i.getAttribute("src")) && i.complete && i.naturalWidth > 0)`, n)
}

// pageImage describes the image of a page.
type pageImage struct {
	Width, Height int
	Ink           float64 // fraction of dark pixels
	Sum           int     // checksum of the positions of dark pixels
	Visible       bool    // is in the window
}

// waitPageImage waits until the image of page n is loaded and returns its description.
func (ta *tab) waitPageImage(n int) pageImage {
	ta.t.Helper()
	ta.waitFor(pageImageJS(n))
	return eval[pageImage](ta, `(() => {
		const i = `+pageImageJS(n)+`, c = document.createElement("canvas"), r = i.getBoundingClientRect();
		c.width = 200; c.height = 260;
		const d = c.getContext("2d", {willReadFrequently: true}); d.drawImage(i, 0, 0, 200, 260);
		const bytes = d.getImageData(0, 0, 200, 260).data; let dark = 0, sum = 0;
		for (let p = 0; p < bytes.length; p += 4) if (bytes[p] < 200) { dark++; sum = (sum * 31 + p) % 1000003 }
		return {Width: i.naturalWidth, Height: i.naturalHeight, Ink: dark / 52000, Sum: sum,
			Visible: r.bottom > 0 && r.top < innerHeight && r.width > 100 && i.checkVisibility({visibilityProperty: true, opacityProperty: true})}
	})()`)
}

// A user with the role "viewer" can read documents.
func testReading(t *testing.T, env *browserEnv) {
	f := env.newFirm(t)
	b := env.newTab(t, f.origin)
	b.signIn(viewer)
	for _, name := range []string{chainDocuments[1].name, chainDocuments[2].name} {
		t.Run(name, func(t *testing.T) { f.testPageImages(t, b, name) })
	}
	// Go to the next document and back with the keyboard.
	b.waitNavigation(func() { b.press("n") })
	b.waitVisible("h1 | " + chainDocuments[3].name)
	b.waitNavigation(func() { b.press("p") })
	b.waitVisible("h1 | " + chainDocuments[2].name)
	t.Run("find", func(t *testing.T) { f.testFindInDocument(t, b) })
	t.Run("sheets", func(t *testing.T) { f.testSpreadsheets(t, b) })
}

// testPageImages steps through the pages of a scanned TIFF or PDF. Each page image must be in the
// window, large enough to read, and different from the previous page.
func (f *firm) testPageImages(t *testing.T, b *tab, name string) {
	b.goTo(fmt.Sprintf("/documents/%d?in=abstract:%s", f.files[name], f.abstract))
	pages := map[int]pageImage{}
	for n := 1; n <= 4; n++ {
		b.waitFor(fmt.Sprintf(`document.querySelector("[data-number]").value == "%d"`, n))
		b.waitFor(`(() => { const i = ` + pageImageJS(n) +
			`; const r = i?.getBoundingClientRect(); return r && r.bottom > 0 && r.top < innerHeight })()`)
		pages[n] = b.waitPageImage(n)
		if p := pages[n]; !p.Visible || p.Width < 800 || p.Height < 1000 || p.Ink < 0.001 || p.Ink > 0.9 {
			t.Errorf("image of page %d: got %+v, want it visible, at least 800x1000 pixels, and 0.1%% to 90%% dark", n, p)
		}
		if n == 3 {
			b.screenshot("scene-page-3-of-" + name)
		}
		b.press(kb.ArrowRight)
	}
	for n := 2; n <= 4; n++ {
		if pages[n].Sum == pages[n-1].Sum {
			t.Errorf("images of pages %d and %d: got both %+v, want different images", n-1, n, pages[n])
		}
	}
}

// checkSelection selects a text on the page with the mouse, from its first word to its last. The last
// word must be where its match is marked.
func (ta *tab) checkSelection(t *testing.T, text string) {
	ta.t.Helper()
	words := strings.Fields(text)
	word := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".viewer-words span")].find(s => s.textContent.trim() == %q)`, text)
	}
	last := word(words[len(words)-1])
	ta.waitFor(last)
	at := eval[[]float64](ta, `(() => {
		`+last+`.scrollIntoView({block: "center", behavior: "instant"});
		const [a, z, m] = [`+word(words[0])+`, `+last+`, [...document.querySelectorAll(".viewer-marks i")].at(-1)].map(e => e.getBoundingClientRect());
		const width = Math.min(z.right, m.right) - Math.max(z.left, m.left), height = Math.min(z.bottom, m.bottom) - Math.max(z.top, m.top);
		const turn = new DOMMatrix(document.querySelector(".viewer-words").style.transform);
		const end = (r, side) => [r.x + r.width / 2 + side * turn.a * r.width * 0.49, r.y + r.height / 2 + side * turn.b * r.height * 0.49];
		return [width * height / (z.width * z.height), ...end(a, -1), ...end(z, 1)] })()`)
	if at[0] < 0.6 {
		t.Errorf("%.0f %% of the last word is where its match is marked, want at least 60 %%", 100*at[0])
	}
	ta.run(chromedp.DragAndDropXY(at[1], at[2], at[3], at[4]))
	if got := eval[string](ta, `getSelection().toString()`); strings.TrimSpace(got) != text {
		t.Errorf("selected text is %q, want %q", got, text)
	}
}

// testFindInDocument searches a scan that has an OCR text layer and checks that the page
// highlights the phrase.
func (f *firm) testFindInDocument(t *testing.T, b *tab) {
	b.goTo(fmt.Sprintf("/documents/%d", f.files[chainDocuments[4].name]))
	b.waitPageImage(1)
	b.press("/")
	b.waitFor(`document.activeElement.matches("#find-in")`)
	b.press("instrument no. 201904170093382" + kb.Enter)
	b.waitVisible(".viewer-count | 1")
	b.waitFor(`(() => { const m = document.querySelector(".viewer-marks i.now, .viewer-marks i"), r = m?.getBoundingClientRect();
		return r && r.width > 20 && r.height > 4 && r.top > 0 && r.bottom < innerHeight })()`)
	b.screenshot("scene-found")
	b.checkSelection(t, "Instrument No. 201904170093382")
	eval[bool](b, `document.querySelector("[data-pages]").focus() || true`)
	for _, turn := range []string{"rotate(90deg)", "rotate(180deg)"} {
		b.press("r")
		b.waitFor(fmt.Sprintf(`document.querySelector(".viewer-marks:has(i)")?.style.transform.includes(%q)`, turn))
		// Rotating an element creates a stacking context. For this reason, the blend mode must be
		// set on the rotated layer itself.
		got := eval[[]string](b, `[...document.querySelectorAll(".viewer-marks:has(i), .viewer-marks i")]
			.map(e => getComputedStyle(e).mixBlendMode)`)
		if got[0] != "multiply" || slices.Contains(got[1:], "multiply") {
			t.Errorf("%s: got blend modes %q, want multiply only for the layer", turn, got)
		}
		b.screenshot("scene-found-" + turn[7:9])
		b.checkSelection(t, "Instrument No. 201904170093382")
	}
	b.press("rr")
	b.checkAccessible(t, "match")
	b.press(kb.Escape)
	b.fill("#find-in", "no such words anywhere")
	b.press(kb.Enter)
	b.waitVisible(".viewer-count | no matches")
	// The document doesn't contain the phrase but contains all of its words.
	b.fill("#find-in", "quillfeather instrument")
	b.press(kb.Enter)
	b.waitVisible(".viewer-hits-head | No match for the phrase. Its words:")
	b.waitFor(`document.querySelectorAll(".viewer-marks i").length > 1`)
	// OCR is off in these tests. The page says so instead of reporting no matches.
	b.goTo(fmt.Sprintf("/documents/%d", f.files[chainDocuments[2].name]))
	b.waitPageImage(1)
	b.fill("#find-in", "quillfeather")
	b.press(kb.Enter)
	b.waitVisible(".viewer-hits-head | This document can't be searched: OCR is off.")
	b.waitVisible(".viewer-count | OCR is off")
	b.screenshot("scene-find-in-a-scan")
	b.goTo("/abstracts/" + f.abstract)
	b.waitVisible(".document .badge | OCR off")
	b.screenshot("scene-not-searchable")
	// The text view helps users who can't read images.
	b.goTo(fmt.Sprintf("/documents/%d/text?find=201904170093382", f.files[chainDocuments[4].name]))
	b.waitVisible("mark | 201904170093382")
}
