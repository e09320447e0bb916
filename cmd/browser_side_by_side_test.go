//go:build browser

package cmd_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// inSide returns a JavaScript expression with the value of another one in the page of a side, or null if it has none.
func inSide(side, expression string) string {
	return fmt.Sprintf(`(w => w?.document?.body ? (document => (%s))(w.document) : null)(
		document.querySelector('[data-side=%s] iframe')?.contentWindow)`, expression, side)
}

// clickInSide clicks an element in the page of a side.
func (ta *tab) clickInSide(side, selector string) {
	ta.t.Helper()
	ta.waitFor(inSide(side, findJS(selector)))
	at := eval[[]float64](ta, fmt.Sprintf(`(() => { const f = document.querySelector('[data-side=%s] iframe').getBoundingClientRect(),
		e = %s; e.scrollIntoView({block: "nearest", behavior: "instant"}); const r = e.getClientRects()[0];
		return [f.x + r.x + r.width / 2, f.y + r.y + r.height / 2] })()`, side, inSide(side, findJS(selector))))
	ta.run(chromedp.MouseClickXY(at[0], at[1]))
}

// waitSides waits until the address names the sides, and until they show these documents.
func (ta *tab) waitSides(left, right string) {
	ta.t.Helper()
	ta.waitFor(fmt.Sprintf(`location.search == "?left=%s&right=%s"`, left, right))
	for side, value := range map[string]string{"left": left, "right": right} {
		if id, isDocument := strings.CutPrefix(value, "document-"); isDocument {
			ta.waitFor(inSide(side, fmt.Sprintf(`document.querySelector("[data-viewer]")?.dataset.document == "/documents/%s" &&
				document.querySelector(".viewer-space .viewer-paper img")?.complete`, strings.Split(id, "-")[0])))
		} else {
			ta.waitFor(inSide(side, `document.querySelector("#runsheet") != null`))
		}
	}
}

const (
	dividerAt  = `Number(document.querySelector("[data-divider]").getAttribute("aria-valuenow"))`
	frameFocus = `document.activeElement.name`
)

