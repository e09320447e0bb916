package api_test

import (
	"fmt"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
)

// The X-Ignored-Fields header lists the inputs that the server ignored, regardless of the
// status. The response body is the same as without them.
func TestIgnoredFieldsAreNamed(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstractID := decodeBody[struct{ Data struct{ ID string } }](t,
		srv.do(t, abstractCall(201, "", filePart("files", "a.pdf", pdf(1))))).Data.ID
	orderID := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, orderCall(`{"order_number":"T-0"}`, 201, ""))).Data.ID
	orderWithFields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"x%02d":1`, i)
		}
		return `{"order_number":"T-1"` + b.String() + `}`
	}
	var first []string
	for i := range 20 {
		first = append(first, fmt.Sprintf("x%02d", i))
	}
	twenty := strings.Join(first, ",")
	long := strings.Repeat("é", 40)
	cut := strings.Repeat("%C3%A9", 32) + "%E2%80%A6"
	for _, c := range []struct {
		name, method, path, media, body string
		status                          int
		want                            string
	}{
		{"nothing", "POST", "/orders", asJSON, `{"order_number":"T-1","custom_fields":{}}`, 201, ""},
		{"members", "POST", "/orders", asJSON, `{"order_number":"T-1","dueDate":"2026-06-15","Custom_fields":{}}`, 201, "Custom_fields,dueDate"},
		{"members of an error", "POST", "/orders", asJSON, `{"orderNumber":"T-1"}`, 422, "orderNumber"},
		{"keys without a definition", "POST", "/orders", asJSON,
			`{"order_number":"T-1","custom_fields":{"nope":1,"rush":"Rush","a b":2}}`, 201, "custom_fields.a%20b,custom_fields.nope"},
		{"keys without a definition, of an error", "POST", "/orders", asJSON, `{"custom_fields":{"nope":1}}`, 422, "custom_fields.nope"},
		{"twenty", "POST", "/orders", asJSON, orderWithFields(20), 201, twenty},
		{"more than twenty", "POST", "/orders", asJSON, orderWithFields(27), 201, twenty + ",+7"},
		{"with keys above twenty", "POST", "/orders", asJSON,
			orderWithFields(20)[:len(orderWithFields(20))-1] + `,"custom_fields":{"nope":1}}`, 201, twenty + ",+1"},
		{"a line break in a name", "POST", "/orders", asJSON, `{"order_number":"T-1","a\r\nSet-Cookie: b":1,"c,d":1,"+7":1,"":1}`, 201,
			"%2B7,a%0D%0ASet-Cookie%3A%20b,c%2Cd,+1"},
		{"a long name", "POST", "/orders", asJSON, `{"order_number":"T-1","` + long + `":1}`, 201, cut},
		{"long names, of which ten fit", "POST", "/orders", asJSON, strings.ReplaceAll(orderWithFields(20), "x", long), 201,
			strings.Repeat(cut+",", 10) + "+10"},
		{"a body that is not an object", "POST", "/orders", asJSON, `["dueDate"]`, 422, ""},
		{"parts", "POST", "/abstracts", asForm,
			formBody(filePart("file", "a.pdf", pdf(1)), filePart("document", "b.pdf", pdf(1)), fieldPart("dueDate", "x"), fieldPart("dueDate", "y"),
				fieldPart("city", "Salem")), 201, "file,document,dueDate"},
		{"parts of an error", "POST", "/abstracts", asForm, formBody(fieldPart("template_id", "x"), filePart("file", "a.pdf", pdf(1))),
			422, "file"},
		{"keys of a form", "POST", "/abstracts", asForm, formBody(fieldPart("custom_fields[file_number]", "A-1")), 201,
			"custom_fields%5Bfile_number%5D"},
		{"keys in the JSON of a form", "POST", "/abstracts", asForm,
			formBody(fieldPart("custom_fields", `{"file_number":"A-1","fileNumber":"A-1"}`)), 201, "custom_fields.fileNumber"},
		{"pairs", "POST", "/abstracts", asURL, "city=Salem&taxMap=1&taxMap=2&=x", 201, "taxMap,+1"},
		{"parts of an upload", "POST", "/file-vault/upload", asForm,
			formBody(filePart("files", "c.pdf", pdf(1)), fieldPart("folder", "1")), 201, "folder"},
		{"parts of an upload without documents", "POST", "/file-vault/upload", asForm, formBody(filePart("document", "c.pdf", pdf(1))),
			422, "document"},
		{"fields of more documents", "POST", "/abstracts/" + abstractID + "/files", asForm,
			formBody(filePart("files", "d.pdf", pdf(1)), fieldPart("city", "Lynn")), 201, "city"},
		{"members of a folder", "POST", "/file-vault/folders", asJSON, `{"name":"Deeds","parent":1}`, 201, "parent"},
		{"members of a change", "PATCH", "/abstracts/" + abstractID, asJSON,
			`{"city":"Salem","id":"x","updated_at":"x","custom_fields":{"nope":1}}`, 200, "id,updated_at,custom_fields.nope"},
		{"members of a change of an order", "PATCH", "/orders/" + orderID, asJSON, `{"city":"Salem","number":"x","status":"active"}`,
			200, "number"},
		{"members of a restore", "POST", "/orders/" + orderID + "/restore", asJSON, `{"why":1}`, 200, "why"},
		{"members of a change of a document", "PATCH", "/file-vault/files/1", asJSON, `{"name":"z.pdf"}`, 200, "name"},
		{"parameters of a list", "GET", "/orders?countyy=Essex&county=Essex&per_page=5&sort=created_at&cursor=&q=&state=&page=2", "",
			"", 200, "countyy,page"},
		{"parameters of an invalid list request", "GET", "/orders?per_page=0&countyy=%ff", "", "", 422, "countyy"},
		{"parameters of a search", "GET", "/search?kind=order&limit=5", "", "", 422, "limit"},
		{"invalid parameters", "GET", "/search?q=elm&folder_id=5", "", "", 422, ""},
		{"parameters of the trash", "GET", "/trash?kind=order&noun=x", "", "", 200, "noun"},
		{"parameters of a record", "GET", "/orders/" + orderID + "?expand=files", "", "", 200, "expand"},
		{"parameters of a missing record", "GET", "/orders/" + orderID + "x?expand=files", "", "", 404, "expand"},
		{"parameters that are not UTF-8", "GET", "/orders/" + orderID + "?%ff%0d%0a=1", "", "", 200, "%FF%0D%0A"},
		{"parameters and a body", "POST", "/orders?dry_run=1", asJSON, `{"order_number":"T-1","x":1}`, 201, "dry_run,x"},
		{"a query that cannot be read", "GET", "/orders/" + orderID + "?%zz=1", "", "", 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call{as: "full", method: c.method, path: "/v1" + c.path, body: c.body, status: c.status,
				headers: map[string]string{apitypes.IgnoredFields: c.want}}
			if c.media != "" {
				r.header = []string{c.media}
			}
			if strings.Contains(c.path, "%zz") {
				r.route = "/v1/orders/" + orderID
			}
			got := srv.do(t, r)
			if values := got.Header.Values(apitypes.IgnoredFields); c.want == "" && len(values) > 0 || len(values) > 1 {
				t.Errorf("X-Ignored-Fields = %q, want %q", values, c.want)
			}
			if got.Header.Get("Set-Cookie") != "" {
				t.Error("an ignored name injected the header Set-Cookie")
			}
		})
	}
	srv.do(t, call{as: "bad", method: "GET", path: "/v1/orders?x=1", status: 401, headers: map[string]string{apitypes.IgnoredFields: ""}})
}

// A replayed response has the same X-Ignored-Fields header as the original response.
func TestIgnoredFieldsAreReplayed(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	ignored := map[string]string{apitypes.IgnoredFields: "dueDate,custom_fields.nope"}
	first := orderCall(`{"order_number":"T-1","dueDate":"x","custom_fields":{"nope":1}}`, 201, "")
	first.headers = ignored
	if again := srv.doTwice(t, first, first); again.Header.Get(apitypes.IgnoredFields) != ignored[apitypes.IgnoredFields] {
		t.Errorf("X-Ignored-Fields of the first response = %q", again.Header.Get(apitypes.IgnoredFields))
	}
	first.header = append(first.header, idempotencyHeader)
	if got := srv.do(t, first); got.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("headers = %v, want a replayed response", got.Header)
	}
}
