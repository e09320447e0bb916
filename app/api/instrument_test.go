package api_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"deedkeep/app/vaulttest"
)

// jsonCall returns a call with the full-access key and a JSON body. path is without /v1.
func jsonCall(method, path, body string, status int) call {
	return call{as: "full", method: method, path: "/v1" + path, header: []string{asJSON}, body: body, status: status}
}

// instrumentData contains the parts of an instrument that the tests look at.
type instrumentData struct {
	ID                    int64
	Type                  *string
	County                *string
	Consideration, Status string
	Position              int64
	Grantors              []string
}

// runsheet returns the instruments of an abstract in sequence and its gaps as "ID name".
func (srv *testServer) runsheet(t *testing.T, abstract string) (ids []int64, statuses, gaps []string) {
	t.Helper()
	body := decodeBody[struct {
		Data []instrumentData
		Gaps []struct {
			After int64
			Name  string
		}
	}](t, srv.do(t, call{as: "read", method: "GET", path: "/v1/abstracts/" + abstract + "/runsheet", status: 200}))
	for n, i := range body.Data {
		if i.Position != int64(n+1) {
			t.Errorf("position of instrument %d = %d, want %d", i.ID, i.Position, n+1)
		}
		ids, statuses = append(ids, i.ID), append(statuses, i.Status)
	}
	for _, gap := range body.Gaps {
		gaps = append(gaps, fmt.Sprint(gap.After, " ", gap.Name))
	}
	return ids, statuses, gaps
}

func (srv *testServer) createInstrument(t *testing.T, abstract, body string) instrumentData {
	t.Helper()
	return decodeBody[struct{ Data instrumentData }](t, srv.do(t, jsonCall("POST", "/abstracts/"+abstract+"/instruments", body, 201))).Data
}

// The chain of an abstract: two deeds with a gap, a mortgage, and its satisfaction.
func TestRunsheet(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Wexcombe"), filePart("files", "deed.pdf", pdf(3))))
	first := srv.createInstrument(t, abstract, `{"type":"Warranty Deed","recorded":"2001-05-02","book":1022,"page":"311","grantors":["Amos Reed"],
		"grantees":["Bea Cole"],"documents":[{"file_id":1,"pages":"2-3"}],"consideration":"$120,000"}`)
	if *first.Type != "Warranty Deed" || *first.County != "Wexcombe" || first.Consideration != "120000.00" || first.Status != "not_applicable" {
		t.Errorf("created %+v, want a warranty deed in Wexcombe over 120000.00", first)
	}
	mortgage := srv.createInstrument(t, abstract, `{"type":"mortgage","recorded":"2001-05-02","book":"1022","page":"314","grantors":["Bea Cole"],
		"grantees":["First Bank"]}`)
	last := srv.createInstrument(t, abstract, `{"type":"Quitclaim Deed","recorded":"2019-04-17","grantors":["Dora Finch"],"grantees":["Carl Diaz"]}`)
	ids, statuses, gaps := srv.runsheet(t, abstract)
	if want := []int64{first.ID, mortgage.ID, last.ID}; !slices.Equal(ids, want) {
		t.Errorf("runsheet = %v, want %v", ids, want)
	}
	if want := []string{"not_applicable", "open", "not_applicable"}; !slices.Equal(statuses, want) {
		t.Errorf("statuses = %v, want %v", statuses, want)
	}
	if want := []string{fmt.Sprint(first.ID, " Dora Finch")}; !slices.Equal(gaps, want) {
		t.Errorf("gaps = %q, want %q", gaps, want)
	}
	release := srv.createInstrument(t, abstract, fmt.Sprintf(`{"type":"Release or Satisfaction","recorded":"2010-01-05","position":1,
		"relations":[{"kind":"releases","instrument_id":%d}]}`, mortgage.ID))
	ids, statuses, _ = srv.runsheet(t, abstract)
	if want := []int64{release.ID, first.ID, mortgage.ID, last.ID}; !slices.Equal(ids, want) || statuses[2] != "released" {
		t.Errorf("runsheet = %v %v, want %v with the mortgage released", ids, statuses, want)
	}
	path := fmt.Sprint("/instruments/", mortgage.ID)
	srv.do(t, jsonCall("PATCH", path, `{"status":"open"}`, 200).withHas(`"status":"open"`, `"status_set_by":{"kind":"key"`))
	srv.do(t, jsonCall("PATCH", path, `{"status":null}`, 200).withHas(`"status":"released"`, `"status_set_by":null`))
	srv.do(t, jsonCall("PATCH", path, `{"position":1}`, 200).withHas(`"position":1`))
	srv.do(t, jsonCall("PUT", "/abstracts/"+abstract+"/instruments/sequence",
		fmt.Sprintf(`{"instruments":[%d,%d,%d,%d]}`, first.ID, mortgage.ID, release.ID, last.ID), 200))
	for name, list := range map[string]string{"one missing": "1,2,3", "one twice": "1,2,3,3", "unknown": "1,2,3,99",
		"not a number": `1,2,3,"x"`} {
		t.Run("sequence with "+name, func(t *testing.T) {
			srv.do(t, jsonCall("PUT", "/abstracts/"+abstract+"/instruments/sequence", `{"instruments":[`+list+`]}`, 422))
		})
	}
	sheet := srv.do(t, call{as: "read", method: "GET", path: "/v1/abstracts/" + abstract + "/runsheet.csv", status: 200,
		media: "text/csv; charset=utf-8",
		has:   []string{"\ufeffNo.,Type,", "1,Warranty Deed,,,1022,311,,2001-05-02,", "releases 2"}})
	if lines := strings.Count(string(sheet.body), "\n"); lines != 5 {
		t.Errorf("runsheet.csv has %d lines, want 5", lines)
	}
	srv.do(t, call{as: "read", method: "GET", path: "/v1/abstracts/" + abstract + "/runsheet.xlsx", status: 200, media: mediaExcel})
	// The release goes to the trash, so the mortgage is open again.
	srv.do(t, call{as: "full", method: "DELETE", path: fmt.Sprint("/v1/instruments/", release.ID), status: 204})
	ids, statuses, _ = srv.runsheet(t, abstract)
	if want := []int64{first.ID, mortgage.ID, last.ID}; !slices.Equal(ids, want) || statuses[1] != "open" {
		t.Errorf("runsheet = %v %v, want %v with the mortgage open", ids, statuses, want)
	}
	srv.do(t, call{as: "full", method: "POST", path: fmt.Sprint("/v1/instruments/", release.ID, "/restore"), status: 200})
	// Instruments go to the trash and back with their abstract, and don't change it.
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/abstracts/" + abstract, status: 204})
	srv.do(t, call{as: "full", method: "GET", path: "/v1" + path, status: 404})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts/" + abstract + "/restore", status: 200})
	srv.do(t, call{as: "full", method: "GET", path: "/v1" + path, status: 200})
	srv.vaultIsIntact(t)
}

