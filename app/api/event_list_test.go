package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// The audit log can be filtered by kind, actor, and record. Its entries never contain the
// internal IDs of abstracts and orders.
func TestEvents(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	id := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, salemAbstract())).Data.ID
	srv.do(t, call{as: "full", method: "PATCH", path: "/v1/abstracts/" + id, header: []string{asJSON},
		body: `{"status":"Complete","city":null}`, status: 200})
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/abstracts/" + id + "/files/1", status: 204})
	orderID := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, orderCall(`{"order_number":"T-1"}`, 201, ""))).Data.ID
	srv.do(t, call{as: "other", method: "DELETE", path: "/v1/orders/" + orderID, status: 204})
	checkKinds := func(query string, kinds ...string) string {
		t.Helper()
		r := getList("/v1/events?per_page=100&" + query)
		r.as = "events"
		got := srv.do(t, r)
		var listed []string
		for _, d := range decodeBody[listPage](t, got).Data {
			listed = append(listed, d.Kind)
		}
		if !slices.Equal(listed, kinds) {
			t.Errorf("events of %s = %q, want %q", query, listed, kinds)
		}
		return string(got.body)
	}
	text := checkKinds("record="+url.QueryEscape("abstract:"+id), "abstract.changed", "abstract.created")
	for _, fragment := range []string{`"record":"abstract:` + id + `"`,
		`"changes":[{"field":"status","from":"New","to":"Complete","row":null,"text":"Status: New → Complete"},` +
			`{"field":"city","from":"Salem","to":null,"row":null,"text":"City: Salem → (blank)"}]`,
		`"names":{"abstract:` + id + `":"Salem, Essex County"}`,
		`"actor":{"kind":"key","id":1,"name":"full","address":"127.0.0.1"}`} {
		if !strings.Contains(text, fragment) {
			t.Errorf("events = %s, want them to contain %s", text, fragment)
		}
	}
	if text := checkKinds("record=file:1", "file.detached", "file.filed"); !strings.Contains(text, `"abstract":"abstract:`+id+`"`) {
		t.Errorf("events = %s, want them to name the abstract", text)
	}
	checkKinds("record=order:"+orderID, "order.trashed", "order.created")
	checkKinds("record=order:"+orderID+"&actor=key:7", "order.trashed")
	checkKinds("actor=KEY:1&kind=order.created", "order.created")
	checkKinds("record=order:" + id) // the ID belongs to another record type
	checkKinds("created_from=2030-01-01")
	r := getList("/v1/events?per_page=100&sort=created_at")
	r.as = "events"
	if body := string(srv.do(t, r).body); strings.Contains(body, `abstract:1"`) || strings.Contains(body, `order:1"`) {
		t.Errorf("events contain an internal ID: %s", body)
	}
	for _, bad := range []string{"abstract:1", "abstract", "order:", "file:x", "file:", ":1", "file:1:2",
		"abstract:" + strings.Repeat("0", 200)} {
		r := getList("/v1/events?record=" + bad)
		r.as, r.status, r.want = "events", 422, invalidField("record", "The selected record is invalid.")
		srv.do(t, r)
	}
	srv.do(t, call{as: "events", method: "POST", path: "/v1/events", status: 403})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/events", status: 405})
}
