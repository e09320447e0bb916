//go:build browser

package cmd_test

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deedkeep/app/vaulttest/client"
)

// tableJS returns the cells of the list on the screen, without checkboxes.
const tableJS = `[...document.querySelectorAll("table.list tr")].map(tr =>
	[...tr.children].map(cell => (cell.querySelector("a") ?? cell).innerText.trim()))`

// A user chooses columns, and saves and shares a view. A colleague opens it on the screen and as a file with the same rows.
func testSaveView(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	for n := range 14 {
		draft := client.OrderDraft{OrderNumber: fmt.Sprintf("26-%02d", n), County: []string{"Wexcombe", "Harlow"}[n%2], City: "Harlow"}
		if _, err := c.CreateOrder(t.Context(), draft); err != nil {
			t.Fatalf("create order: %v", err)
		}
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/orders?county=Wexcombe")
	b.click("summary | Columns")
	for _, label := range []string{"Created", "Parcel ID", "Address", "City"} {
		b.click("#columns label | " + label)
	}
	b.checkAccessible(t, "columns")
	b.screenshot("scene-columns")
	b.clickLink("#columns button | Save columns")
	b.waitVisible(".notice | Columns saved.")
	b.click("summary | Columns")
	b.clickLink(`#columns button[aria-label="Move City up"]`)
	b.waitVisible("#columns button | Move City up")
	b.clickLink("thead a | Order number")
	b.click("summary | Save view")
	b.fill("#view-new", "Wexcombe by number")
	b.click(".list-tools label | Share with everyone")
	b.checkAccessible(t, "save view")
	b.screenshot("scene-save-view")
	b.clickLink(".list-tools button | Save view")
	b.waitVisible(".notice | View saved.")
	b.waitVisible(".chips [aria-current] | Wexcombe by number 7")
	own := eval[[][]string](b, tableJS)
	if len(own) != 8 || own[0][0] != "Order number" || !slices.Contains(own[0], "City") || slices.Contains(own[0], "Created") ||
		own[1][0] != "26-00" || own[7][0] != "26-12" {
		t.Errorf("the screen shows %q, want 7 orders by number", own)
	}
	b.screenshot("scene-view")

	other := env.newTab(t, srv.origin)
	other.signIn(admin)
	other.goTo("/orders")
	other.clickLink(".chips a | Wexcombe by number")
	if got := eval[[][]string](other, tableJS); fmt.Sprint(got) != fmt.Sprint(own) {
		t.Errorf("the colleague sees %q, want %q", got, own)
	}
	other.click("summary | Download")
	other.checkAccessible(t, "download")
	text := eval[string](other, `fetch(document.querySelector('a[download][href*=".csv"]').href).then(r => r.text())`)
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).ReadAll()
	if err != nil || fmt.Sprint(lines) != fmt.Sprint(own) {
		t.Errorf("the file has %q, %v, want %q as on the screen", lines, err, own)
	}
	// The edge of a heading is dragged. The width is there again on the next page, and in the menu.
	const width = `Math.round(document.querySelector("thead th:nth-child(2)").getBoundingClientRect().width)`
	other.goTo("/orders")
	before := eval[int](other, width)
	at := eval[[]float64](other, `(() => { const r = document.querySelector("thead th:nth-child(2) [data-edge]").getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2] })()`)
	other.run(chromedp.DragAndDropXY(at[0], at[1], at[0]+60, at[1]))
	other.waitFor(`performance.getEntriesByType("resource").some(e => e.name.endsWith("/columns/widths") && e.responseEnd > 0)`)
	other.goTo("/orders?county=Harlow")
	if got := eval[int](other, width); got < before+55 || got > before+65 {
		t.Errorf("the column is %d pixels wide, want %d", got, before+60)
	}
	other.screenshot("scene-widths")
	other.click("summary | Columns")
	other.checkAccessible(t, "widths")
	other.clickLink("#columns button | Reset")
	other.setSize(360, 800)
	other.goTo("/orders")
	other.clickLink(".chips a | Wexcombe by number")
	other.checkFits(360)
	other.checkAccessible(t, "view on a phone")
	other.click("summary | Edit view")
	other.checkFits(360)
	other.screenshot("scene-view-phone")
	other.fill("#view-name", "Wexcombe")
	other.clickLink(".list-tools button | Save changes")
	other.waitVisible(".chips [aria-current] | Wexcombe 7")
	other.click("summary | Edit view")
	other.click(".list-tools button | Delete view")
	other.clickLink("dialog button | Delete view")
	other.waitVisible(".notice | View “Wexcombe” deleted.")
}
