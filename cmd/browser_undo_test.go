//go:build browser

package cmd_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

// Ctrl+Z undoes the last changes of any page, newest first, also after other pages were opened. In a text field, it is the
// browser's own undo.
func testUndoOnEveryPage(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	status := func() string {
		t.Helper()
		var got apitypes.AbstractBody
		s.must(s.client.Do(t.Context(), "GET", "/v1"+s.path, nil, &got))
		return fmt.Sprint(*got.Data.Status)
	}
	order, err := s.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "26-77", Address: "14 Orchard Ridge Road"})
	s.must(err)

	s.pressWith(withCtrl, "z")
	s.waitVisible("#nothing-to-undo | Nothing to undo.")

	// A cell, the status, and an order in the list.
	s.click(s.cell(1, columnBookPage))
	s.press("Liber 7/8" + kb.Enter)
	s.waitSaved()
	s.waitCell(1, columnBookPage, "Liber 7/8")
	s.click("button | In Exam")
	s.waitVisible(".notice | Status set to “In Exam”.")
	s.goTo("/orders")
	s.click("th label | Select 26-77")
	s.fill("#bulk-status", "on_hold")
	s.clickLink("#bulk button[value=set]")
	s.waitVisible(".notice | 1 order changed.")
	s.goTo("/orders/" + order.ID)
	s.click("summary.icon-button[aria-label=More]")
	s.click(".menu button | Move to trash")
	s.clickLink("dialog button | Move to trash")
	s.waitVisible(".notice | Order “26-77” is in the trash.")

	// They are undone elsewhere, one after another. The search box offers that, too.
	s.goTo("/vault")
	s.pressWith(withCtrl, "k")
	s.waitVisible("#palette-actions a | Undo: Order “26-77” is in the trash")
	s.screenshot("scene-undo-palette")
	s.waitNavigation(func() { s.press(kb.ArrowDown + kb.Enter) })
	s.waitVisible(".notice | Order “26-77” restored.")
	s.goTo("/orders")
	s.waitNavigation(func() { s.pressWith(withCtrl, "z") })
	s.waitVisible(".notice | 1 order reverted.")
	if got := status(); got != "In Exam" {
		t.Errorf("status after two undos = %q, want In Exam", got)
	}
	s.waitNavigation(func() { s.pressWith(withCtrl, "z") })
	s.waitVisible(".notice | Change of “")
	s.screenshot("scene-undo-elsewhere")
	s.checkAccessible(t, "undone")
	if got := status(); got != "New" {
		t.Errorf("status after three undos = %q, want New", got)
	}

	// A text field keeps its own undo. Another page undoes the cell.
	s.goTo("/orders/new")
	s.click(`[name="address"]`)
	s.press("1 Main Street")
	s.pressWith(withCtrl, "z")
	s.waitFor(`document.querySelector("[name=address]").value != "1 Main Street" && location.pathname == "/orders/new"`)
	s.checkPlace("after Ctrl+Z in a text field", 1, "Liber 7/8")
	s.goTo(s.path)
	s.waitNavigation(func() { s.pressWith(withCtrl, "z") })
	s.waitVisible("#instrument-1 td | Deed Book 1022/311")
	s.checkPlace("after Ctrl+Z on the page opened again", 1, "Deed Book 1022/311")
	s.pressWith(withCtrl, "z")
	s.waitVisible("#nothing-to-undo | Nothing to undo.")
	s.press("?")
	s.waitVisible("dialog[open] dd | Undo your last change")
	s.press(kb.Escape)

	// A new name, the rotation of a page, and a note are undone, too.
	uploaded, err := s.client.Upload(t.Context(), nil, openSamples(t, []namedSample{{"deed.pdf", "title/warranty-deed-scan-100dpi.pdf"}}))
	s.must(err)
	file := fmt.Sprintf("/v1/file-vault/files/%d", uploaded.Files[0].ID)
	name := func() string {
		t.Helper()
		var got apitypes.FileBody
		s.must(s.client.Do(t.Context(), "GET", file, nil, &got))
		return got.Data.Filename
	}
	s.goTo("/vault")
	row := fmt.Sprintf("#document-%d ", uploaded.Files[0].ID)
	s.click(row + "a[aria-label='Rename deed.pdf']")
	s.fill(row+"input[name=name]", "Vesting deed.pdf")
	s.press(kb.Enter)
	s.waitVisible(row + ".notice | Renamed to “Vesting deed.pdf”.")
	s.screenshot("scene-undo-rename")
	s.checkAccessible(t, "renamed")
	s.waitNavigation(func() { s.pressWith(withCtrl, "z") })
	s.waitVisible(row + "a | deed.pdf")
	if got := name(); got != "deed.pdf" {
		t.Errorf("name after Undo: got %q, want deed.pdf", got)
	}
	s.goTo(fmt.Sprintf("/documents/%d", uploaded.Files[0].ID))
	s.waitPageImage(1)
	s.press("R")
	s.waitVisible("#rotated | Page 1 rotated for everyone.")
	s.screenshot("scene-undo-rotation")
	s.checkAccessible(t, "rotated")
	s.clickLink("#rotated button | Undo")
	s.waitVisible(".notice | Change undone.")
	s.waitFor(`document.querySelector("[data-viewer]").dataset.turns.replace(/[-0]/g, "") == ""`)
	s.goTo(s.path)
	s.fill("#notes textarea", "Call the county")
	s.click("#notes button | Add note")
	s.waitVisible("#notes .notice | Note added.")
	s.clickLink("#notes .notice button | Undo")
	s.waitVisible(".notice | Note deleted.")
	s.waitVisible("#notes | No notes yet.")
	s.click("button | In Exam")
	s.waitVisible(".notice | Status set to “In Exam”.")
	s.waitFor(`sessionStorage.length > 0`)

	// After the session, the tab forgets the names of what was changed.
	s.allow("401")
	call(s.tab, network.ClearBrowserCookies, noParams)
	s.goTo("/orders")
	s.waitVisible("h1 | Sign in")
	s.waitFor(`sessionStorage.length == 0`)
}