func TestInstrumentsOfAllAbstracts(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	positions := map[int64]int64{1: 1, 2: 1, 3: 1}
	for n := range 3 {
		abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", []string{"Essex", "Kent", "Essex"}[n])))
		srv.createInstrument(t, abstract, fmt.Sprintf(`{"type":"Mortgage","book":"0%d","page":"7","instrument_number":"2019-00%d","recorded":"20%02d-06-15",
			"grantees":["First Bank of %d"]}`, 1000+n, n, 10+n, n))
	}
	// A deed that is recorded earlier moves the mortgage of its abstract down.
	kent := decodeBody[struct {
		Data struct {
			Abstract string `json:"abstract_id"`
		}
	}](t, srv.do(t, call{as: "read", method: "GET", path: "/v1/instruments/2", status: 200})).Data.Abstract
	srv.createInstrument(t, kent, `{"type":"Survey","recorded":"1998-02-01","state":"OH"}`)
	positions[4], positions[2] = 1, 2
	srv.waitForIndex(t)
	for _, row := range []struct {
		query string
		want  string
	}{
		{"", "4 3 2 1"},
		{"sort=recorded", "4 1 2 3"},
		{"county=essex", "3 1"},
		{"book=1001&page=07", "2"},
		{"instrument_number=2019-2", ""},
		{"instrument_number=2019002", "3"},
		{"party=bank+of+1", "2"},
		{"party=BANK,+first", "3 2 1"},
		{"party=first&county=Essex&type_id=7", "3 1"},
		{"party=first&per_page=2", "3 2"},
		{"party=firs", ""},
		{"q=1001/07", "2"},
		{"q=1001/7&party=first", "2"},
		{"q=mortgage&state=NY", ""},
		{"q=mortgage&status=open&recorded_from=2011-01-01", "3 2"},
		{"q=mortgage&status=released", ""},
		{"party=first&book=1001&page=7", "2"},
		{"party=first&instrument_number=2019002&recorded_to=2012-12-31", "3"},
		{"recorded_from=2011-01-01&recorded_to=2011-12-31", "2"},
		{"status=open", "3 2 1"},
		{"status=released", ""},
		{"type_id=7", "3 2 1"},
		{"type_id=1", ""},
	} {
		t.Run(row.query, func(t *testing.T) {
			body := decodeBody[struct{ Data []instrumentData }](t, srv.do(t, call{as: "read", method: "GET", path: "/v1/instruments?" + row.query,
				status: 200}))
			var ids []string
			for _, i := range body.Data {
				ids = append(ids, fmt.Sprint(i.ID))
				if i.Position != positions[i.ID] {
					t.Errorf("position of instrument %d = %d, want %d as in its runsheet", i.ID, i.Position, positions[i.ID])
				}
			}
			if got := strings.Join(ids, " "); got != row.want {
				t.Errorf("instruments = %s, want %s", got, row.want)
			}
		})
	}
	srv.do(t, call{as: "read", method: "GET", path: "/v1/instruments?recorded_from=yesterday", status: 422})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/instruments?status=paid", status: 422})
	for query, want := range map[string]string{
		"party=first&sort=recorded":   "The sort field cannot be combined with party.",
		"party=,":                     "The party field must have at least one word and at most 32.",
		"q=first&recorded_to=2011-12": "The recorded to field must match the format Y-m-d.",
	} {
		srv.do(t, call{as: "read", method: "GET", path: "/v1/instruments?" + query, status: 422, has: []string{want}})
	}
	// The cursors lead through all pages of a search and back.
	type list struct {
		Data []instrumentData
		Meta struct {
			NextCursor *string `json:"next_cursor"`
			Index      *struct{ Complete bool }
		}
	}
	got := decodeBody[list](t, srv.do(t, call{as: "read", method: "GET", path: "/v1/instruments?party=first&per_page=2", status: 200}))
	if got.Meta.NextCursor == nil || got.Meta.Index == nil || !got.Meta.Index.Complete {
		t.Fatalf("meta = %+v, want a next page and a complete index", got.Meta)
	}
	got = decodeBody[list](t, srv.do(t, call{as: "read", method: "GET",
		path: "/v1/instruments?party=first&per_page=2&cursor=" + *got.Meta.NextCursor, status: 200}))
	if len(got.Data) != 1 || got.Data[0].ID != 1 || got.Meta.NextCursor != nil {
		t.Errorf("second page = %+v, want instrument 1", got)
	}
}