// An examiner compares a mortgage with its release, and edits the runsheet beside a document.
func testSideBySide(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	abstract, documents := createPacket(t, srv.apiClient())
	f := &firm{testServer: srv, client: srv.apiClient()}
	var value []string
	for _, path := range documents {
		value = append(value, "document-"+strings.TrimPrefix(strings.Split(path, "?")[0], "/documents/"))
	}
	runsheet := "runsheet-" + strings.TrimPrefix(abstract, "/abstracts/")
	f.createRunsheet(t.Context(), strings.TrimPrefix(abstract, "/abstracts/"))
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo(documents[4])
	b.waitPageImage(1)
	b.click(".viewer-tools summary")
	b.clickLink(".viewer-tools .menu a | Side by side")
	b.waitVisible(".sides-choices li:nth-child(2) a | 05 Recorded.pdf")
	b.waitFor(inSide("left", `document.querySelector("[data-viewer]") != null`))
	b.checkAccessible(t, "choice of the other side")
	b.screenshot("scene-sides-choice")
	b.clickLink(".sides-choices a | 05 Recorded.pdf")
	b.waitSides(value[4], value[5])
	b.checkAccessible(t, "side by side")
	b.screenshot("scene-sides")
	for _, side := range []string{"left", "right"} {
		b.waitFor(inSide(side, `!document.querySelector("header.top").checkVisibility() && document.querySelector("[data-panel]").hidden`))
	}

	// Each side has its keys. Esc leaves neither the document nor the page.
	eval[bool](b, inSide("right", `document.defaultView.kept = true`))
	b.waitFor(frameFocus + ` == "left"`)
	b.press(kb.Escape + "u")
	b.press("n")
	b.waitSides(value[5], value[5])
	b.press("n")
	b.waitSides(value[6], value[5])
	b.waitFor(`document.title == "06 Recorded.pdf and 05 Recorded.pdf · deedkeep" &&
		document.querySelector("select[name=left]").selectedOptions[0].text == "06 Recorded.pdf"`)
	b.press(kb.F6)
	b.waitFor(frameFocus + ` == "right"`)
	b.press(kb.ArrowRight)
	b.waitSides(value[6], value[5]+"-page-2")
	b.press(kb.ArrowLeft)
	b.waitSides(value[6], value[5])
	b.press("?")
	b.waitFor(inSide("right", findJS("dialog[open] dt | F6")))
	b.press(kb.Escape)

	// Swapping keeps what the sides show.
	b.click("[data-swap]")
	b.waitSides(value[5], value[6])
	b.waitFor(inSide("left", `document.defaultView.kept`))
	b.press(kb.F6)
	b.waitFor(frameFocus + ` == "left"`)

	// The divider
	b.checkDivider(t)
	b.goTo("/side-by-side?left=" + value[5] + "&right=" + value[6])
	b.waitSides(value[5], value[6])

	// The search box is that of the window, with its actions.
	b.press(kb.F6)
	b.pressWith(withCtrl, "k")
	b.waitFor(`document.querySelector("#palette").open`)
	b.press("Swap")
	b.waitVisible("#palette-actions a | Swap sides")
	b.press(kb.Escape)
	b.waitFor(`!document.querySelector("#palette").open`)

	// A question about unsaved changes that is answered with "Stay" leaves the list as it was.
	eval[bool](b, inSide("right", `document.defaultView.addEventListener("beforeunload", e => e.preventDefault()) ?? true`))
	b.clickInSide("right", "[data-pages]")
	b.allow("dialog: beforeunload")
	b.declines.Store(true)
	b.fill("select[name=right]", value[1])
	b.waitFor(fmt.Sprintf(`document.querySelector("select[name=right]").value == %q`, value[6]))
	b.waitSides(value[5], value[6])
	b.declines.Store(false)

	// Another document is chosen from the list of a side.
	b.fill("select[name=right]", value[1])
	b.waitSides(value[5], value[1])
	b.clickLink("[data-side=left] [data-close]")
	if got := eval[string](b, "location.pathname"); got != strings.Split(documents[1], "?")[0] {
		t.Errorf("after closing the left side: got %s, want the right document", got)
	}
	b.goTo("/side-by-side?left=" + value[5] + "&right=" + value[1])
	b.waitSides(value[5], value[1])
	b.clickInSide("left", ".viewer-tools summary")
	b.waitFor(inSide("left", `!`+findJS(".menu a | Side by side")))
	b.waitNavigation(func() { b.clickInSide("left", ".menu a | Notes") })
	b.waitFor(`location.pathname.endsWith("/notes") && document.querySelector("header.top").checkVisibility()`)

	f.testRunsheetSide(t, b, value, runsheet)
	b.testNarrowSides(t, value, runsheet)

	// Without a session, the whole window shows the sign-in page.
	b.allow("401")
	call(b, network.ClearBrowserCookies, noParams)
	b.press(kb.F6)
	b.waitNavigation(func() { b.press("n") })
	b.waitVisible("h1 | Sign in")
	if got := eval[string](b, "location.search"); !strings.HasPrefix(got, "?to=%2Fside-by-side%3Fleft%3D") {
		t.Errorf("after the session: got sign-in page %s, want one that leads back", got)
	}
}

