//go:build browser

package cmd_test

import (
	"fmt"
	"testing"
	"time"

	"deedkeep/app/vaulttest/client"
)

// A user takes orders in the list and finds them under My orders on the desk, whose heading leads to the list of them.
func testTakeOrders(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	for n := range 4 {
		draft := client.OrderDraft{OrderNumber: fmt.Sprintf("26-%02d", n), Address: "14 Orchard Ridge Road", City: "Harlow", State: "PA",
			DueDate:      time.Now().AddDate(0, 0, n-2).Format(time.DateOnly),
			CustomFields: map[string]any{"client": "Harlow Savings Bank", "product": "60 Year", "rush": []string{"Rush", "Standard"}[n%2]}}
		if _, err := srv.apiClient().CreateOrder(t.Context(), draft); err != nil {
			t.Fatalf("create order: %v", err)
		}
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/")
	b.waitVisible("section p | No open orders are assigned to you.")
	b.waitVisible("#unassigned .badge | 4")
	b.checkAccessible(t, "desk with unassigned orders")
	b.screenshot("scene-desk-unassigned")
	b.clickLink("#unassigned a | Unassigned")
	b.click("th label | Select 26-00")
	b.click("th label | Select 26-01")
	b.waitVisible("#bulk output | 2 selected")
	b.screenshot("scene-orders-take")
	b.clickLink("#bulk button | Take it")
	b.waitVisible(".notice | 2 orders assigned to you.")
	b.goTo("/")
	b.waitVisible("section[aria-labelledby=mine] th a | 26-00")
	b.waitVisible("section[aria-labelledby=mine] th a | 26-01")
	b.clickLink("section[aria-labelledby=unassigned] button[aria-label='Take it: 26-02']")
	b.waitVisible(".notice | Order “26-02” assigned to " + staff + ".")
	b.waitVisible("section[aria-labelledby=mine] th a | 26-02")
	b.checkAccessible(t, "desk with own orders")
	b.screenshot("scene-desk-mine")
	b.setSize(360, 800)
	b.checkFits(360)
	b.checkAccessible(t, "desk on a phone")
	b.screenshot("scene-desk-phone")
	b.clickLink("#mine a | My orders")
	b.waitFor(`document.querySelectorAll("#results tbody tr").length == 3`)
	b.checkFits(360)
	b.screenshot("scene-orders-mine-phone")
	b.setSize(1280, 900)
	b.clickLink("#results th a | 26-01")
	b.fill("#assignee", "")
	b.clickLink("main button | Assign")
	b.waitVisible(".notice | Order “26-01” is assigned to no one.")
	b.screenshot("scene-order-unassigned")
	b.clickLink(".notice button | Undo")
	b.waitFor(`document.querySelector("#assignee").selectedOptions[0].text == "` + staff + `"`)
	b.checkAccessible(t, "assigned order")
	b.clickLink(".page-head a.primary | New abstract")
	b.waitFor(`document.querySelector("#searcher").selectedOptions[0].text == "` + staff + `"`)
	b.checkAccessible(t, "new abstract with a searcher")
}
