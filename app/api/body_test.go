package api_test

import (
	"strings"
	"testing"
)

// The server rejects malformed JSON, repeated keys, invalid UTF-8, and deeply nested
// values.
func TestStrictJSON(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	nested := func(n int) string {
		return `{"order_number":"T","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	const required = `{"message":"The order number field is required.","errors":{"order_number":["The order number field is required."]}}`
	for _, c := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"not JSON", `order_number=T`, 400, ""},
		{"truncated", `{"order_number":"T"`, 400, ""},
		{"trailing text", `{"order_number":"T"} x`, 400, ""},
		{"two documents", `{"order_number":"T"}{"order_number":"T"}`, 400, ""},
		{"trailing comma", `{"order_number":"T",}`, 400, ""},
		{"comment", `{"order_number":"T"/**/}`, 400, ""},
		{"single quotes", `{'order_number':'T'}`, 400, ""},
		{"repeated key", `{"order_number":"T","order_number":"T"}`, 400,
			messageBody(`The request body is not valid JSON: repeated key "order_number" at line 1, column 21.`)},
		{"repeated key, escaped", `{"order_number":"T","order\u005fnumber":"T"}`, 400, ""},
		{"repeated key inside", `{"order_number":"T","custom_fields":{"a":1,"a":1}}`, 400, ""},
		{"repeated key in an ignored field", `{"order_number":"T","x":[{"a":1,"a":1}]}`, 400, ""},
		{"keys that differ by case", `{"order_number":"T-1","ORDER_NUMBER":"U"}`, 201, bareOrder},
		{"invalid UTF-8", "{\"order_number\":\"T\xff\"}", 400, ""},
		{"UTF-8 of a surrogate", "{\"order_number\":\"T\xed\xa0\x80\"}", 400, ""},
		{"Latin 1", "{\"order_number\":\"T\",\"city\":\"Z\xfcrich\"}", 400, ""},
		{"lone surrogate", `{"order_number":"T\ud83c"}`, 400, ""},
		{"lone low surrogate", `{"order_number":"\udf33"}`, 400, ""},
		{"pair of surrogates", `{"order_number":"\ud83c\udf33"}`, 201, strings.Replace(bareOrder, "T-1", "🌳", 1)},
		{"raw control", "{\"order_number\":\"T\x01\"}", 400, ""},
		{"NaN", `{"order_number":NaN}`, 400, ""},
		{"leading zero", `{"order_number":"T","x":01}`, 400, ""},
		{"depth 32", nested(31), 201, ""},
		{"depth 33", nested(32), 400, ""},
		{"array at the top", `[]`, 422, required},
		{"array with an object", `[{"order_number":"T"}]`, 422, required},
		{"text at the top", `"x"`, 422, required},
		{"null at the top", `null`, 422, required},
		{"number at the top", ` 7 `, 422, required},
		{"blank", " \r\n\t", 422, required},
		{"byte order mark", "\xef\xbb\xbf" + `{"order_number":"T-1"}`, 201, bareOrder},
		{"UTF-16", "\xff\xfe{\x00}\x00", 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := srv.do(t, orderCall(c.body, c.status, c.want))
			if c.status == 400 && !strings.Contains(string(got.body), " at line ") {
				t.Errorf("body = %s, want it to name the line of the error", got.body)
			}
		})
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	const (
		onlyJSON = `{"message":"The Content-Type must be application/json."}`
		notUTF8  = `{"message":"The charset must be UTF-8."}`
		number   = `{"order_number":"T-1"}`
	)
	body := formBody(filePart("files", "a.pdf", pdf(1)))
	const orders, abstracts, upload = "/v1/orders", "/v1/abstracts", "/v1/file-vault/upload"
	for _, c := range []struct {
		path, header, body string
		status             int
		want               string
	}{
		{orders, "application/json", number, 201, bareOrder},
		{orders, "Application/JSON ; charset=\"Utf-8\"; x=y", number, 201, bareOrder},
		{orders, "application/json;charset=utf8", number, 201, bareOrder},
		{orders, "application/vnd.firm.v1+json", number, 201, bareOrder},
		{orders, "application/json; profile", number, 201, bareOrder},
		{orders, "application/json; charset=iso-8859-1", number, 415, notUTF8},
		{orders, "application/json; charset=utf-16", number, 415, notUTF8},
		{orders, "text/json", number, 415, onlyJSON},
		{orders, "text/plain", number, 415, onlyJSON},
		{orders, "application/jsonp", number, 415, onlyJSON},
		{orders, "application/+json", number, 415, onlyJSON},
		{orders, "json", number, 415, onlyJSON},
		{orders, "", number, 415, onlyJSON},
		{orders, "application/x-www-form-urlencoded", "order_number=T-1", 415, onlyJSON},
		{orders, "multipart/form-data; boundary=XX", body, 415, onlyJSON},
		{orders, "", "", 422, ""},
		{orders, "; charset=utf-8", "", 415, onlyJSON},
		{abstracts, "", "", 201, ""},
		{abstracts, "", "address=x", 415, ""},
		{abstracts, "text/plain", `{}`, 415, `{"message":"The Content-Type must be multipart/form-data, ` +
			`or application/x-www-form-urlencoded or application/json when no files are sent."}`},
		{abstracts, "application/json", `{}`, 201, ""},
		{abstracts, "application/json", `{"files":[]}`, 201, ""},
		{abstracts, "application/json", `{"address":`, 400, ""},
		{abstracts, "application/json", `{"files":["deed.pdf"]}`, 422, invalidField("files", "The files field must be a file.")},
		{abstracts, "application/json", `{"custom_fields":"x"}`, 422,
			invalidField("custom_fields", "The custom fields field must be an array.")},
		{abstracts, "APPLICATION/x-www-form-urlencoded; charset=UTF-8", "address=x", 201, ""},
		{abstracts, "application/x-www-form-urlencoded; charset=latin1", "address=x", 415, notUTF8},
		{abstracts, "multipart/form-data", body, 400, ""},
		{abstracts, "multipart/form-data; boundary=", body, 400, ""},
		{abstracts, "multipart/mixed; boundary=XX", body, 415, ""},
		{abstracts, `Multipart/Form-Data; Boundary="XX"`, body, 201, ""},
		{upload, "multipart/form-data; charset=utf-8; boundary=XX", body, 201, ""},
		{upload, "application/x-www-form-urlencoded", "files=x", 415, `{"message":"The Content-Type must be multipart/form-data."}`},
		{upload, "", "", 422, invalidField("files", "The files field is required.")},
	} {
		t.Run(c.path+" "+c.header, func(t *testing.T) {
			r := call{as: "full", method: "POST", path: c.path, body: c.body, status: c.status, want: c.want}
			if c.header != "" {
				r.header = []string{"Content-Type: " + c.header}
			}
			srv.do(t, r)
		})
	}
	srv.do(t, call{as: "full", method: "POST", path: orders, header: []string{asJSON, asJSON}, body: number, status: 415, want: onlyJSON})
	srv.do(t, call{as: "full", method: "POST", path: orders, header: []string{asJSON, "Content-Encoding: gzip"}, body: number, status: 415})
	srv.do(t, call{as: "full", method: "POST", path: orders, header: []string{asJSON, "Content-Encoding: Identity"}, body: number,
		status: 201, want: bareOrder})
}

// An operation that has no query parameters ignores the query string, even if it is
// malformed.
func TestQueryIsIgnored(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	r := orderCall(`{"order_number":"T-1"}`, 201, bareOrder)
	r.path += "?order_number=other&x=%zz&;"
	srv.do(t, r)
}

// For each limit, a body at the limit is accepted. A body with one more byte or part is
// rejected.
func TestBodyLimits(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) {
		cfg.api.Limits.JSON, cfg.api.Limits.FormFields, cfg.api.Limits.Parts, cfg.api.Limits.RequestBody = 1000, 500, 5, 4000
	})
	json := func(n int) string { return `{"order_number":"T-1"}` + strings.Repeat(" ", n-22) }
	text := func(n int) string { return strings.Repeat("x", n) }
	form := func(n int) string {
		body := formBody(filePart("files", "a.txt", ""))
		return formBody(filePart("files", "a.txt", text(n-len(body))))
	}
	tooLarge := func(n string) string {
		return messageBody("The request body must not be larger than " + n + " bytes.")
	}
	five := []string{filePart("files", "1.txt", "x"), fieldPart("city", "x"), fieldPart("absent", "x"), filePart("files", "", ""),
		fieldPart("city", "x")}
	for _, c := range []struct {
		name, path, header, body string
		status                   int
		want                     string
	}{
		{"JSON at its limit", "/v1/orders", asJSON, json(1000), 201, bareOrder},
		{"JSON above", "/v1/orders", asJSON, json(1001), 413, tooLarge("1000")},
		{"urlencoded at its limit", "/v1/abstracts", asURL, "address=" + text(992), 201, ""},
		{"urlencoded above", "/v1/abstracts", asURL, "address=" + text(993), 413, tooLarge("1000")},
		{"fields at their limit", "/v1/abstracts", asForm,
			formBody(fieldPart("address", text(200)), filePart("files", "a.txt", text(900)), fieldPart("absent", text(300))), 201, ""},
		{"fields above", "/v1/abstracts", asForm, formBody(fieldPart("address", text(200)), fieldPart("city", text(301))), 413,
			messageBody("The request body has more than 500 bytes of fields.")},
		{"ignored parts count", "/v1/abstracts", asForm, formBody(fieldPart("absent", text(501))), 413,
			messageBody("The request body has more than 500 bytes of fields.")},
		{"parts at their limit", "/v1/abstracts", asForm, formBody(five...), 201, ""},
		{"parts above", "/v1/abstracts", asForm, formBody(append(five, fieldPart("city", "x"))...), 413,
			messageBody("The request body has more than 5 parts.")},
		{"form at its limit", "/v1/file-vault/upload", asForm, form(4000), 201, ""},
		{"form above", "/v1/file-vault/upload", asForm, form(4001), 413, tooLarge("4000")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call{as: "full", method: "POST", path: c.path, header: []string{c.header}, body: c.body, status: c.status, want: c.want}
			srv.do(t, r)
			r.header, r.body = append(r.header, "Transfer-Encoding: chunked"), chunkedBody(c.body, 300)
			srv.do(t, r)
		})
	}
	if n := srv.countFiles("tmp"); n != 0 {
		t.Errorf("files in tmp = %d, want 0", n)
	}
}