// checkDivider moves the divider with the mouse and with keys. Its place is remembered.
func (ta *tab) checkDivider(t *testing.T) {
	t.Helper()
	at := eval[[]float64](ta, `(r => [r.x + r.width / 2, r.y + r.height / 2])(
		document.querySelector("[data-divider]").getBoundingClientRect())`)
	ta.run(chromedp.DragAndDropXY(at[0], at[1], at[0]-256, at[1])) // a fifth of the window
	ta.waitFor(dividerAt + ` == 30`)
	ta.pressWith(withShift, kb.F6)
	ta.waitFor(`document.activeElement.matches("[data-divider]")`)
	ta.press(kb.ArrowRight)
	ta.press(kb.ArrowRight + kb.PageDown)
	ta.waitFor(dividerAt + ` == 44`)
	ta.press(kb.End)
	ta.waitFor(dividerAt + ` == 85`)
	// A document whose side was too narrow for its page is at the same page afterward.
	sides := eval[string](ta, "location.search")
	ta.press(kb.Enter + kb.Home)
	ta.waitFor(dividerAt + ` == 15`)
	time.Sleep(200 * time.Millisecond) // until the document is laid out
	ta.press(kb.Enter)
	time.Sleep(time.Second) // longer than until the address follows
	if got := eval[string](ta, "location.search"); got != sides {
		t.Errorf("after the divider was at its end: got %s, want %s", got, sides)
	}
	ta.press(kb.End)
	ta.waitFor(dividerAt + ` == 85`)
	ta.press(kb.Home)
	ta.press(kb.ArrowRight)
	ta.waitFor(dividerAt + ` == 17`)
	ta.waitNavigation(func() { ta.run(chromedp.Reload()) })
	ta.waitFor(dividerAt + ` == 17`)
	width := eval[float64](ta, `document.querySelector("[data-side=left] iframe").getBoundingClientRect().width / innerWidth`)
	if width < 0.16 || width > 0.18 {
		t.Errorf("left side after a reload: got %.2f of the window, want 0.17", width)
	}
	ta.pressWith(withShift, kb.F6)
	ta.press(kb.Enter)
	ta.waitFor(dividerAt + ` == 50`)
	ta.waitNavigation(func() { ta.run(chromedp.Reload()) })
	ta.waitFor(dividerAt + ` == 50`)
}

// testRunsheetSide edits a runsheet beside a document. A document that is opened from it appears on the other side.
func (f *firm) testRunsheetSide(t *testing.T, b *tab, value []string, runsheet string) {
	t.Helper()
	id := strings.TrimPrefix(runsheet, "runsheet-")
	linked := f.addInstrument(t.Context(), id, map[string]any{"type": "Mortgage", "recorded": "2020-03-04", "book": "9", "page": "1",
		"grantors": []string{"Carl Diaz"}, "grantees": []string{"First Wexcombe Bank"}, "documents": []map[string]any{
			{"file_id": number(t, value[3]), "pages": "2"}}})
	b.goTo("/abstracts/" + id)
	b.clickLink("#runsheet a | Side by side")
	b.clickLink(".sides-choices a | 05 Recorded.pdf")
	b.waitSides(value[5], runsheet)
	b.screenshot("scene-sides-runsheet")
	b.checkAccessible(t, "runsheet on the right")
	b.setSize(1280, 800)
	b.waitFor(inSide("right", `document.defaultView.innerWidth > 640 && document.querySelector(".runsheet thead").checkVisibility()`))
	b.screenshot("scene-sides-runsheet-1280")
	b.clickInSide("right", fmt.Sprintf("#instrument-%d td.remarks", linked))
	b.press(kb.Enter)
	b.press("Open-end" + kb.Tab)
	b.waitFor(inSide("right", `!document.querySelector(".runsheet .unsaved") && `+findJS("td.remarks | Open-end")))
	var saved struct {
		Data struct{ Remarks string }
	}
	f.must(f.client.Do(t.Context(), "GET", fmt.Sprintf("/v1/instruments/%d", linked), nil, &saved))
	if saved.Data.Remarks != "Open-end" {
		t.Errorf("remarks: got %q, want what was typed on the right side", saved.Data.Remarks)
	}
	b.press(kb.Escape)
	b.press(kb.Escape)
	b.waitSides(value[5], runsheet)
	b.pressWith(withCtrl, "z")
	b.waitFor(inSide("right", `!`+findJS("td.remarks | Open-end")))
	b.waitSides(value[5], runsheet)
	b.clickInSide("right", fmt.Sprintf("#instrument-%d a.file", linked))
	b.waitSides(value[3]+"-page-2", runsheet)
	b.setSize(1440, 900)
}