// Searches return instruments with the abstract that they belong to.
func TestSearchInstruments(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Essex")))
	srv.createInstrument(t, abstract, `{"type":"Warranty Deed","book_type":"Deed Book","book":"2417","page":"0883","state":"NH",
		"grantors":["Elm Holdings LLC"],"grantees":["Quill, Ada"]}`)
	srv.waitForIndex(t)
	const found = `"kind":"instrument","id":1,"heading":"Warranty Deed · Deed Book 2417, Page 0883 · Elm Holdings LLC to Quill, Ada","snippet":"`
	for _, query := range []string{"q=2417/0883", "q=2417/0883&kind=instrument", "q=2417/0883&county=essex&state=nh"} {
		r := getList("/v1/search?" + query)
		r.has = []string{found, `,"page":null,"abstract":{"id":"ID","heading":`, `},"match":"exact","score":`,
			`,"abstract_id":"` + abstract + `"}]`}
		srv.do(t, r)
	}
	for _, query := range []string{"q=2417/0883&kind=file", "q=2417/0883&county=kent", "q=2417/0883&kind=instrument&template_id=1"} {
		srv.checkSearch(t, query)
	}
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/abstracts/" + abstract, status: 204})
	srv.checkSearch(t, "q=2417/0883")
}

func TestTitleWork(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, ""))
	order := srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, ""))
	path := "/abstracts/" + abstract
	srv.do(t, jsonCall("PUT", path+"/order", `{"order_id":"`+order+`"}`, 200).withHas(`"order_id":"`+order+`"`))
	srv.do(t, call{as: "read", method: "GET", path: "/v1/orders/" + order + "/abstracts", status: 200,
		has: []string{`{"data":[{"id":"ID","template_id":1,`}})
	srv.do(t, jsonCall("PUT", path+"/order", `{"order_id":"nowhere0"}`, 422))
	srv.do(t, jsonCall("PUT", path+"/order", `{"order_id":7}`, 422))
	srv.do(t, jsonCall("PUT", path+"/assignment", `{"searcher":99}`, 422).withHas(`"searcher":[`))
	srv.do(t, jsonCall("PUT", path+"/assignment", `{"due_date":"2026-13-01"}`, 422).withHas(`"due_date":[`))
	t.Run("nothing to replace it with", func(t *testing.T) { replaceWithNothing(t, srv, path) })
	assigned := srv.do(t, jsonCall("PUT", path+"/assignment", `{"due_date":"2026-12-01"}`, 200).withHas(`"due_date":"2026-12-01"`))
	srv.do(t, jsonCall("PUT", path+"/names-run", `{"rows":[{"name":"Cole, Bea","from":"1990-01-01","to":"2026-11-01","indexes":["Grantor/Grantee"]}]}`,
		200).withHas(`"name":"Cole, Bea"`))
	// Each part has a version of its own.
	again := jsonCall("PUT", path+"/assignment", `{"due_date":"2026-12-02"}`, 200)
	again.header = append(again.header, "If-Match: "+assigned.Header.Get("ETag"))
	srv.do(t, again)
	again.status = 412
	srv.do(t, again)
	srv.do(t, jsonCall("PUT", path+"/names-run", `{"rows":[{"from":"1990-01-01"}]}`, 422).withHas(`"rows.0.name":[`))
	srv.do(t, jsonCall("PUT", path+"/names-run", `{"rows":[{"name":"x","from":"2001-01-01","to":"2000-01-01"}]}`,
		422).withHas(`"rows.0.to":[`))
	srv.createInstrument(t, abstract, `{"exception":"Easement of record","cleared":"2026-11-01"}`)
	srv.do(t, jsonCall("PUT", path+"/requirements", `{"rows":[{"kind":"requirement","text":"Pay taxes"},{"source":"instrument","text":""}]}`,
		200).
		withHas(`"text":"Pay taxes"`, `"source":"abstract"`, `"text":"Easement of record"`, `"source":"instrument"`))
	for _, row := range []string{`{"text":"Pay taxes"}`, `{"text":"Pay taxes","kind":" "}`, `{"text":"Pay taxes","kind":"wish"}`} {
		srv.do(t, jsonCall("PUT", path+"/requirements", `{"rows":[`+row+`]}`, 422).withHas(`"rows.0.kind":[`))
	}
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1" + path + "/order", status: 204})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/orders/" + order + "/abstracts", status: 200, want: `{"data":[]}`})
	srv.vaultIsIntact(t)
}

