package api_test

import "testing"

// The API lists the statuses of orders and abstract templates.
func TestStatusesAreListed(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.retired = []uint64{2} })
	srv.runCalls(t, []call{
		{name: "orders", as: "read", method: "GET", path: "/v1/order-statuses", status: 200,
			want: `{"statuses":["active","on_hold","completed","cancelled"]}`},
		{name: "template", as: "read", method: "GET", path: "/v1/abstract-templates/1", status: 200,
			has: []string{`{"template":{"id":1,"name":"Residential Abstract","default":true,"retired":false,"statuses":["New","In Search",`,
				`"custom_fields":[{"key":"file_number",`}},
		{name: "retired template", as: "read", method: "GET", path: "/v1/abstract-templates/2", status: 200,
			has: []string{`"retired":true,"statuses":["New",`}},
		{name: "template without statuses", as: "read", method: "GET", path: "/v1/abstract-templates/3", status: 200,
			has: []string{`"statuses":[]`}},
		{name: "missing template", as: "read", method: "GET", path: "/v1/abstract-templates/99", status: 404, want: messageBody("Not found.")},
		{name: "invalid template ID", as: "read", method: "GET", path: "/v1/abstract-templates/x", status: 404, want: messageBody("Not found.")},
	})
}
