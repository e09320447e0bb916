package api_test

import "testing"

// Where q cannot search it is refused and not ignored; bounds of time have a sentence
// that says what they take; what no record can be is refused.
func TestFiltersThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	for path, as := range map[string]string{"/v1/trash": "read", "/v1/events": "events"} {
		h.ask(t, row{as: as, method: "GET", path: path + "?q=elm", status: 422, want: invalid("q", "This list cannot be searched.")})
		h.ask(t, row{as: as, method: "GET", path: path + "?q=", status: 200})
	}
	h.ask(t, row{as: "read", method: "GET", path: "/v1/orders?created_from=foo", status: 422, want: invalid("created_from", "The created from field must be a date or a date-time.")})
	h.ask(t, row{as: "read", method: "GET", path: "/v1/orders?created_to=2026-02-30", status: 422, want: invalid("created_to", "The created to field must be a date or a date-time.")})
	h.ask(t, row{as: "events", method: "GET", path: "/v1/events?record=bar", status: 422, want: invalid("record", "The selected record is invalid.")})
	h.ask(t, row{as: "read", method: "GET", path: "/v1/abstracts?template_id=99", status: 200, has: []string{`"data":[]`}})
}