// A body without the list or without any field changes nothing, and the response names the field. An empty list
// clears the list, and the history has what it was.
func replaceWithNothing(t *testing.T, srv *testServer, path string) {
	for part, row := range map[string]struct{ full, field, empty string }{
		"/order":                {"", "order_id", ""},
		"/assignment":           {`{"due_date":"2026-12-01"}`, "searcher", `{"due_date":null}`},
		"/names-run":            {`{"rows":[{"name":"Roe, Bo"}]}`, "rows", `{"rows":[]}`},
		"/requirements":         {`{"rows":[{"kind":"exception","text":"Roe lease"}]}`, "rows", `{"data":[]}`},
		"/instruments/sequence": {"", "instruments", `{"instruments":[]}`},
	} {
		if row.full != "" {
			srv.do(t, jsonCall("PUT", path+part, row.full, 200))
		}
		get := call{as: "full", method: "GET", path: "/v1" + path + strings.Replace(part, "instruments/sequence", "runsheet", 1), status: 200}
		before := srv.do(t, get).Header.Get("ETag")
		bodies := []string{`{}`, `{"row":[],"Rows":[]}`}
		if part != "/order" && part != "/assignment" { // null clears their fields
			bodies = append(bodies, `{"`+row.field+`":null}`)
		}
		for _, body := range bodies {
			srv.do(t, jsonCall("PUT", path+part, body, 422).withHas(`"`+row.field+`":["The `))
		}
		if after := srv.do(t, get).Header.Get("ETag"); before == "" || after != before {
			t.Errorf("%s: got %s after a body without it, want %s", part, after, before)
		}
		if row.empty != "" {
			srv.do(t, jsonCall("PUT", path+part, row.empty, 200))
		}
		if strings.Contains(row.full, "Roe") {
			srv.do(t, call{as: "events", method: "GET", path: "/v1/events?sort=-created_at&per_page=1", status: 200,
				has: []string{`"from":`, "Roe", `"to":null`}})
		}
	}
}

// The list of phrases is replaced as a whole. A change of another version is rejected, and so are phrases that break the
// limits.
func TestPhrases(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	get := call{as: "read", method: "GET", path: "/v1/phrases", status: 200}
	first := srv.do(t, get.withHas(`{"data":[{"name":"Payoff and release of mortgage","kind":"requirement",`, `"kind":"exception"`))
	const list = `{"rows":[{"name":"Release","kind":"requirement","text":"Release of {type}."},` +
		`{"name":"Lease","kind":"exception","text":"Lease."}]}`
	change := jsonCall("PUT", "/phrases", list, 200)
	change.header = append(change.header, "If-Match: "+first.Header.Get("ETag"))
	srv.do(t, change.withHas(`"name":"Lease"`))
	srv.do(t, get.withHas(`{"data":[{"name":"Release","kind":"requirement","text":"Release of {type}."},{"name":"Lease",`))
	change.status = 412
	srv.do(t, change)
	same := srv.do(t, jsonCall("PUT", "/phrases", list, 200)).Header.Get("ETag")
	if again := srv.do(t, jsonCall("PUT", "/phrases", list, 200)).Header.Get("ETag"); again != same {
		t.Errorf("ETag after the same list: got %s, want %s", again, same)
	}
	row := func(name, kind, text string) string {
		return fmt.Sprintf(`{"name":%q,"kind":%q,"text":%q}`, name, kind, text)
	}
	for name, bad := range map[string]struct{ rows, want string }{
		"no name":      {row("", "requirement", "x"), `"rows.0.name":["The name field is required."]`},
		"no text":      {row("x", "requirement", " "), `"rows.0.text":["The text field is required."]`},
		"unknown kind": {row("x", "wish", "x"), `"rows.0.kind":["The selected kind is invalid."]`},
		"same name": {row("A  b", "requirement", "x") + "," + row("a B", "exception", "y"),
			`"rows.1.name":["The name has already been taken."]`},
		"long name": {row(strings.Repeat("x", 101), "requirement", "x"),
			`"rows.0.name":["The name field must not be greater than 100 characters."]`},
		"long text": {row("x", "requirement", strings.Repeat("x", 2001)),
			`"rows.0.text":["The text field must not be greater than 2000 characters."]`},
		"too many": {strings.Repeat(row("x", "requirement", "x")+",", 200) + "{}",
			`"rows":["The rows field must not have more than 200 items."]`},
		"not an object": {`1`, `"rows.0":["Each item of the rows field must be an object."]`},
	} {
		t.Run(name, func(t *testing.T) {
			srv.do(t, jsonCall("PUT", "/phrases", `{"rows":[`+bad.rows+`]}`, 422).withHas(bad.want))
		})
	}
	srv.do(t, jsonCall("PUT", "/phrases", `{}`, 422).withHas(`"rows":["The rows field is required."]`))
	srv.vaultIsIntact(t)
}

