package api_test

import (
	"strings"
	"testing"
)

// orderCall returns a call that creates an order.
func orderCall(body string, status int, want string) call {
	return call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON}, body: body, status: status, want: want}
}

const bareOrder = `{"data":{"id":"ID","order_number":"T-1","status":"active","due_date":null,"address":null,"city":null,` +
	`"county":null,"state":null,` +
	`"custom_fields":{},"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"}}`

func TestOrderCreated(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, orderCall(`{"order_number":"T-1"}`, 201, bareOrder))
	srv.do(t, orderCall(`{"order_number":" T-1\t\n","zip":"12345","due_date":"","address":"  ","city":null,"custom_fields":[]}`, 201,
		bareOrder))
	srv.do(t, orderCall(
		`{"order_number":"T-1","due_date":"2028-02-29","address":" 12 Elm <St> & Co ","city":"Salem","county":"Essex","state":"MA",`+
			`"custom_fields":{"rush":"Rush","client":1.50,"absent":"x","notes":"  as sent\n","underwriter":"","product":null,"parcel_id":[]}}`, 201,
		`{"data":{"id":"ID","order_number":"T-1","status":"active","due_date":"2028-02-29","address":"12 Elm <St> & Co","city":"Salem",`+
			`"county":"Essex","state":"MA",`+
			`"custom_fields":{"client":"1.50","notes":"  as sent\n","rush":"Rush"},"created_at":"2026-05-29T04:00:00.000000Z",`+
			`"updated_at":"2026-05-29T04:00:00.000000Z"}}`))
}

func TestOrderIDs(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	seen := map[string]bool{}
	for range 5 {
		body := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, orderCall(`{"order_number":"T-1"}`, 201, "")))
		if id := body.Data.ID; len(id) < 8 || seen[id] {
			t.Errorf("id = %q, want a new one of at least 8 characters", id)
		}
		seen[body.Data.ID] = true
	}
}

func TestOrderRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	long := func(n int, c string) string { return strings.Repeat(c, n) }
	required := invalidField("order_number", "The order number field is required.")
	tests := []struct {
		name, body string
		status     int
		want       string
	}{
		{"empty object", `{}`, 422, required},
		{"empty body", ``, 422, required},
		{"blank number", `{"order_number":" \u2003 "}`, 422, required},
		{"null number", `{"order_number":null}`, 422, required},
		{"key in another case", `{"Order_Number":"T-1"}`, 422, required},
		{"number for a number", `{"order_number":17}`, 422, invalidField("order_number", "The order number field must be a string.")},
		{"255 characters", `{"order_number":"` + long(255, "ü") + `"}`, 201, ""},
		{"256 characters", `{"order_number":"` + long(256, "ü") + `"}`, 422,
			invalidField("order_number", "The order number field must not be greater than 255 characters.")},
		{"2000 in a line", `{"order_number":"T","address":"` + long(2000, "x") + `"}`, 201, ""},
		{"2001 in a line", `{"order_number":"T","address":"` + long(2001, "x") + `"}`, 422,
			invalidField("address", "The address field must not be greater than 2000 characters.")},
		{"65535 in a paragraph", `{"order_number":"T","custom_fields":{"notes":"` + long(65535, "é") + `"}}`, 201, ""},
		{"65536 in a paragraph", `{"order_number":"T","custom_fields":{"notes":"` + long(65536, "é") + `"}}`, 422,
			invalidField("custom_fields.notes", "The notes field must not be greater than 65535 characters.")},
		{"NUL", `{"order_number":"T","address":"a\u0000b"}`, 422, invalidField("address", "The address field contains invalid characters.")},
		{"address not a string", `{"order_number":"T","address":{}}`, 422, invalidField("address", "The address field must be a string.")},
		{"invalid date", `{"order_number":"T","due_date":"2026-02-30"}`, 422,
			invalidField("due_date", "The due date field must match the format Y-m-d.")},
		{"date with a time", `{"order_number":"T","due_date":"2026-02-20T00:00:00Z"}`, 422,
			invalidField("due_date", "The due date field must match the format Y-m-d.")},
		{"date as a number", `{"order_number":"T","due_date":20260220}`, 422,
			invalidField("due_date", "The due date field must match the format Y-m-d.")},
		{"custom_fields a string", `{"order_number":"T","custom_fields":"x"}`, 422,
			invalidField("custom_fields", "The custom fields field must be an array.")},
		{"custom_fields an array", `{"order_number":"T","custom_fields":[1]}`, 422,
			invalidField("custom_fields", "The custom fields field must be an array.")},
		{"custom_fields false", `{"order_number":"T","custom_fields":false}`, 422,
			invalidField("custom_fields", "The custom fields field must be an array.")},
		{"outside the options", `{"order_number":"T","custom_fields":{"rush":"rush"}}`, 422,
			invalidField("custom_fields.rush", "The selected rush is invalid.")},
		{"two errors", `{"due_date":"x"}`, 422,
			`{"message":"The order number field is required. (and 1 more error)",` +
				`"errors":{"order_number":["The order number field is required."],"due_date":["The due date field must match the format Y-m-d."]}}`},
		{"three errors, in the order of the definitions",
			`{"custom_fields":{"rush":"?","transaction_type":"?"},"order_number":"T","state":1}`, 422,
			`{"message":"The state field must be a string. (and 2 more errors)","errors":{"state":["The state field must be a string."],` +
				`"custom_fields.transaction_type":["The selected transaction type is invalid."],` +
				`"custom_fields.rush":["The selected rush is invalid."]}}`},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) { srv.do(t, orderCall(c.body, c.status, c.want)) })
	}
}

func TestOrderNumberUnique(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.vault.Settings.UniqueOrderNumber = true })
	srv.do(t, orderCall(`{"order_number":"T-1"}`, 201, ""))
	srv.do(t, orderCall(`{"order_number":"T-1"}`, 422, invalidField("order_number", "The order number has already been taken.")))
}

func TestOrderFields(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	got := srv.do(t, call{as: "read", method: "GET", path: "/v1/order-fields", status: 200, has: []string{
		`{"core_fields":[{"key":"order_number","label":"Order #","type":"text","required":true,"options":[]},{"key":"due_date",`,
		`{"key":"rush","label":"Rush","type":"dropdown","required":false,"options":["Standard","Rush"]}`,
	}})
	body := decodeBody[struct {
		CoreFields []struct{ Key string } `json:"core_fields"`
	}](t, got)
	var keys []string
	for _, f := range body.CoreFields {
		keys = append(keys, f.Key)
	}
	if s := strings.Join(keys, " "); s != "order_number due_date address city county state" {
		t.Errorf("core fields = %s, want order_number due_date address city county state", s)
	}
}
