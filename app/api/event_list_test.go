package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// The audit log can be filtered by kind, actor, and record. It never shows the internal
// IDs of abstracts and orders.
func TestEvents(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	id := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, salemAbstract())).Data.ID
	srv.do(t, call{as: "full", method: "PATCH", path: "/v1/abstracts/" + id, header: []string{asJSON},
		body: `{"status":"Complete","city":null}`, status: 200})
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/abstracts/" + id + "/files/1", status: 204})
	placed := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, orderCall(`{"order_number":"T-1"}`, 201, ""))).Data.ID
	srv.do(t, call{as: "other", method: "DELETE", path: "/v1/orders/" + placed, status: 204})
	log := func(query string, kinds ...string) string {
		t.Helper()
		r := getList("/v1/events?per_page=100&" + query)
		r.as = "events"
		got := srv.do(t, r)
		var has []string
		for _, d := range decodeBody[listPage](t, got).Data {
			has = append(has, d.Kind)
		}
		if !slices.Equal(has, kinds) {
			t.Errorf("%s gives %q, want %q", query, has, kinds)
		}
		return string(got.body)
	}
	text := log("record="+url.QueryEscape("abstract:"+id), "abstract.changed", "abstract.created")
	for _, fragment := range []string{`"record":"abstract:` + id + `"`,
		`"changes":[{"field":"status","from":"New","to":"Complete"},{"field":"city","from":"Salem","to":null}]`,
		`"actor":{"kind":"key","id":1,"name":"full","address":"127.0.0.1"}`} {
		if !strings.Contains(text, fragment) {
			t.Errorf("%s lacks %s", text, fragment)
		}
	}
	if text := log("record=file:1", "file.detached", "file.filed"); !strings.Contains(text, `"abstract":"abstract:`+id+`"`) {
		t.Errorf("%s names no abstract", text)
	}
	log("record=order:"+placed, "order.trashed", "order.created")
	log("record=order:"+placed+"&actor=key:7", "order.trashed")
	log("actor=KEY:1&kind=order.created", "order.created")
	log("record=order:" + id) // ID of another record type
	log("created_from=2030-01-01")
	r := getList("/v1/events?per_page=100&sort=created_at")
	r.as = "events"
	if body := string(srv.do(t, r).body); strings.Contains(body, `abstract:1"`) || strings.Contains(body, `order:1"`) {
		t.Errorf("a number of an abstract or an order: %s", body)
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