func TestNotes(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", filePart("files", "a.pdf", pdf(2))))
	srv.do(t, jsonCall("POST", "/file-vault/files/1/notes", `{"text":"Compare the legal.","page":2}`, 201).withHas(`"page":2`))
	srv.do(t, jsonCall("POST", "/file-vault/files/1/notes", `{"text":"x","page":3}`, 422).withHas(`"page":[`))
	srv.do(t, jsonCall("POST", "/file-vault/files/1/notes", `{"text":" "}`, 201))
	srv.do(t, jsonCall("POST", "/abstracts/"+abstract+"/notes", `{}`, 422).withHas(`"text":[`))
	changed := srv.do(t, jsonCall("PATCH", "/notes/1", `{"text":"Compared."}`, 200).withHas(`"text":"Compared."`, `"page":2`))
	stale := jsonCall("PATCH", "/notes/1", `{"text":"z"}`, 200)
	stale.header = append(stale.header, "If-Match: "+changed.Header.Get("ETag"))
	srv.do(t, stale)
	stale.status, stale.body = 412, `{"text":"zz"}`
	srv.do(t, stale)
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/notes/1", status: 204})
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/notes/1", status: 404})
	// Notes are hidden while their record is in the trash.
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/file-vault/files/1", status: 204})
	srv.do(t, call{as: "full", method: "PATCH", path: "/v1/notes/2", header: []string{asJSON}, body: `{"text":"y"}`, status: 404})
	srv.vaultIsIntact(t)
}

// A note about a document can have an area of a page.
func TestNoteAreas(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", filePart("files", "a.pdf", pdf(2)), filePart("files", "b.txt", "text")))
	const notes, stored = "/file-vault/files/1/notes", `"area":{"x":72,"y":144.5,"width":320,"height":36}`
	srv.do(t, jsonCall("POST", notes, `{"text":"Vesting","page":2,`+stored+`}`, 201).withHas(`"page":2,`+stored+`,"by":`))
	srv.do(t, call{as: "read", method: "GET", path: "/v1" + notes, status: 200, has: []string{stored}})
	for _, row := range []struct{ path, body, want string }{
		{notes, `{"text":"x",` + stored + `}`, `{"area":["The area field must not be set without a page."]}`},
		{notes, `{"text":"x","page":2,"area":{"x":600,"y":1,"width":50,"height":9}}`,
			`{"area":["The area field must be inside the page, which is 612 × 792 points."]}`},
		{notes, `{"text":"x","page":2,"area":{"x":"6"}}`, `"area.x":["The x field must be a number."],"area.y":["The y field is required."]`},
		{notes, `{"text":"x","page":2,"area":"all"}`, `"The area field must be an object with x, y, width, and height."`},
		{"/file-vault/files/2/notes", `{"text":"x","page":1,` + stored + `}`, `"The area field must be empty because the page has no image."`},
		{"/abstracts/" + abstract + "/notes", `{"text":"x",` + stored + `}`, `"The area field must not be set without a page."`},
	} {
		srv.do(t, jsonCall("POST", row.path, row.body, 422).withHas(row.want))
	}
	srv.do(t, jsonCall("PATCH", "/notes/1", `{"text":"The vesting"}`, 200).withHas(stored))
	srv.do(t, jsonCall("PATCH", "/notes/1", `{"area":{"x":1,"y":2,"width":3.333,"height":4}}`, 200).withHas(
		`"page":2,"area":{"x":1,"y":2,"width":3.33,"height":4}`))
	srv.do(t, jsonCall("PATCH", "/notes/1", `{"area":{"x":1,"y":2,"width":3,"height":790.2}}`, 422).withHas("inside the page"))
	for _, body := range []string{`{"area":null}`, `{"page":1}`} {
		srv.do(t, jsonCall("PATCH", "/notes/1", body, 200).withHas(`"area":null`))
		srv.do(t, jsonCall("PATCH", "/notes/1", `{"page":2,`+stored+`}`, 200).withHas(stored))
	}
	srv.do(t, call{as: "events", method: "GET", path: "/v1/events?sort=-created_at&per_page=1", status: 200,
		has: []string{`"field":"area","from":null,"to":{"page":2,"x":72,"y":144.5,"width":320,"height":36}`,
			"Highlight: (blank) → page 2, 4.4 × 0.5 in., 1.0 in. from the left, 2.0 in. from the top"}})
	srv.vaultIsIntact(t)
}

// withHas returns the call with fragments that the body must contain.
func (c call) withHas(fragments ...string) call {
	c.has = fragments
	return c
}

// vaultIsIntact runs an integrity check.
func (srv *testServer) vaultIsIntact(t *testing.T) {
	t.Helper()
	vaulttest.Verify(t, srv.vault)
}

