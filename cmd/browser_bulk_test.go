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
}
