package api_test

import "testing"

// Lists that can't be searched reject q instead of ignoring it. Malformed dates and record
// IDs are rejected too.
func TestFiltersRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for path, as := range map[string]string{"/v1/trash": "read", "/v1/events": "events"} {
		t.Run(path, func(t *testing.T) {
			srv.do(t, call{as: as, method: "GET", path: path + "?q=elm", status: 422, want: invalidField("q", "This list doesn't support search.")})
			srv.do(t, call{as: as, method: "GET", path: path + "?q=", status: 200})
		})
	}
	srv.do(t, call{as: "read", method: "GET", path: "/v1/orders?created_from=foo", status: 422,
		want: invalidField("created_from", "The created from field must be a date or a date-time.")})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/orders?created_to=2026-02-30", status: 422,
		want: invalidField("created_to", "The created to field must be a date or a date-time.")})
	srv.do(t, call{as: "events", method: "GET", path: "/v1/events?record=bar", status: 422,
		want: invalidField("record", "The selected record is invalid.")})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/abstracts?template_id=99", status: 200, has: []string{`"data":[]`}})
}