// A document moves from a folder to an abstract, to another abstract, and back to a folder.
func TestMoveDocument(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, uploadCall("full", 201, fieldPart("folder_id", "1"), filePart("files", "a.pdf", pdf(1))))
	first, second := srv.createID(t, abstractCall(201, "")), srv.createID(t, abstractCall(201, ""))
	files := func(abstract string) int {
		t.Helper()
		reply := srv.do(t, call{as: "read", method: "GET", path: "/v1/abstracts/" + abstract, status: 200})
		return len(decodeBody[struct {
			Data struct{ Files []struct{ ID int64 } }
		}](t, reply).Data.Files)
	}
	const path = "/file-vault/files/1"
	srv.do(t, jsonCall("PATCH", path, `{"abstract_id":"`+first+`"}`, 200).withHas(`"folder_id":null`))
	srv.createInstrument(t, first, `{"documents":[{"file_id":1}]}`)
	srv.do(t, jsonCall("PATCH", path, `{"abstract_id":"`+second+`"}`, 200))
	if files(first) != 0 || files(second) != 1 {
		t.Errorf("the abstracts have %d and %d documents, want 0 and 1", files(first), files(second))
	}
	srv.do(t, jsonCall("PATCH", "/instruments/1", `{"remarks":"x","documents":[{"file_id":1,"pages":"1"}]}`, 200).withHas(`"file_id":1`))
	srv.do(t, jsonCall("PATCH", path, `{"abstract_id":"`+first+`","folder_id":1}`, 422).withHas(`"abstract_id":[`))
	srv.do(t, jsonCall("PATCH", path, `{"abstract_id":"zzzzzzzz"}`, 422).withHas(`"abstract_id":[`))
	srv.do(t, jsonCall("PATCH", path, `{"folder_id":1}`, 200).withHas(`"folder_id":1`))
	if files(second) != 0 {
		t.Errorf("the second abstract has %d documents, want 0", files(second))
	}
	srv.vaultIsIntact(t)
}

// A search is certified and brought down.
func TestCertificateAndBringDown(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Essex"), fieldPart("custom_fields", `{"file_number":"A-1"}`)))
	path := "/abstracts/" + abstract
	mortgage := srv.createInstrument(t, abstract, `{"type":"Mortgage"}`)
	srv.createInstrument(t, abstract, fmt.Sprintf(`{"type":"Release or Satisfaction","relations":[{"kind":"releases","instrument_id":%d}]}`,
		mortgage.ID))
	for name, body := range map[string]string{
		"no date": `{}`, "blank date": `{"effective_date":" "}`, "impossible date": `{"effective_date":"2026-02-30"}`,
		"unknown index":   `{"effective_date":"2026-05-01","indices_searched":["Tea Leaves"]}`,
		"in the future":   `{"effective_date":"2026-05-31"}`,
		"period backward": `{"effective_date":"2026-05-01","search_from":"2027-01-01"}`,
	} {
		t.Run(name, func(t *testing.T) { srv.do(t, jsonCall("POST", path+"/certificate", body, 422)) })
	}
	srv.do(t, jsonCall("POST", path+"/certificate",
		`{"effective_date":"2026-05-01","search_from":"1966-01-01","indices_searched":["Mortgages","UCC"]}`, 201).
		withHas(`"effective_date":"2026-05-01"`, `"file_id":1`, `"changed_since":false`))
	srv.do(t, call{as: "read", method: "GET", path: "/v1" + path, status: 200,
		has: []string{`"effective_date":"2026-05-01"`, `"search_from":"1966-01-01"`,
			`"indices_searched":["Mortgages","UCC"]`, `"filename":"Runsheet certified `}})
	srv.do(t, jsonCall("PATCH", fmt.Sprint("/instruments/", mortgage.ID), `{"book":"7"}`, 200))
	srv.do(t, call{as: "read", method: "GET", path: "/v1" + path + "/certificate", status: 200, has: []string{`"changed_since":true`}})
	again := srv.createID(t, call{as: "full", method: "POST", path: "/v1" + path + "/bring-down", status: 201,
		has: []string{`"file_number":"A-1-BD1"`, `"not_taken":["1 document"]`}})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/abstracts/" + again, status: 200,
		has: []string{`"search_from":"2026-05-01"`, `"county":"Essex"`}})
	ids, statuses, _ := srv.runsheet(t, again)
	if want := []string{"released", "not_applicable"}; !slices.Equal(statuses, want) || slices.Contains(ids, mortgage.ID) {
		t.Errorf("runsheet of the bring-down = %v %v, want copies that are %v", ids, statuses, want)
	}
	srv.do(t, call{as: "read", method: "GET", path: fmt.Sprint("/v1/instruments/", ids[0]), status: 200, has: []string{`"prior":true`}})
	srv.vaultIsIntact(t)
}

// A certificate is voided with a reason, only by the key that certified.
func TestVoidCertificate(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, ""))
	path := "/abstracts/" + abstract + "/certificate"
	srv.do(t, jsonCall("POST", path, `{"effective_date":"2026-05-01"}`, 201).withHas(`"voided_at":null,"voided_by":null,"void_reason":null`))
	srv.createInstrument(t, abstract, `{"type":"Mortgage"}`)
	for _, body := range []string{`{}`, `{"reason":" "}`, `{"reason":null}`, `{"reason":["x"]}`} {
		srv.do(t, jsonCall("POST", path+"/1/void", body, 422).withHas(`"errors":{"reason":`))
	}
	for _, n := range []string{"2", "x", "0"} {
		srv.do(t, jsonCall("POST", path+"/"+n+"/void", `{"reason":"Wrong date"}`, 404))
	}
	want := []string{`"changed_since":false`, `"voided_by":{"kind":"key"`, `"void_reason":"Wrong date"`}
	srv.do(t, jsonCall("POST", path+"/1/void", `{"reason":" Wrong date "}`, 200).withHas(want...))
	srv.do(t, jsonCall("POST", path+"/1/void", `{"reason":"Again"}`, 409))
	srv.do(t, call{as: "read", method: "GET", path: "/v1" + path, status: 200, has: want})
	srv.vaultIsIntact(t)
}

