package api_test

import (
	"strings"
	"testing"
)

// titleWorkServer is a server with an abstract, whose documents are a PDF with 3 pages (file 1) and a text (file 2), and whose
// instruments are a mortgage (1) and its release (2). File 3 and instrument 3 belong to another abstract.
func titleWorkServer(t *testing.T) (srv *testServer, path string) {
	t.Helper()
	srv = newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", filePart("files", "deed.pdf", pdf(3)), filePart("files", "legal.txt", "Lot 4")))
	other := srv.createID(t, abstractCall(201, "", filePart("files", "deed.pdf", pdf(2))))
	srv.createInstrument(t, abstract, `{"type":"Mortgage"}`)
	srv.createInstrument(t, abstract, `{"type":"Release or Satisfaction","relations":[{"kind":"releases","instrument_id":1}]}`)
	srv.createInstrument(t, other, `{}`)
	return srv, "/abstracts/" + abstract
}

// An invalid field is named in a 422, on creation and on change, and nothing is stored.
func TestInstrumentInvalidFields(t *testing.T) {
	t.Parallel()
	srv, path := titleWorkServer(t)
	names := func(n int) string { return `["x"` + strings.Repeat(`,"x"`, n-1) + `]` }
	before := srv.do(t, call{as: "read", method: "GET", path: "/v1" + path + "/instruments", status: 200})
	for _, row := range []struct{ name, body, field string }{
		{"unknown type", `{"type":"Deed of Gift"}`, "type"},
		{"unknown type ID", `{"type_id":999}`, "type_id"},
		{"type ID is text", `{"type_id":"deed"}`, "type_id"},
		{"impossible recording date", `{"recorded":"2026-02-30"}`, "recorded"},
		{"impossible date", `{"dated":"2026-13-01"}`, "dated"},
		{"date in words", `{"expires":"tomorrow"}`, "expires"},
		{"impossible clearing date", `{"cleared":"0000-00-00"}`, "cleared"},
		{"impossible time", `{"recorded_time":"25:00"}`, "recorded_time"},
		{"amount that isn't a number", `{"consideration":"one dollar"}`, "consideration"},
		{"amount is a list", `{"consideration":[1]}`, "consideration"},
		{"unknown status", `{"status":"paid"}`, "status"},
		{"unknown recording system", `{"recording_system":"verbal"}`, "recording_system"},
		{"last page without a first", `{"page_to":"9","page":null}`, "page_to"},
		{"pages that don't parse", `{"documents":[{"file_id":1,"pages":"two"}]}`, "documents.0.pages"},
		{"pages backward", `{"documents":[{"file_id":1,"pages":"3-2"}]}`, "documents.0.pages"},
		{"page 0", `{"documents":[{"file_id":1,"pages":"0"}]}`, "documents.0.pages"},
		{"pages beyond the document", `{"documents":[{"file_id":1},{"file_id":1,"pages":"1-4"}]}`, "documents.1.pages"},
		{"pages of a document without pages", `{"documents":[{"file_id":2,"pages":"1"}]}`, "documents.0.pages"},
		{"document of another abstract", `{"documents":[{"file_id":3}]}`, "documents.0.file_id"},
		{"unknown document", `{"documents":[{"file_id":99}]}`, "documents.0.file_id"},
		{"link without a document", `{"documents":[{"pages":"1"}]}`, "documents.0.file_id"},
		{"link is a number", `{"documents":[1]}`, "documents.0"},
		{"relation to an instrument of another abstract", `{"relations":[{"kind":"assigns","instrument_id":3}]}`, "relations.0.instrument_id"},
		{"relation to an unknown instrument", `{"relations":[{"kind":"assigns","instrument_id":99}]}`, "relations.0.instrument_id"},
		{"relation without a target", `{"relations":[{"kind":"assigns"}]}`, "relations.0.instrument_id"},
		{"relation of an unknown kind", `{"relations":[{"kind":"cancels","instrument_id":2}]}`, "relations.0.kind"},
		{"relation without a kind", `{"relations":[{"instrument_id":2}]}`, "relations.0.kind"},
		{"party without a name", `{"other_parties":[{"role":"Trustee"}]}`, "other_parties.0.name"},
		{"51 grantors", `{"grantors":` + names(51) + `}`, "grantors"},
		{"51 grantees", `{"grantees":` + names(51) + `}`, "grantees"},
		{"51 parcels", `{"parcels":` + names(51) + `}`, "parcels"},
		{"grantors is an object", `{"grantors":{"name":"x"}}`, "grantors"},
		{"long name", `{"grantors":["` + strings.Repeat("é", 256) + `"]}`, "grantors"},
		{"long number", `{"instrument_number":"` + strings.Repeat("1", 65) + `"}`, "instrument_number"},
		{"long book", `{"book":"` + strings.Repeat("1", 65) + `"}`, "book"},
		{"long county", `{"county":"` + strings.Repeat("c", 2001) + `"}`, "county"},
		{"long remarks", `{"remarks":"` + strings.Repeat("r", 65_536) + `"}`, "remarks"},
		{"position 0", `{"position":0}`, "position"},
		{"position is text", `{"position":"first"}`, "position"},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv.do(t, jsonCall("POST", path+"/instruments", row.body, 422).withHas(`"`+row.field+`":[`))
			srv.do(t, jsonCall("PATCH", "/instruments/1", row.body, 422).withHas(`"`+row.field+`":[`))
		})
	}
	for name, body := range map[string]string{"itself": `{"relations":[{"kind":"references","instrument_id":1}]}`,
		"its release": `{"relations":[{"kind":"releases","instrument_id":2}]}`} {
		t.Run("relation to "+name, func(t *testing.T) {
			srv.do(t, jsonCall("PATCH", "/instruments/1", body, 422).withHas(`"relations.0.instrument_id":[`))
		})
	}
	srv.do(t, jsonCall("POST", path+"/instruments", `{"book":"1","book":"2"}`, 400))
	srv.do(t, call{as: "read", method: "GET", path: "/v1" + path + "/instruments", status: 200, want: string(before.body)})
	srv.do(t, jsonCall("POST", path+"/instruments", `{"grantors":`+names(50)+`}`, 201))
	stale := jsonCall("PATCH", "/instruments/1", `{"book":"2"}`, 412)
	stale.header = append(stale.header, `If-Match: "old"`)
	srv.do(t, stale)
	srv.vaultIsIntact(t)
}

