package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// The log is listed by what was done, by whom, to what; numbers of abstracts and
// orders stand nowhere in it.
func TestEvents(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := decode[struct{ Data struct{ ID string } }](t, h.ask(t, abstractRow())).Data.ID
	h.ask(t, row{as: "full", method: "PATCH", path: "/v1/abstracts/" + id, header: []string{asJSON}, body: `{"status":"Complete","city":null}`, status: 200})
	h.ask(t, row{as: "full", method: "DELETE", path: "/v1/abstracts/" + id + "/files/1", status: 204})
	placed := decode[struct{ Data struct{ ID string } }](t, h.ask(t, order(`{"order_number":"T-1"}`, 201, ""))).Data.ID
	h.ask(t, row{as: "other", method: "DELETE", path: "/v1/orders/" + placed, status: 204})
	log := func(query string, kinds ...string) string {
		t.Helper()
		r := list("/v1/events?per_page=100&" + query)
		r.as = "events"
		got := h.ask(t, r)
		var has []string
		for _, d := range decode[listPage](t, got).Data {
			has = append(has, d.Kind)
		}
		if !slices.Equal(has, kinds) {
			t.Errorf("%s gives %q, want %q", query, has, kinds)
		}
		return string(got.body)
	}
	text := log("record="+url.QueryEscape("abstract:"+id), "abstract.changed", "abstract.created")
	for _, fragment := range []string{`"record":"abstract:` + id + `"`, `"changes":[{"field":"status","from":"New","to":"Complete"},{"field":"city","from":"Salem","to":null}]`, `"actor":{"kind":"key","id":1,"name":"full","address":"127.0.0.1"}`} {
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
	log("record=order:" + id) // an id of another noun names nothing
	log("created_from=2030-01-01")
	r := list("/v1/events?per_page=100&sort=created_at")
	r.as = "events"
	if body := string(h.ask(t, r).body); strings.Contains(body, `abstract:1"`) || strings.Contains(body, `order:1"`) {
		t.Errorf("a number of an abstract or an order: %s", body)
	}
	for _, bad := range []string{"abstract:1", "abstract", "order:", "file:x", "file:", ":1", "file:1:2", "abstract:" + strings.Repeat("0", 200)} {
		r := list("/v1/events?record=" + bad)
		r.as, r.status, r.want = "events", 422, invalid("record", "The selected record is invalid.")
		h.ask(t, r)
	}
	h.ask(t, row{as: "events", method: "POST", path: "/v1/events", status: 403})
	h.ask(t, row{as: "full", method: "POST", path: "/v1/events", status: 405})
}
