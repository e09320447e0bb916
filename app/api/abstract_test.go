package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// abstractCall returns a call that creates an abstract with a multipart body. list contains
// the parts of the body.
func abstractCall(status int, want string, list ...string) call {
	return call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asForm}, body: formBody(list...), status: status,
		want: want}
}

const bareAbstract = `{"data":{"id":"ID","template_id":1,"status":"New","address":null,"city":null,"county":null,"state":null,` +
	`"tax_map":null,"custom_fields":{},"files":[],` +
	`"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"},"errors":[]}`

// If an abstract is created without files, its absent and empty fields get default values.
func TestAbstractWithoutFiles(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", status: 201, want: bareAbstract})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, status: 201, want: bareAbstract})
	srv.do(t, abstractCall(201, bareAbstract))
	srv.do(t, abstractCall(201, bareAbstract, fieldPart("template_id", " "), fieldPart("custom_fields", " [] "), fieldPart("address", "  "),
		fieldPart("absent", "x")))
	full := `{"data":{"id":"ID","template_id":1,"status":"New","address":"12 Elm & <Oak>","city":"Salem","county":"Essex",` +
		`"state":"MA","tax_map":"7-1",` +
		`"custom_fields":{"indices_searched":["UCC","Plats"],"search_type":"30 Year"},"files":[],` +
		`"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"},"errors":[]}`
	const custom = `{"search_type":"30 Year","indices_searched":["UCC","Plats","UCC"],"absent":{"x":1},"file_number":null}`
	srv.do(t, abstractCall(201, full, fieldPart("template_id", "1"), fieldPart("address", " 12 Elm & <Oak>\r\n"), fieldPart("city", "Salem"),
		fieldPart("county", "Essex"), fieldPart("state", "MA"), fieldPart("tax_map", "7-1"), fieldPart("custom_fields", custom)))
	pairs := url.Values{"template_id": {"1"}, "address": {" 12 Elm & <Oak> "}, "city": {"Salem"}, "county": {"Essex"},
		"state": {"MA"}, "tax_map": {"7-1"}, "custom_fields": {custom}}
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: pairs.Encode(), status: 201, want: full})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: "address=a&address=%zz", status: 400})
	r := abstractCall(201, "", fieldPart("template_id", "3"))
	r.has = []string{`"template_id":3,"status":null,`} // template 3 has no statuses
	srv.do(t, r)
}

// The abstract is created even if some of its files are rejected. Parts may arrive in any
// order. The response lists files and errors in that order.
func TestAbstractWithFiles(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	r := abstractCall(201, "", filePart("files[]", "z.pdf", pdf(3)), filePart("files[]", "empty.pdf", ""), fieldPart("city", "Salem"),
		filePart("files[]", "a.pdf", pdf(3)), filePart("files[]", "m.exe", "MZ"), fieldPart("template_id", "2"))
	r.has = []string{
		`"template_id":2,`, `"city":"Salem"`,
		`"files":[` + storedPDF(1, "z.pdf", "null", 3) + `,` + storedPDF(2, "a.pdf", "null", 3) + `]`,
		`"errors":[{"filename":"empty.pdf","error":"File is empty"},{"filename":"m.exe","error":"` + notSupported + `"}]`,
	}
	created := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, r))
	r = abstractCall(201, bareAbstract[:len(bareAbstract)-len(`"errors":[]}`)]+`"errors":[{"filename":"a.exe","error":"`+notSupported+
		`"}]}`, filePart("files", "a.exe", "MZ"))
	srv.do(t, r)

	get := call{as: "read", method: "GET", path: "/v1/abstracts/" + created.Data.ID, status: 200,
		has: []string{`{"data":{"id":"ID","template_id":2,`, `"filename":"z.pdf"`}}
	srv.do(t, get)
	srv.clock.Advance(time.Second)
	attach := call{as: "full", method: "POST", path: get.path + "/files", header: []string{asForm},
		body: formBody(filePart("files", "late.pdf", pdf(3)), filePart("files", "b.pdf", ""), fieldPart("city", "ignored")), status: 201,
		has: []string{`"id":2,`, `"filename":"late.pdf"`, `"city":"Salem"`,
			`"updated_at":"2026-05-29T04:00:01.000000Z"},"errors":[{"filename":"b.pdf","error":"File is empty"}]}`}}
	srv.do(t, attach)
	body := string(srv.do(t, get).body)
	if z, a, late := strings.Index(body, "z.pdf"), strings.Index(body, `"a.pdf`), strings.Index(body, "late.pdf"); z > a ||
		a > late || late < 0 {
		t.Errorf("files are out of order: %s", body)
	}
	attach.body, attach.status, attach.has, attach.want = formBody(fieldPart("city", "x")), 422, nil,
		invalidField("files", "The files field is required.")
	srv.do(t, attach)
	attach.body, attach.want = formBody(fieldPart("files", "x")), invalidField("files", "The files field must be a file.")
	srv.do(t, attach)
	attach.body, attach.status, attach.want, attach.has = formBody(filePart("files", "c.pdf", "")), 201, "",
		[]string{`"errors":[{"filename":"c.pdf","error":"File is empty"}]`}
	srv.do(t, attach)
}

