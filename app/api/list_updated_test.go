package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Lists can be sorted and filtered by the time records were last changed.
func TestListByUpdate(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	ids := map[string]string{}
	for _, n := range []string{"A", "B", "C", "D"} {
		ids[n] = srv.createID(t, orderCall(`{"order_number":"`+n+`","county":"Essex"}`, 201, ""))
		srv.clock.Advance(time.Hour)
	}
	salemID := srv.createID(t, abstractCall(201, "", fieldPart("city", "Salem"), fieldPart("county", "Essex")))
	srv.clock.Advance(time.Hour)
	srv.do(t, abstractCall(201, "", fieldPart("city", "Lynn")))
	srv.clock.Advance(24 * time.Hour)
	srv.do(t, patchCall("/v1/orders/"+ids["B"], `{"state":"NH"}`, 200, ""))
	srv.do(t, patchCall("/v1/abstracts/"+salemID, `{"tax_map":"1"}`, 200, ""))
	srv.clock.Advance(time.Hour)
	srv.do(t, patchCall("/v1/orders/"+ids["A"], `{"state":"MA"}`, 200, ""))
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
		t.Run(c.query, func(t *testing.T) {
			srv.checkNames(t, "/v1/"+c.query, c.want...)
		})
	}
	for query, want := range map[string]string{
		"orders?updated_from=x":                invalidField("updated_from", "The updated from field must be a date or a date-time."),
		"abstracts?updated_to=2026-02-30":      invalidField("updated_to", "The updated to field must be a date or a date-time."),
		"orders?q=elm&updated_from=2026-05-30": invalidField("updated_from", "The updated from field cannot be combined with q."),
		"file-vault/files?sort=updated_at":     invalidField("sort", "The selected sort is invalid."),
		"orders?sort=updated_at&cursor=" + srv.nextCursor(t,
			"/v1/orders?sort=updated_at&per_page=1&updated_from=2026-05-01"): invalidField("cursor", "The selected cursor is invalid."),
	} {
		t.Run(query, func(t *testing.T) {
			r := getList("/v1/" + query)
			r.status, r.want = 422, want
			srv.do(t, r)
		})
	}
}

// nextCursor returns the cursor for the next page.
func (srv *testServer) nextCursor(t *testing.T, path string) string {
	t.Helper()
	page, _ := srv.getPage(t, path)
	if page.Meta.NextCursor == nil {
		t.Fatalf("%s has no next page, want one", path)
	}
	return *page.Meta.NextCursor
}

// A client that reads a list sorted by last change sees the latest state of each record,
// even if records change while the client is reading.
func TestListByUpdateWhileRecordsChange(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	var ids []string
	for i := range 30 {
		ids = append(ids, srv.createID(t, orderCall(fmt.Sprintf(`{"order_number":"%02d","city":"0"}`, i), 201, "")))
		srv.clock.Advance(time.Second)
	}
	seen := map[string]string{}
	var again int
	path := "/v1/orders?sort=updated_at&per_page=4"
	for changes := 1; path != ""; changes++ {
		page := decodeBody[listPage](t, srv.do(t, getList(path)))
		for _, d := range page.Data {
			if _, twice := seen[d.OrderNumber]; twice {
				again++
			}
			seen[d.OrderNumber] = d.City
		}
		if path = ""; page.Links.Next != nil {
			path = localPath(t, page.Links.Next)
		}
		if changes <= 5 { // change a record that was already read and one that wasn't
			for _, i := range []int{changes, 29 - changes} {
				srv.do(t, patchCall("/v1/orders/"+ids[i], fmt.Sprintf(`{"city":"%d"}`, changes), 200, ""))
				srv.clock.Advance(time.Second)
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
			t.Errorf("last state of order %02d = %q, want %q", i, got, want)
		}
	}
	if len(seen) != 30 || again == 0 || again > 10 {
		t.Errorf("%d orders, %d seen again, want 30, 1 to 10", len(seen), again)
	}
}
