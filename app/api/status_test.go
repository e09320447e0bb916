package api_test

import "testing"

// An integrator finds out which statuses there are.
func TestStatusesCanBeFoundOut(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) { s.retired = []uint64{2} })
	h.run(t, []row{
		{name: "of orders", as: "read", method: "GET", path: "/v1/order-statuses", status: 200, want: `{"statuses":["active","on_hold","completed","cancelled"]}`},
		{name: "of a template", as: "read", method: "GET", path: "/v1/abstract-templates/1", status: 200,
			has: []string{`{"template":{"id":1,"name":"Residential Abstract","default":true,"retired":false,"statuses":["New","In Search",`, `"custom_fields":[{"key":"file_number",`}},
		{name: "of a retired one", as: "read", method: "GET", path: "/v1/abstract-templates/2", status: 200, has: []string{`"retired":true,"statuses":["New",`}},
		{name: "of one without", as: "read", method: "GET", path: "/v1/abstract-templates/3", status: 200, has: []string{`"statuses":[]`}},
		{name: "of none", as: "read", method: "GET", path: "/v1/abstract-templates/99", status: 404, want: says("Not found.")},
		{name: "of no number", as: "read", method: "GET", path: "/v1/abstract-templates/x", status: 404, want: says("Not found.")},
	})
}