// The checks list what to fix or to accept. A certificate keeps what was accepted, and lists the rest. The next
// one gets the reasons as proposals. With If-Match, a search that changed isn't certified.
func TestChecksOfCertificate(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Essex"), fieldPart("custom_fields", `{"file_number":"A-1"}`)))
	path := "/abstracts/" + abstract
	mortgage := srv.createInstrument(t, abstract, `{"type":"Mortgage","grantors":["Ann Lee"],"recorded":"2001-02-03","instrument_number":"7"}`)
	open := fmt.Sprintf("open_lien:%d", mortgage.ID)
	srv.do(t, jsonCall("PUT", path+"/names-run", `{"rows":[{"name":"Ann Lee"}]}`, 200))
	checks := func(has ...string) string {
		t.Helper()
		return srv.do(t, call{as: "read", method: "GET", path: "/v1" + path + "/checks", status: 200, has: has}).Header.Get("ETag")
	}
	tag := checks(`{"id":"effective_time","check":"effective_time","text":"The certificate has no effective time.",`,
		`"id":"`+open+`","check":"open_lien",`+
			`"text":"Mortgage · Inst. 7 · Ann Lee shows as open in this runsheet, and no requirement refers to it."`,
		fmt.Sprintf(`"instrument_id":%d,"file_id":null,"proposal":null}`, mortgage.ID))
	const fields = `{"effective_date":"2026-05-01","effective_time":"8:00 am","search_from":"1966-01-01","indices_searched":["UCC"]`
	for name, body := range map[string]string{
		"time": `{"effective_date":"2026-05-01","effective_time":"25:00"}`, "accepted": fields + `,"accepted":"all"}`,
		"no reason": fields + `,"accepted":[{"check":"gap","reason":" "}]}`, "no check": fields + `,"accepted":[{"reason":"x"}]}`,
		"row": fields + `,"accepted":["gap"]}`,
	} {
		t.Run(name, func(t *testing.T) { srv.do(t, jsonCall("POST", path+"/certificate", body, 422)) })
	}
	certify := func(match, accepted string, status int, has ...string) {
		t.Helper()
		c := jsonCall("POST", path+"/certificate", fields+`,"accepted":`+accepted+`}`, status)
		if match != "" {
			c.header = append(c.header, "If-Match: "+match)
		}
		srv.do(t, c.withHas(has...))
	}
	certify("", "null", 201, `"effective_time":"08:00"`, `"accepted":[],"unaccepted":[{"check":"`+open+`"`)
	certify(tag, "[]", 412)
	tag = checks(`"proposal":null`)
	certify(tag, `[{"check":"open_lien","reason":"Paid at closing."},{"check":"gap","reason":"None."}]`, 201,
		`"accepted":[{"check":"`+open+`","text":"Mortgage · Inst. 7 · Ann Lee shows as open in this runsheet, and no requirement refers to it.",`+
			`"reason":"Paid at closing."},`+
			`{"check":"gap","text":null,"reason":"None."}],"unaccepted":[]`)
	checks(`"proposal":"Paid at closing."`)
	srv.do(t, jsonCall("PATCH", fmt.Sprint("/instruments/", mortgage.ID), `{"instrument_number":"8"}`, 200))
	checks(`Inst. 8 · Ann Lee shows as open`, `"proposal":null`)
	srv.do(t, call{as: "read", method: "GET", path: "/v1" + path + "/certificate", status: 200,
		has: []string{`"reason":"Paid at closing."`, `"accepted":[],"unaccepted":[{`}})
	srv.vaultIsIntact(t)
}

// The sequence of a runsheet isn't set if the runsheet changed since it was read: by another sequence, or by a change of
// an instrument.
func TestSequenceIfMatch(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Wexcombe")))
	for range 3 {
		srv.createInstrument(t, abstract, `{"type":"mortgage"}`)
	}
	read := func(part string) string {
		return srv.do(t, call{as: "read", method: "GET", path: "/v1/abstracts/" + abstract + part, status: 200}).Header.Get("ETag")
	}
	set := func(match, list string, status int) string {
		t.Helper()
		c := jsonCall("PUT", "/abstracts/"+abstract+"/instruments/sequence", `{"instruments":[`+list+`]}`, status)
		c.header = append(c.header, "If-Match: "+match)
		return srv.do(t, c).Header.Get("ETag")
	}
	first := read("/runsheet")
	if list := read("/instruments"); list != first || first == "" {
		t.Fatalf("ETag of the list = %s, want %s as of the runsheet", list, first)
	}
	second := set(first, "3,2,1", 200)
	if now := read("/runsheet"); now != second || now == first {
		t.Errorf("ETag = %s, want %s as of the response, not %s", now, second, first)
	}
	set(first, "1,2,3", 412)
	if ids, _, _ := srv.runsheet(t, abstract); !slices.Equal(ids, []int64{3, 2, 1}) {
		t.Errorf("runsheet = %v, want 3, 2, 1", ids)
	}
	srv.do(t, jsonCall("PATCH", "/instruments/2", `{"book":"12"}`, 200))
	set(second, "1,2,3", 412)
	set("*", "1,2,3", 200)
	set(second+", "+read("/runsheet"), "2,1,3", 200)
}