// After a 422 response, there are no files in the data directory, regardless of the order
// of the parts.
func TestAbstractRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withAllFieldTypes)
	good := filePart("files[]", "a.pdf", pdf(1))
	selected := invalidField("template_id", "The selected template id is invalid.")
	integer := invalidField("template_id", "The template id field must be an integer.")
	for _, c := range []struct {
		name, want string
		list       []string
	}{
		{"template unknown", selected, []string{good, fieldPart("template_id", "99")}},
		{"template retired", selected, []string{fieldPart("template_id", "2"), good}},
		{"template 0", selected, []string{fieldPart("template_id", "0")}},
		{"template -1", selected, []string{fieldPart("template_id", "-1")}},
		{"template x", integer, []string{good, fieldPart("template_id", "x"), good}},
		{"template null", integer, []string{fieldPart("template_id", "null")}},
		{"template 1.0", integer, []string{fieldPart("template_id", "1.0")}},
		{"template 1e0", integer, []string{fieldPart("template_id", "1e0")}},
		{"not JSON", invalidField("custom_fields", "The custom fields field must be a valid JSON string."),
			[]string{good, fieldPart("custom_fields", "{a:1}")}},
		{"repeated key", invalidField("custom_fields", "The custom fields field must be a valid JSON string."),
			[]string{fieldPart("custom_fields", `{"a_text":"1","a_text":"1"}`)}},
		{"not an object", invalidField("custom_fields", "The custom fields field must be an array."),
			[]string{fieldPart("custom_fields", `"x"`), good}},
		{"a list", invalidField("custom_fields", "The custom fields field must be an array."), []string{fieldPart("custom_fields", `["x"]`)}},
		{"invalid UTF-8 in custom_fields", invalidField("custom_fields", "The custom fields field contains invalid characters."),
			[]string{fieldPart("custom_fields", "{\"a\":\"\xff\"}")}},
		{"outside the options", invalidField("custom_fields.a_dropdown", "The selected a dropdown is invalid."),
			[]string{good, fieldPart("custom_fields", `{"a_dropdown":"x"}`)}},
		{"NUL", invalidField("address", "The address field contains invalid characters."), []string{fieldPart("address", "a\x00b"), good}},
		{"invalid UTF-8", invalidField("address", "The address field contains invalid characters."), []string{fieldPart("address", "Z\xfcrich")}},
		{"long", invalidField("tax_map", "The tax map field must not be greater than 2000 characters."),
			[]string{fieldPart("tax_map", strings.Repeat("é", 2001)), good}},
		{"several errors, in order", `{"message":"The template id field must be an integer. (and 3 more errors)","errors":{` +
			`"template_id":["The template id field must be an integer."],"custom_fields":["The custom fields field must be an array."],` +
			`"city":["The city field contains invalid characters."],"files":["The files field must be a file."]}}`,
			[]string{good, fieldPart("files", "x"), fieldPart("city", "\x00"), fieldPart("custom_fields", "7"), fieldPart("template_id", "x")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv.do(t, abstractCall(422, c.want, c.list...))
			srv.checkNothingStored(t)
		})
	}
}

// An ID is valid only for its own record type and only if it is spelled exactly as issued.
func TestAbstractUnknown(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	id := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, abstractCall(201, bareAbstract))).Data.ID
	other := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, orderCall(`{"order_number":"T"}`, 201, ""))).Data.ID
	srv.do(t, call{as: "full", method: "GET", path: "/v1/abstracts/" + id, status: 200})
	swapped := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 32
		case 'A' <= r && r <= 'Z':
			return r + 32
		}
		return r
	}, id)
	for _, unknown := range []string{other, swapped, id + "0", id[1:], "0" + id, "1", "%20" + id, strings.Repeat("z", len(id)),
		strings.Repeat("0", 500), id + "%0A"} {
		srv.do(t, call{as: "full", method: "GET", path: "/v1/abstracts/" + unknown, status: 404, want: messageBody("Not found.")})
		srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts/" + unknown + "/files", header: []string{asForm},
			body: formBody(filePart("files", "a.pdf", pdf(1))), status: 404, want: messageBody("Not found.")})
	}
	// If an ID is valid but its abstract does not exist, the server responds 404 before it
	// reads the body.
	missing := "/v1/abstracts/" + srv.vault.Secrets.IDs("abstracts").Encode(99)
	srv.do(t, call{as: "full", method: "GET", path: missing, status: 404, want: messageBody("Not found.")})
	srv.do(t, call{as: "full", method: "POST", path: missing + "/files", header: []string{asJSON}, body: "{", status: 404,
		want: messageBody("Not found.")})
	srv.checkNothingStored(t)
}

// If there are too many files, the abstract is still created, and the excess files are
// rejected.
func TestAbstractTooManyFiles(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.vault.Settings.FilesPerRequest = 3 })
	var list []string
	for i := range 5 {
		list = append(list, filePart("files[]", fmt.Sprintf("%d.pdf", i), pdf(1)))
	}
	r := abstractCall(201, "", append(list, fieldPart("city", "Salem"))...)
	r.has = []string{`"city":"Salem"`, `"filename":"2.pdf"`,
		`"errors":[{"filename":"3.pdf","error":"Too many files in one request"},{"filename":"4.pdf","error":"Too many files in one request"}]`}
	srv.do(t, r)
}
