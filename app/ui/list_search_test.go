package ui_test

import (
	"testing"

	"deedkeep/app/model"
)

// Lists are also searched by words. They link to a search in all records.
func TestListSearch(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	elm := h.createOrder(t, "26-1", 5, elmStreet())
	mill := h.createOrder(t, "77", 5, model.Inputs{"address": model.StringInput("8 Mill Lane"),
		"county": model.StringInput("Dane")})
	g := h.openBrowser(t, model.RoleViewer)
	const button = `href="/find?all=1&amp;q=lane">`
	// Without a search index, lists find only numbers and addresses that start with the text.
	for _, q := range []string{"lane", "9"} {
		page := g.get(t, 200, "/orders?q="+q)
		page.has(t, "The search index is being rebuilt", "Results include only numbers, Parcel IDs, and addresses that start with your text.",
			"No matching number, Parcel ID, or address")
		page.lacks(t, "No matching orders", "Try removing a filter")
		g.get(t, 200, "/abstracts?q="+q).has(t, "The search index is being rebuilt", "No matching number, Parcel ID, or address")
	}
	g.get(t, 200, "/orders?q=lane").has(t, button)
	page := g.get(t, 200, "/orders?q=mill+l", "HX-Request", "true")
	page.has(t, "The search index is being rebuilt", `id="results-said"`)
	page.lacks(t, "No matching orders")
	g.get(t, 200, "/orders?q=77").lacks(t, "The search index") // exactly one order has this number
	h.waitForIndex(t)
	for _, row := range []struct {
		query      string
		has, lacks string
	}{
		{"q=lane", h.orderPath(mill), h.orderPath(elm)},
		{"q=lane&county=dane", h.orderPath(mill), h.orderPath(elm)},
		{"q=lane&county=troy", "No matching orders", h.orderPath(mill)},
		{"q=mill+8", h.orderPath(mill), h.orderPath(elm)},
		{"q=26-", h.orderPath(elm), h.orderPath(mill)},
		{"q=lane&due_to=2020-01-01", "No matching orders", h.orderPath(mill)},
		{"q=%22", "No matching orders", "Search everything for"},
	} {
		t.Run(row.query, func(t *testing.T) {
			page := g.get(t, 200, "/orders?"+row.query)
			page.has(t, row.has)
			page.lacks(t, row.lacks)
		})
	}
	g.get(t, 200, "/orders?q=lane").has(t, button)
	g.get(t, 200, "/abstracts?q=lane").has(t, "No matching abstracts", button)
	// A record found by full-text search is shown in the list instead of being opened.
	g.get(t, 303, "/orders?q=lane&go=1").checkHeaders(t, map[string]string{"Location": "/orders?q=lane"})
	g.get(t, 303, "/orders?q=77&go=1").checkHeaders(t, map[string]string{"Location": h.orderPath(mill)})
}