// The API accepts an instrument twice. The response names the first one.
func TestDuplicateInstrument(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract, other := srv.createID(t, abstractCall(201, "")), srv.createID(t, abstractCall(201, ""))
	keys := 0
	send := func(method, path, body string, status int, want string) {
		t.Helper()
		keys++
		c := jsonCall(method, path, body, status)
		if method == "POST" {
			c.header = append(c.header, fmt.Sprint("Idempotency-Key: ", keys))
		}
		for range 2 { // a replayed response and a PATCH without changes say the same
			if got := srv.do(t, c).Header.Get("X-Duplicate-Of"); got != want {
				t.Errorf("%s %s %s: X-Duplicate-Of = %q, want %q", method, path, body, got, want)
			}
		}
	}
	list := "/abstracts/" + abstract + "/instruments"
	send("POST", list, `{"book_type":"Deed Book","book":"3433","page":"481","type":"Warranty Deed"}`, 201, "")
	send("POST", list, `{"book_type":"DB","book":"3433","page":"0481"}`, 201, "1")
	send("POST", list, `{"book":"3433","page":"481","type":"Mortgage"}`, 201, "2")
	send("POST", "/abstracts/"+other+"/instruments", `{"book":"3433","page":"481","type":"Deed of Trust"}`, 201, "")
	send("POST", list, `{"instrument_number":"117","recorded":"2018-01-02"}`, 201, "")
	send("PATCH", "/instruments/5", `{"book":"3433","page":"481","book_type":"Mortgage Book"}`, 200, "3")
	send("PATCH", "/instruments/1", `{"remarks":"Copy is faint.","page":"481"}`, 200, "2")
	send("PATCH", "/instruments/1", `{"remarks":"Copy is blurred."}`, 200, "") // it doesn't say which paper this is
	send("POST", list, `{"instrument_number":"00117","recorded":"2019-01-02"}`, 201, "")
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/instruments/2", status: 204})
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/instruments/3", status: 204})
	send("PATCH", "/instruments/1", `{"remarks":"Copy is legible.","page":"481"}`, 200, "")
	send("PATCH", "/instruments/1", `{"book":"x","dated":"soon"}`, 422, "")
	if got := srv.do(t, call{as: "full", method: "GET", path: "/v1/instruments/5", status: 200}).Header.Get("X-Duplicate-Of"); got != "" {
		t.Errorf("GET: X-Duplicate-Of = %q, want none", got)
	}
}

// An empty sequence sorts the runsheet by recording date. The list, the runsheet, and both files agree.
func TestSortedRunsheet(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, ""))
	for _, body := range []string{`{"book":"A","recorded":"2022-01-02"}`, `{"book":"B","recorded":"1990-01-02"}`, `{"book":"C"}`,
		`{"book":"D","dated":"1979-05-02"}`} {
		srv.createInstrument(t, abstract, body)
	}
	check := func(what, want string) {
		t.Helper()
		ids, _, _ := srv.runsheet(t, abstract)
		got := map[string]string{"runsheet": fmt.Sprint(ids)}
		listed := decodeBody[struct{ Data []instrumentData }](t, srv.do(t, call{as: "read", method: "GET",
			path: "/v1/abstracts/" + abstract + "/instruments", status: 200}))
		ids = nil
		for _, i := range listed.Data {
			ids = append(ids, i.ID)
		}
		got["instruments"] = fmt.Sprint(ids)
		letters := strings.NewReplacer("A", "1", "B", "2", "C", "3", "D", "4")
		rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(srv.do(t, call{as: "read", method: "GET",
			path: "/v1/abstracts/" + abstract + "/runsheet.csv", media: "text/csv; charset=utf-8", status: 200}).body, []byte("\ufeff")))).ReadAll()
		vaulttest.NoError(t, err)
		got["CSV"] = letters.Replace(fmt.Sprint(bookColumn(rows)))
		book, err := excelize.OpenReader(bytes.NewReader(srv.do(t, call{as: "read", method: "GET",
			path: "/v1/abstracts/" + abstract + "/runsheet.xlsx", media: mediaExcel, status: 200}).body))
		vaulttest.NoError(t, err)
		rows, err = book.GetRows(book.GetSheetName(0))
		vaulttest.NoError(t, err)
		got["Excel"] = letters.Replace(fmt.Sprint(bookColumn(rows)))
		for name, sequence := range got {
			if sequence != want {
				t.Errorf("%s: %s = %s, want %s", what, name, sequence, want)
			}
		}
	}
	sequence := "/abstracts/" + abstract + "/instruments/sequence"
	check("by date", "[4 2 1 3]")
	srv.do(t, jsonCall("PUT", sequence, `{"instruments":[3,1,2,4]}`, 200))
	check("chosen", "[3 1 2 4]")
	srv.createInstrument(t, abstract, `{"book":"5","recorded":"1995-01-02"}`)
	check("with a row that fits in no single place", "[3 1 2 4 5]")
	srv.do(t, jsonCall("PUT", sequence, `{"instruments":[]}`, 200))
	check("sorted", "[4 2 5 1 3]")
}

// bookColumn returns the cells of the column Book.
func bookColumn(rows [][]string) (cells []string) {
	at := slices.Index(rows[0], "Book")
	for _, row := range rows[1:] {
		cells = append(cells, row[at])
	}
	return cells
}
