package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Lists by the last change, and within bounds of it.
func TestListByUpdate(t *testing.T) {
	t.Parallel()
	h := open(t)
	ids := map[string]string{}
	for _, n := range []string{"A", "B", "C", "D"} {
		ids[n] = h.id(t, order(`{"order_number":"`+n+`","county":"Essex"}`, 201, ""))
		h.clock.Advance(time.Hour)
	}
	salem := h.id(t, abstract(201, "", field("city", "Salem"), field("county", "Essex")))
	h.clock.Advance(time.Hour)
	h.ask(t, abstract(201, "", field("city", "Lynn")))
	h.clock.Advance(24 * time.Hour)
	h.ask(t, patch("/v1/orders/"+ids["B"], `{"state":"NH"}`, 200, ""))
	h.ask(t, patch("/v1/abstracts/"+salem, `{"tax_map":"1"}`, 200, ""))
	h.clock.Advance(time.Hour)
	h.ask(t, patch("/v1/orders/"+ids["A"], `{"state":"MA"}`, 200, ""))
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"orders?sort=updated_at", []string{"C", "D", "B", "A"}},
		{"orders?sort=-updated_at", []string{"A", "B", "D", "C"}},
		{"orders?sort=updated_at&county=essex&per_page=2", []string{"C", "D"}},
		{"orders?sort=-updated_at&updated_to=2026-05-29", []string{"D", "C"}},
		{"orders?updated_from=2026-05-30", []string{"B", "A"}},
		{"orders?sort=updated_at&updated_from=2026-05-29T07:00:00Z&updated_to=2026-05-30T09:30:00.000000Z", []string{"D", "B"}},
		{"orders?sort=order_number&updated_from=2026-05-29T07:00:00Z", []string{"A", "B", "D"}},
		{"orders?updated_from=2026-05-30&created_to=2026-05-29T04:00:00Z", []string{"A"}},
		{"orders?updated_from=2026-06-01", []string{}},
		{"abstracts?sort=updated_at", []string{"Lynn", "Salem"}},
		{"abstracts?updated_from=2026-05-30&county=essex", []string{"Salem"}},
	} {
		h.names(t, "/v1/"+c.query, c.want...)
	}
	for query, want := range map[string]string{
		"orders?updated_from=x":                invalid("updated_from", "The updated from field must be a date or a date-time."),
		"abstracts?updated_to=2026-02-30":      invalid("updated_to", "The updated to field must be a date or a date-time."),
		"orders?q=elm&updated_from=2026-05-30": invalid("updated_from", "The updated from field cannot be combined with q."),
		"file-vault/files?sort=updated_at":     invalid("sort", "The selected sort is invalid."),
		"orders?sort=updated_at&cursor=" + h.cursor(t, "/v1/orders?sort=updated_at&per_page=1&updated_from=2026-05-01"): invalid("cursor", "The selected cursor is invalid."),
	} {
		r := list("/v1/" + query)
		r.status, r.want = 422, want
		h.ask(t, r)
	}
}

// cursor is that of the next page.
func (h *house) cursor(t *testing.T, path string) string {
	t.Helper()
	page, _ := h.page(t, path)
	if page.Meta.NextCursor == nil {
		t.Fatal("there is no next page")
	}
	return *page.Meta.NextCursor
}

// A client that follows a list by the last change sees the last state of every record, whatever
// changes between the pages.
func TestListByUpdateWhileRecordsChange(t *testing.T) {
	t.Parallel()
	h := open(t)
	var ids []string
	for i := range 30 {
		ids = append(ids, h.id(t, order(fmt.Sprintf(`{"order_number":"%02d","city":"0"}`, i), 201, "")))
		h.clock.Advance(time.Second)
	}
	seen := map[string]string{}
	var again int
	path := "/v1/orders?sort=updated_at&per_page=4"
	for changes := 1; path != ""; changes++ {
		page := decode[listPage](t, h.ask(t, list(path)))
		for _, d := range page.Data {
			if _, twice := seen[d.OrderNumber]; twice {
				again++
			}
			seen[d.OrderNumber] = d.City
		}
		if path = ""; page.Links.Next != nil {
			path = here(t, page.Links.Next)
		}
		if changes <= 5 { // one that was seen and one that was not
			for _, i := range []int{changes, 29 - changes} {
				h.ask(t, patch("/v1/orders/"+ids[i], fmt.Sprintf(`{"city":"%d"}`, changes), 200, ""))
				h.clock.Advance(time.Second)
			}
		}
	}
	for i := range ids {
		want := "0"
		if n := slices.Index([]int{1, 2, 3, 4, 5}, i); n >= 0 {
			want = fmt.Sprint(n + 1)
		} else if n := slices.Index([]int{28, 27, 26, 25, 24}, i); n >= 0 {
			want = fmt.Sprint(n + 1)
		}
		if got := seen[fmt.Sprintf("%02d", i)]; got != want {
			t.Errorf("order %02d was last seen with %q, want %q", i, got, want)
		}
	}
	if len(seen) != 30 || again == 0 || again > 10 {
		t.Errorf("%d orders, %d seen again", len(seen), again)
	}
}