// testNarrowSides looks at the sides in windows of other sizes, and in the dark.
func (ta *tab) testNarrowSides(t *testing.T, value []string, runsheet string) {
	t.Helper()
	for _, c := range []struct {
		width, height int64
		right         string
	}{{1280, 800, value[5]}, {1440, 900, value[5]}, {768, 1024, runsheet}, {360, 740, value[5]}} {
		ta.setSize(c.width, c.height)
		ta.goTo("/side-by-side?left=" + value[4] + "&right=" + c.right)
		ta.waitSides(value[4], c.right)
		ta.checkFits(int(c.width))
		for _, side := range []string{"left", "right"} {
			if height := eval[float64](ta, inSide(side, `document.querySelector(".viewer-bar")?.offsetHeight ?? 0`)); height > 52 {
				t.Errorf("bar of the %s document in a window of %d px: got a height of %v, want one line", side, c.width, height)
			}
			ta.waitFor(inSide(side, `document.scrollingElement.scrollWidth <= document.defaultView.innerWidth`))
			ta.waitFor(inSide(side, `[...document.querySelectorAll(".viewer-bar > div")].every(
				e => e.getBoundingClientRect().right <= document.defaultView.innerWidth)`))
		}
		ta.waitFor(inSide("left", `[...document.querySelectorAll(".viewer-bar > div")].every(e => e.scrollWidth <= e.clientWidth + 1)`))
		ta.checkAccessible(t, fmt.Sprintf("sides at %d px", c.width))
		ta.screenshot(fmt.Sprintf("scene-sides-%d", c.width))
	}
	ta.pressWith(withShift, kb.F6)
	ta.press(kb.ArrowDown)
	ta.waitFor(dividerAt + ` == 52 && document.querySelector("[data-divider]").getAttribute("aria-orientation") == "horizontal"`)
	ta.setTheme("dark")
	ta.checkColors(t, "sides in the dark, narrow")
	ta.screenshot("scene-sides-360-dark")
	ta.setSize(1440, 900)
	ta.waitFor(dividerAt + ` == 50`)
	ta.checkColors(t, "sides in the dark")
	ta.screenshot("scene-sides-dark")
	ta.setTheme("light")
}

// Without scripts, two frames share the window, and links and forms change what they show.
func testSideBySideWithoutScripts(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	_, documents := createPacket(t, srv.apiClient())
	var value []string
	for _, path := range documents {
		value = append(value, "document-"+strings.TrimPrefix(strings.Split(path, "?")[0], "/documents/"))
	}
	shown := func(side string, n int) string {
		return inSide(side, fmt.Sprintf(`document.URL.includes("/documents/%s?") && document.querySelector(".viewer-still img")?.complete`,
			strings.TrimPrefix(value[n], "document-")))
	}
	b := env.newTab(t, srv.origin)
	b.enableScripts(false)
	b.signIn(staff)
	b.goTo("/side-by-side?left=" + value[4])
	b.clickLink(".sides-choices a | 05 Recorded.pdf")
	b.waitFor(shown("left", 4) + " && " + shown("right", 5))
	b.screenshot("scene-sides-without-scripts")
	b.clickInSide("left", ".viewer-turn a[rel=next]")
	b.waitFor(shown("left", 5) + " && " + shown("right", 5))
	b.clickInSide("right", "a | Next page")
	b.waitFor(inSide("right", `document.URL.includes("page=2")`))
	eval[bool](b, fmt.Sprintf(`document.querySelector("select[name=right]").value = %q; true`, value[7]))
	b.clickLink("[data-side=right] button | Show")
	b.waitFor(shown("left", 4) + " && " + shown("right", 7))
	b.clickLink("[data-swap]")
	b.waitFor(shown("left", 7) + " && " + shown("right", 4))
	b.clickLink("[data-side=right] [data-close]")
	b.waitVisible("header.top")
	b.waitPageImage(1)
}

// number returns the ID of a document from the value of a side.
func number(t *testing.T, value string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimPrefix(value, "document-"), 10, 64)
	if err != nil {
		t.Fatalf("value of a side: %v", err)
	}
	return n
}
