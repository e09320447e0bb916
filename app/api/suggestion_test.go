package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
)

// suggestionData contains the parts of a suggestion that the tests look at.
type suggestionData struct {
	Row          *int64
	Fields       map[string]json.RawMessage
	InstrumentID *int64 `json:"instrument_id"`
	Relations    []struct {
		Kind string
		Row  int64
	}
	Evidence map[string]struct{ Line string }
}

// A runsheet file is read without storing anything. Rows that aren't valid are named, and fields of the
// others can be sent back.
func TestReadRunsheetFile(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Wexcombe")))
	srv.createInstrument(t, abstract, `{"type":"Warranty Deed","book":"1022","page":"0311"}`)
	const file = "No.,Type,Book,Page,Recorded,Grantors,Amount,Relations\n" +
		"1,Mortgage,417,7,3/14/2001,\"Cole, Bea; Cole, Ned\",\"$120,000\",\n" +
		"2,Release or Satisfaction,500,1,2010-01-05,First Bank,,releases 1; references 9\n" +
		"3,Warranty Deed,1022,311,,,,\n" +
		"4,Spaceship,1,1,13/45/2001,,much,\n" +
		"5,Mortgage,9,9,,,,releases 5\n"
	upload := func(status int, name, content, want string) reply {
		t.Helper()
		return srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts/" + abstract + "/runsheet", header: []string{asForm},
			body: formBody(filePart("file", name, content)), status: status, has: []string{want}})
	}
	body := decodeBody[struct {
		Data   []suggestionData
		Errors []struct {
			Row   int64
			Error string
		}
	}](t, upload(200, "sheet.csv", file, ""))
	if len(body.Data) != 3 || len(body.Errors) != 2 {
		t.Fatalf("got %d suggestions and errors %+v, want 3 and 2", len(body.Data), body.Errors)
	}
	upload(200, "sheet.csv", "Type,Bk/Pg,Examiner,Documents\nPlat,1/2,Kim,a.pdf\n",
		`"columns":[{"heading":"Type","field":"type","known":true},`+
			`{"heading":"Bk/Pg","field":"book_page","known":true},{"heading":"Examiner","field":"remarks","known":false},`+
			`{"heading":"Documents","field":"leave_out","known":true}]`)
	const other = "Type,Sold By,\"Buyer, \",Deed Bk,Mtg Bk\nMortgage,Cole,First Bank,,417\nPlat,,,1,2\n"
	choose := func(status int, columns string, has ...string) {
		t.Helper()
		srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts/" + abstract + "/runsheet?columns=" + url.QueryEscape(columns),
			header: []string{asForm}, body: formBody(filePart("file", "other.csv", other)), status: status, has: has}).
			checkHeaders(t, map[string]string{"X-Ignored-Fields": ""})
	}
	choose(200, "sold by:grantors, 3:grantees,Deed Bk:book,Mtg Bk:book,Type:type",
		`{"heading":"Sold By","field":"grantors","known":false},{"heading":"Buyer,","field":"grantees","known":true}`,
		`{"book":"417","grantees":["First Bank"],"grantors":["Cole"],"type":"Mortgage"}`,
		`"book":"1","remarks":"Mtg Bk: 2","type":"Plat"}`)
	choose(200, "Deed Bk:leave_out", `{"heading":"Deed Bk","field":"leave_out","known":false}`)
	choose(422, strings.Repeat("Sold By:grantors,", 200), `{"columns":["The columns field must not be greater than 2000 characters."]}`)
	for _, columns := range []string{"Sold By", "Seller:grantors", "6:grantors", "Sold By:seller", ":grantors", "Sold By:grantors,"} {
		choose(422, columns, `{"columns":["The columns field must map columns of the file to fields, such as Seller:grantors."]}`)
	}
	first, second, third := body.Data[0], body.Data[1], body.Data[2]
	encoded, _ := json.Marshal(first.Fields) // always valid
	if want := `{"book":"417","consideration":"120000.00","grantors":["Cole, Bea","Cole, Ned"],"page":"7","position":1,"recorded":"2001-03-14",` +
		`"type":"Mortgage"}`; string(encoded) != want || *first.Row != 2 || first.InstrumentID != nil {
		t.Errorf("first suggestion = %s in row %d, want %s in row 2", encoded, *first.Row, want)
	}
	if len(second.Relations) != 1 || second.Relations[0].Kind != "releases" || second.Relations[0].Row != 2 ||
		string(second.Fields["relations"]) != `[{"kind":"references","text":"No. 9"}]` {
		t.Errorf("relations of the release = %+v and %s, want row 2 and text", second.Relations, second.Fields["relations"])
	}
	if third.InstrumentID == nil || *third.InstrumentID != 1 {
		t.Errorf("instrument of the deed that is recorded already = %v, want 1", third.InstrumentID)
	}
	if e := body.Errors; e[0].Row != 5 || e[0].Error != "The selected type is invalid. (and 1 more error)" || e[1].Row != 6 ||
		!strings.Contains(e[1].Error, "can't refer to the same instrument") {
		t.Errorf("errors = %+v, want rows 5 and 6", e)
	}
	if ids, _, _ := srv.runsheet(t, abstract); len(ids) != 1 {
		t.Errorf("got %d instruments, want only the one that was recorded before", len(ids))
	}
	srv.createInstrument(t, abstract, string(encoded))

	upload(422, "photo.csv", "\x00\x01", "The file field must be a CSV file or an Excel workbook (.xlsx).")
	upload(422, "broken.xlsx", "PK\x03\x04 not a workbook", "The file field must be a CSV file or an Excel workbook (.xlsx).")
	upload(422, "plain.csv", "a,b\nc,d\n", "must have a row with column headings")
	upload(422, "long.csv", "type,book\n"+strings.Repeat("Mortgage,1\n", runsheet.DefaultLimits().Rows), "must not have more than 5000 rows")
	upload(422, "empty.csv", "", "The file field is required.")
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts/" + abstract + "/runsheet", header: []string{asJSON}, body: `{}`,
		status: 415})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts/" + abstract + "/runsheet", header: []string{asForm},
		body: formBody(fieldPart("file", "x")), status: 422, has: []string{"The file field must be a file."}})
	var b bytes.Buffer
	if err := runsheet.WriteExcel(&b, func(yield func(*runsheet.Row, error) bool) {
		yield(&runsheet.Row{Position: 1, Type: model.DocumentType{Name: "Mortgage"}},
			nil)
	}); err != nil {
		t.Fatalf("write workbook: %v", err)
	}
	upload(200, "sheet.xlsx", b.String(), `"type":"Mortgage"`)
}

