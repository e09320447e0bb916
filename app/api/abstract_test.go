package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

func abstract(status int, want string, list ...string) row {
	return row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asForm}, body: parts(list...), status: status, want: want}
}

const bareAbstract = `{"data":{"id":"ID","template_id":1,"status":"New","address":null,"city":null,"county":null,"state":null,"tax_map":null,"custom_fields":{},"files":[],` +
	`"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"},"errors":[]}`

// Rule 1 of SPEC.md, and every way to send nothing.
func TestAbstractWithoutFiles(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", status: 201, want: bareAbstract})
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, status: 201, want: bareAbstract})
	h.ask(t, abstract(201, bareAbstract))
	h.ask(t, abstract(201, bareAbstract, field("template_id", " "), field("custom_fields", " [] "), field("address", "  "), field("nobody", "x")))
	full := `{"data":{"id":"ID","template_id":1,"status":"New","address":"12 Elm & <Oak>","city":"Salem","county":"Essex","state":"MA","tax_map":"7-1",` +
		`"custom_fields":{"indices_searched":["UCC","Plats"],"search_type":"30 Year"},"files":[],"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"},"errors":[]}`
	const custom = `{"search_type":"30 Year","indices_searched":["UCC","Plats","UCC"],"nobody":{"x":1},"file_number":null}`
	h.ask(t, abstract(201, full, field("template_id", "1"), field("address", " 12 Elm & <Oak>\r\n"), field("city", "Salem"), field("county", "Essex"), field("state", "MA"), field("tax_map", "7-1"), field("custom_fields", custom)))
	pairs := url.Values{"template_id": {"1"}, "address": {" 12 Elm & <Oak> "}, "city": {"Salem"}, "county": {"Essex"}, "state": {"MA"}, "tax_map": {"7-1"}, "custom_fields": {custom}}
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: pairs.Encode(), status: 201, want: full})
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: "address=a&address=%zz", status: 400})
	r := abstract(201, "", field("template_id", "3"))
	r.has = []string{`"template_id":3,"status":null,`} // statuses are off there
	h.ask(t, r)
}

// Rules 2 and 3: the abstract is created whatever becomes of its files, in any
// order of parts, and both lists keep the order sent.
func TestAbstractWithFiles(t *testing.T) {
	t.Parallel()
	h := open(t)
	r := abstract(201, "", file("files[]", "z.pdf", pdf(3)), file("files[]", "empty.pdf", ""), field("city", "Salem"), file("files[]", "a.pdf", pdf(3)), file("files[]", "m.exe", "MZ"), field("template_id", "2"))
	r.has = []string{
		`"template_id":2,`, `"city":"Salem"`,
		`"files":[` + storedPDF(1, "z.pdf", "null", 3) + `,` + storedPDF(2, "a.pdf", "null", 3) + `]`,
		`"errors":[{"filename":"empty.pdf","error":"File is empty"},{"filename":"m.exe","error":"` + notSupported + `"}]`,
	}
	made := decode[struct{ Data struct{ ID string } }](t, h.ask(t, r))
	r = abstract(201, bareAbstract[:len(bareAbstract)-len(`"errors":[]}`)]+`"errors":[{"filename":"a.exe","error":"`+notSupported+`"}]}`, file("files", "a.exe", "MZ"))
	h.ask(t, r)

	get := row{as: "read", method: "GET", path: "/v1/abstracts/" + made.Data.ID, status: 200, has: []string{`{"data":{"id":"ID","template_id":2,`, `"filename":"z.pdf"`}}
	h.ask(t, get)
	h.clock.Advance(time.Second)
	attach := row{as: "full", method: "POST", path: get.path + "/files", header: []string{asForm}, body: parts(file("files", "late.pdf", pdf(3)), file("files", "b.pdf", ""), field("city", "ignored")), status: 201,
		has: []string{`"id":2,`, `"filename":"late.pdf"`, `"city":"Salem"`, `"updated_at":"2026-05-29T04:00:01.000000Z"},"errors":[{"filename":"b.pdf","error":"File is empty"}]}`}}
	h.ask(t, attach)
	body := string(h.ask(t, get).body)
	if z, a, late := strings.Index(body, "z.pdf"), strings.Index(body, `"a.pdf`), strings.Index(body, "late.pdf"); z > a || a > late || late < 0 {
		t.Errorf("order of %s", body)
	}
	attach.body, attach.status, attach.has, attach.want = parts(field("city", "x")), 422, nil, invalid("files", "The files field is required.")
	h.ask(t, attach)
	attach.body, attach.want = parts(field("files", "x")), invalid("files", "The files field must be a file.")
	h.ask(t, attach)
	attach.body, attach.status, attach.want, attach.has = parts(file("files", "c.pdf", "")), 201, "", []string{`"errors":[{"filename":"c.pdf","error":"File is empty"}]`}
	h.ask(t, attach)
}

