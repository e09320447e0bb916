//go:build browser

package cmd_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// Users change twelve orders at once, of which one fails, undo it, and do the same with the keyboard and on a phone.
func testChangeManyOrders(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	last := ""
	for n := range 14 {
		draft := client.OrderDraft{OrderNumber: fmt.Sprintf("26-%02d", n), Address: "14 Orchard Ridge Road", City: "Harlow"}
		o, err := c.CreateOrder(t.Context(), draft)
		if err != nil {
			t.Fatalf("create order: %v", err)
		}
		last = o.ID
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/orders")
	const disabled = `document.querySelector("#bulk button[value=set]").disabled`
	b.waitFor(disabled)
	b.checkAccessible(t, "orders")
	b.screenshot("scene-orders")
	b.click("th label | Select 26-13")
	b.waitFor("!" + disabled)
	eval[bool](b, findJS("th label | Select 26-02")+`.dispatchEvent(new MouseEvent("click", {shiftKey: true, bubbles: true}))`)
	b.waitVisible("#bulk output | 12 selected")
	b.checkAccessible(t, "selected orders")
	b.screenshot("scene-orders-selected")
	if err := c.TrashOrder(t.Context(), last); err != nil {
		t.Fatalf("delete order: %v", err)
	}
	b.fill("#bulk-status", "completed")
	b.clickLink("#bulk button[value=set]")
	b.waitVisible(".notice | 11 orders changed. One order failed: Not found.")
	b.waitFor(`[...document.querySelectorAll("td[data-label=Status]")].filter(e => e.innerText.trim() == "Completed").length == 11`)
	b.checkAccessible(t, "changed orders")
	b.screenshot("scene-orders-changed")
	b.clickLink(".notice button | Undo")
	b.waitVisible(".notice | 11 orders reverted.")
	b.waitFor(`![...document.querySelectorAll("td[data-label=Status]")].some(e => e.innerText.trim() == "Completed")`)
	// All that match, with the keyboard.
	b.tabTo("#bulk-matching")
	b.press("A")
	b.waitFor("!" + disabled)
	b.tabTo("#bulk-status")
	b.press("c")
	b.tabTo("#bulk button[value=set]")
	b.waitNavigation(func() { b.press(kb.Enter) })
	b.waitVisible(".notice | 13 orders changed.")
	b.setSize(360, 800)
	b.goTo("/orders?status=completed")
	b.checkFits(360)
	b.checkAccessible(t, "orders on a phone")
	b.screenshot("scene-orders-phone")
	// The list of instruments has the same form, and each of its headings sorts it.
	abstract, err := c.CreateAbstract(t.Context(), client.AbstractDraft{Address: "14 Orchard Ridge Road", City: "Harlow"})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	for _, grantor := range []string{"Reed, Amos", "Cole, Bea"} {
		draft := client.InstrumentDraft{Type: "Mortgage", Recorded: "2001-02-03", Grantors: []string{grantor}}
		if _, err := c.CreateInstrument(t.Context(), abstract.Data.ID, draft); err != nil {
			t.Fatalf("create instrument: %v", err)
		}
	}
	b.goTo("/instruments")
	b.checkFits(360)
	b.screenshot("scene-instruments-phone")
	b.setSize(1280, 800)
	b.goTo("/instruments")
	b.clickLink("th a | Grantor")
	b.waitFor(`[...document.querySelectorAll("td[data-label=Grantor]")].map(e => e.innerText).join() == "Cole, Bea,Reed, Amos"`)
	b.click("th label | Select Mortgage")
	b.fill("#bulk-status", "released")
	b.checkAccessible(t, "instruments")
	b.screenshot("scene-instruments-selected")
	b.clickLink("#bulk button[value=set]")
	b.waitVisible(".notice | 1 instrument changed.")
	b.clickLink(".notice button | Undo")
	b.waitVisible(".notice | 1 instrument reverted.")
}