// The name of a document describes an instrument until one is linked to it.
func TestSuggestionsOfDocument(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	const name = "02_Mortgage_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf"
	abstract := srv.createID(t, abstractCall(201, "", filePart("files", name, pdf(1)), filePart("files", "notes.pdf", pdf(2))))
	srv.do(t, uploadCall("full", 201, filePart("files", name, pdf(3)))) // in no abstract
	list := func(id int) []suggestionData {
		t.Helper()
		return decodeBody[struct{ Data []suggestionData }](t, srv.do(t, call{as: "read", method: "GET",
			path: fmt.Sprintf("/v1/file-vault/files/%d/suggestions", id), status: 200})).Data
	}
	got := list(1)
	if len(got) != 1 || got[0].Row != nil || got[0].Evidence["book"].Line != name {
		t.Fatalf("suggestions = %+v, want one with evidence", got)
	}
	encoded, _ := json.Marshal(got[0].Fields) // always valid
	if want := `{"book":"1022","documents":[{"file_id":1}],"grantees":["Jones"],"grantors":["Smith"],"page":"311","position":2,` +
		`"recorded":"2019-03-14","type":"Mortgage"}`; string(encoded) != want {
		t.Errorf("fields = %s, want %s", encoded, want)
	}
	if other := list(2); len(other) > 0 {
		t.Errorf("suggestions of another document = %+v, want none", other)
	}
	if other := list(3); len(other) != 1 || other[0].Fields["documents"] != nil || other[0].Fields["position"] != nil {
		t.Errorf("suggestions of a document in no abstract = %+v, want one without the document", other)
	}
	srv.createInstrument(t, abstract, string(encoded))
	if again := list(1); len(again) > 0 {
		t.Errorf("suggestions of a linked document = %+v, want none", again)
	}
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/files/99/suggestions", status: 404})
}