// Every change of the title work needs the ability to write and an existing record.
func TestTitleWorkAccess(t *testing.T) {
	t.Parallel()
	srv, path := titleWorkServer(t)
	srv.do(t, jsonCall("POST", path+"/notes", `{"text":"x"}`, 201))
	for _, row := range []struct{ method, path, body string }{
		{"POST", path + "/instruments", `{}`},
		{"PUT", path + "/instruments/sequence", `{"instruments":[2,1]}`},
		{"PATCH", "/instruments/1", `{"book":"1"}`},
		{"DELETE", "/instruments/1", ""},
		{"POST", "/instruments/1/restore", ""},
		{"PUT", path + "/order", `{"order_id":null}`},
		{"DELETE", path + "/order", ""},
		{"PUT", path + "/assignment", `{}`},
		{"PUT", path + "/names-run", `{"rows":[]}`},
		{"PUT", path + "/requirements", `{"rows":[]}`},
		{"POST", path + "/certificate", `{"effective_date":"2026-05-01"}`},
		{"POST", path + "/bring-down", ""},
		{"POST", path + "/notes", `{"text":"x"}`},
		{"PATCH", "/notes/1", `{"text":"y"}`},
		{"DELETE", "/notes/1", ""},
	} {
		t.Run(row.method+" "+strings.ReplaceAll(row.path, path, "/abstracts/x"), func(t *testing.T) {
			r := jsonCall(row.method, row.path, row.body, 403)
			if row.body == "" {
				r.header = nil
			}
			for _, as := range []string{"read", "events"} {
				r.as = as
				srv.do(t, r)
			}
			r.as, r.status = "", 401
			srv.do(t, r)
			r.as, r.status = "full", 404
			for _, id := range []string{path, "/instruments/1", "/notes/1"} {
				r.path = strings.Replace(r.path, id, id[:strings.LastIndex(id, "/")]+"/99999999", 1)
			}
			srv.do(t, r)
		})
	}
	srv.vaultIsIntact(t)
}

// A repeated POST with an Idempotency-Key returns the first response and creates nothing; with another body, it is rejected.
func TestTitleWorkReplays(t *testing.T) {
	t.Parallel()
	srv, path := titleWorkServer(t)
	for _, row := range []struct{ path, body, other string }{
		{"/instruments", `{"book":"1"}`, `{"book":"2"}`},
		{"/certificate", `{"effective_date":"2026-05-01"}`, `{"effective_date":"2026-05-02"}`},
		{"/bring-down", `{}`, `{"x":1}`},
		{"/notes", `{"text":"x"}`, `{"text":"y"}`},
	} {
		t.Run(row.path, func(t *testing.T) {
			r := jsonCall("POST", path+row.path, row.body, 201)
			r.header = append(r.header, "Idempotency-Key: one"+row.path)
			first := srv.do(t, r)
			r.headers = map[string]string{"Idempotent-Replayed": "true"}
			if again := srv.do(t, r); string(again.body) != string(first.body) {
				t.Errorf("replayed body = %s, want %s", again.body, first.body)
			}
			r.headers, r.body, r.status = nil, row.other, 422
			srv.do(t, r)
		})
	}
	srv.vaultIsIntact(t)
}