// A 422 leaves not one byte behind, wherever the files stood.
func TestAbstractRefused(t *testing.T) {
	t.Parallel()
	h := open(t, kinds)
	good := file("files[]", "a.pdf", pdf(1))
	selected := invalid("template_id", "The selected template id is invalid.")
	integer := invalid("template_id", "The template id field must be an integer.")
	for _, c := range []struct {
		name, want string
		list       []string
	}{
		{"template unknown", selected, []string{good, field("template_id", "99")}},
		{"template retired", selected, []string{field("template_id", "2"), good}},
		{"template 0", selected, []string{field("template_id", "0")}},
		{"template -1", selected, []string{field("template_id", "-1")}},
		{"template x", integer, []string{good, field("template_id", "x"), good}},
		{"template null", integer, []string{field("template_id", "null")}},
		{"template 1.0", integer, []string{field("template_id", "1.0")}},
		{"template 1e0", integer, []string{field("template_id", "1e0")}},
		{"no JSON", invalid("custom_fields", "The custom fields field must be a valid JSON string."), []string{good, field("custom_fields", "{a:1}")}},
		{"repeated key", invalid("custom_fields", "The custom fields field must be a valid JSON string."), []string{field("custom_fields", `{"a_text":"1","a_text":"1"}`)}},
		{"no map", invalid("custom_fields", "The custom fields field must be an array."), []string{field("custom_fields", `"x"`), good}},
		{"a list", invalid("custom_fields", "The custom fields field must be an array."), []string{field("custom_fields", `["x"]`)}},
		{"custom_fields no text", invalid("custom_fields", "The custom fields field contains invalid characters."), []string{field("custom_fields", "{\"a\":\"\xff\"}")}},
		{"outside the options", invalid("custom_fields.a_dropdown", "The selected a dropdown is invalid."), []string{good, field("custom_fields", `{"a_dropdown":"x"}`)}},
		{"NUL", invalid("address", "The address field contains invalid characters."), []string{field("address", "a\x00b"), good}},
		{"invalid UTF-8", invalid("address", "The address field contains invalid characters."), []string{field("address", "Z\xfcrich")}},
		{"long", invalid("tax_map", "The tax map field must not be greater than 2000 characters."), []string{field("tax_map", strings.Repeat("é", 2001)), good}},
		{"all of them, in order", `{"message":"The template id field must be an integer. (and 3 more errors)","errors":{` +
			`"template_id":["The template id field must be an integer."],"custom_fields":["The custom fields field must be an array."],` +
			`"city":["The city field contains invalid characters."],"files":["The files field must be a file."]}}`,
			[]string{good, field("files", "x"), field("city", "\x00"), field("custom_fields", "7"), field("template_id", "x")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.ask(t, abstract(422, c.want, c.list...))
			h.nothingStored(t)
		})
	}
}

// An id is of one installation and one noun, and nothing else is one.
func TestAbstractUnknown(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := decode[struct{ Data struct{ ID string } }](t, h.ask(t, abstract(201, bareAbstract))).Data.ID
	other := decode[struct{ Data struct{ ID string } }](t, h.ask(t, order(`{"order_number":"T"}`, 201, ""))).Data.ID
	h.ask(t, row{as: "full", method: "GET", path: "/v1/abstracts/" + id, status: 200})
	swapped := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 32
		case 'A' <= r && r <= 'Z':
			return r + 32
		}
		return r
	}, id)
	for _, unknown := range []string{other, swapped, id + "0", id[1:], "0" + id, "1", "%20" + id, strings.Repeat("z", len(id)), strings.Repeat("0", 500), id + "%0A"} {
		h.ask(t, row{as: "full", method: "GET", path: "/v1/abstracts/" + unknown, status: 404, want: says("Not found.")})
		h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts/" + unknown + "/files", header: []string{asForm}, body: parts(file("files", "a.pdf", pdf(1))), status: 404, want: says("Not found.")})
	}
	// A well-formed id of no abstract: said before the body is looked at.
	free := "/v1/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(99)
	h.ask(t, row{as: "full", method: "GET", path: free, status: 404, want: says("Not found.")})
	h.ask(t, row{as: "full", method: "POST", path: free + "/files", header: []string{asJSON}, body: "{", status: 404, want: says("Not found.")})
	h.nothingStored(t)
}

// 101 files with an abstract: one too many, and the abstract stands.
func TestAbstractTooManyFiles(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) { s.vault.Settings.FilesPerRequest = 3 })
	var list []string
	for i := range 5 {
		list = append(list, file("files[]", fmt.Sprintf("%d.pdf", i), pdf(1)))
	}
	r := abstract(201, "", append(list, field("city", "Salem"))...)
	r.has = []string{`"city":"Salem"`, `"filename":"2.pdf"`, `"errors":[{"filename":"3.pdf","error":"Too many files in one request"},{"filename":"4.pdf","error":"Too many files in one request"}]`}
	h.ask(t, r)
}
