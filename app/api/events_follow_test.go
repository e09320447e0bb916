package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
)

// eventsAfter reads a page of the audit log in sequence order. It also returns the sequence
// numbers of the entries.
func (srv *testServer) eventsAfter(t *testing.T, path string) (page apitypes.Page[apitypes.Event], seqs []int64) {
	t.Helper()
	page = decodeBody[apitypes.Page[apitypes.Event]](t, srv.do(t, call{as: "events", method: "GET", path: path, status: 200}))
	for _, e := range page.Data {
		seqs = append(seqs, e.Seq)
	}
	if page.Meta.NextCursor == nil || page.Meta.PrevCursor != nil || page.Links.Prev != nil {
		t.Fatalf("%s: meta %+v, links %+v, want a next cursor and no previous page", path, page.Meta, page.Links)
	}
	return page, seqs
}

// A polling client gets each audit log entry exactly once, in sequence, and can always
// continue from the last cursor it received.
func TestEventsAfter(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	createOrders := func(n int) {
		for i := range n {
			srv.do(t, orderCall(fmt.Sprintf(`{"order_number":"T-%d"}`, i), 201, ""))
		}
	}
	createOrders(5)
	last := srv.lastSeq(t)
	var all []int64
	path := "/v1/events?after=0&per_page=3"
	for {
		page, seqs := srv.eventsAfter(t, path)
		if all = append(all, seqs...); page.Links.Next == nil {
			path = "/v1/events?after=0&per_page=3&cursor=" + *page.Meta.NextCursor
			break
		}
		path = localPath(t, page.Links.Next)
	}
	for i, seq := range all {
		if seq != int64(i)+1 {
			t.Fatalf("sequence number of entry %d = %d, want %d", i+1, seq, i+1)
		}
	}
	if int64(len(all)) != last {
		t.Errorf("entries = %d, want %d", len(all), last)
	}
	page, seqs := srv.eventsAfter(t, path)
	if len(seqs) > 0 || page.Links.Next != nil {
		t.Errorf("entries after the last one = %v, links %+v, want none", seqs, page.Links)
	}
	createOrders(4)
	cursorOnly := "/v1/events?cursor=" + *page.Meta.NextCursor
	for _, more := range []string{localPath(t, srv.nextLink(t, path)), cursorOnly, fmt.Sprintf("/v1/events?after=%d", last)} {
		_, seqs := srv.eventsAfter(t, more)
		if strings.Contains(more, "per_page=3") {
			if !slices.Equal(seqs, []int64{last + 4}) {
				t.Errorf("entries of %s = %v, want %d", more, seqs, last+4)
			}
		} else if want := []int64{last + 1, last + 2, last + 3, last + 4}; !slices.Equal(seqs, want) {
			t.Errorf("entries of %s = %v, want %v", more, seqs, want)
		}
	}
	if page, seqs := srv.eventsAfter(t, "/v1/events?after=999999"); len(seqs) > 0 || page.Links.Next != nil {
		t.Errorf("entries after a future one = %v, want none", seqs)
	}
	if _, seqs := srv.eventsAfter(t, "/v1/events?after=0&kind=order.created&created_to=2026-06-01&per_page=100"); len(seqs) != 9 ||
		!slices.IsSorted(seqs) {
		t.Errorf("entries of one kind = %v, want 9 in order", seqs)
	}
	if _, seqs := srv.eventsAfter(t, "/v1/events?after=0&created_from=2030-01-01"); len(seqs) > 0 {
		t.Errorf("entries of a later time = %v, want none", seqs)
	}
	srv.do(t, call{as: "full", method: "GET", path: "/v1/events?after=0", status: 403})
	for query, want := range map[string]string{
		"after=x": invalidField("after", "The after field must be an integer."),
		"after=" + *page.Meta.NextCursor: invalidField("after",
			"The after field must be an integer. Send the cursor in the cursor field."),
		"after=-1":                   invalidField("after", "The selected after is invalid."),
		"after=99999999999999999999": invalidField("after", "The selected after is invalid."),
		"after=0&sort=created_at":    invalidField("sort", "The sort field cannot be combined with after."),
		"after=0&cursor=x":           invalidField("cursor", "The selected cursor is invalid."),
		"sort=created_at&cursor=" + *page.Meta.NextCursor:            invalidField("cursor", "The selected cursor is invalid."),
		"after=0&kind=order.created&cursor=" + *page.Meta.NextCursor: invalidField("cursor", "The selected cursor is invalid."),
	} {
		t.Run(query, func(t *testing.T) {
			srv.do(t, call{as: "events", method: "GET", path: "/v1/events?" + query, status: 422, want: want})
		})
	}
	got := srv.do(t, call{as: "events", method: "GET", path: "/v1/events?after=", status: 200})
	if want := fmt.Sprintf(`{"data":[{"seq":%d,`, last+4); !strings.Contains(string(got.body), want) {
		t.Errorf("entries with a blank after = %s, want the newest first", got.body)
	}
}

// nextLink returns the next link of the page at path.
func (srv *testServer) nextLink(t *testing.T, path string) *string {
	t.Helper()
	page, _ := srv.eventsAfter(t, path)
	return page.Links.Next
}
