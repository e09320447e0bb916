package runsheet

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Usual headings are known, those with several meanings by the cells below them. All cells of other columns are added to the
// remarks.
func TestFindColumns(t *testing.T) {
	for headings, field := range map[string]string{
		"Inst #|Instr. No|Instrument Number|Doc #|Document No.|Rec. No.|Reception No|File No|Clerk's File No": "instrument_number",
		"Bk|Vol|Volume|Liber|Book": "book", "Pg|Pgs.|Page|Folio": "page", "Bk/Pg|Book & Page|Vol. / Pg.|O.R. Book/Page": "book_page",
		"Date Rec'd|Rec Date|Rec. Date|Filed|Date Filed|Recorded": "recorded", "Dated|Executed|Date Signed|Inst. Date": "dated",
		"Rec Dt|Rec'd Dt|Rcvd|Recvd|Filed Dt|Recd. Date": "recorded",
		"Dtd|Dtd.|Inst Dt|Doc. Dt|Dt":                    "dated", "Instr Type|Doc. Type": "type",
		"Grantor(s)|Mortgagor|Assignor|Borrower|Defendant|Debtor":                      "grantors",
		"Gtr|Grtr|Grntr|Gtor|Mtgor|Mtgr|Deft|Def't.":                                   "grantors",
		"Grantees|Mortgagee|Lender|Plaintiff|Creditor|Assignee|Secured Party|Claimant": "grantees",
		"Gte|Gtee|Grtee|Grntee|Mtgee|Pltf|Benef.":                                      "grantees",
		"Parcel|PIN|Tax Map|Tax Map #|APN|Parcel No.":                                  "parcels",
		"Consideration|Amount|Amt.|Loan Amount|Consid.|Loan Amt":                       "consideration",
		"Cnty|Cnty.": "county", "Desc|Legal Desc.|Descr": "legal", "Case #": "case_number", "Exp. Date|Exp": "expires",
		"Notes|Comments|Remarks|Memo|Rem.|Rmks|Cmts": "remarks", "Status": "status",
		"Trustee": "other_parties", "Color|Examiner": "remarks", "Documents": LeaveOut,
	} {
		for heading := range strings.SplitSeq(headings, "|") {
			table := Table{Header: []string{heading, "Legal"}, Rows: []TableRow{{2, []string{"x"}}}}
			got := table.Read(options).Columns[0]
			if known := heading != "Color" && heading != "Examiner"; got.Field != field || got.Known != known {
				t.Errorf("%s = %+v, want %s, known %v", heading, got, field, known)
			}
		}
	}
	for _, row := range []struct{ header, cells, want string }{
		{"No.|Number", "1|77|2|78", "position instrument_number"}, {"No.|Type", "1|Plat|2|Plat", "position type"},
		{"No.|Type", "2019-7|Plat|2019-3|Plat", "instrument_number type"}, {"Number|Type", "88123|Plat|7001|Plat",
			"instrument_number type"},
		{"Instrument|Grantor", "Mortgage|A|WD|B", "type grantors"}, {"Instrument|Grantor", "2019001|A|2019002|B",
			"instrument_number grantors"},
		{"Date|Recorded", "3/9/1998|3/10/1998", "dated recorded"}, {"Date|Dated", "3/9/1998|3/8/1998", "recorded dated"},
		{"Date|Grantor", "3/9/1998 10:42 AM|A", "recorded grantors"}, {"Book|Type", "1022/311|Plat", "book_page type"},
		{"Recording|Type", "3/9/1998|Plat", "recorded type"}, {"Recording|Type", "Bk 1 Pg 2|Plat", "book_page type"},
		{"Grantor|Plaintiff|Defendant", "A|B|C", "grantors grantees grantors"}, {"Date|Dated|Recorded", "1|2|3", "remarks dated recorded"},
		{"Notes|Comments|Type", "a|b|Plat", "remarks remarks type"}, {"From|To|Type", "1/1/1998|1/2/1998|Plat", "remarks remarks type"},
	} {
		table := Table{Header: strings.Split(row.header, "|")}
		cells := strings.Split(row.cells, "|")
		for n := 0; n < len(cells); n += len(table.Header) {
			table.Rows = append(table.Rows, TableRow{n + 2, cells[n:min(len(cells), n+len(table.Header))]})
		}
		var got []string
		for _, c := range table.Read(options).Columns {
			got = append(got, c.Field)
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("columns of %s with %s = %s, want %s", row.header, row.cells, got, row.want)
		}
	}
}

// No cell is lost: those of unknown columns and of statuses that don't exist are added to the remarks, and a person can
// choose another field for a column.
func TestReadTable(t *testing.T) {
	table := Table{Header: strings.Split("No.|Type|Grantor|Plaintiff|Color|Status|Recorded|Notes|Trustee|Amount|", "|"), Rows: []TableRow{
		{2, strings.Split("7 Prior|mtg|A; B|C|red|Released 5/1/2010|3-9-98 2:05 pm|n|T Co|$10 & OVC|x", "|")},
		{3, []string{"Possible gap in the chain of title: no earlier instrument in this runsheet names A as grantee"}},
		{4, strings.Split("New||||||||||", "|")},
		{5, strings.Split("9|sat|||blue|Releases No. 7 References Bk 1 Pg 2 Released by No. 3 "+
			"Names Polk County, IA Names parcel 1-2, 3|35863.5", "|")},
	}}
	for _, row := range []struct {
		options Options
		want    string
	}{
		{options, `{"consideration":"10.00","consideration_text":"$10 \u0026 OVC","grantees":["C"],"grantors":["A","B"],` +
			`"other_parties":[{"name":"T Co","role":"Trustee"}],"recorded":"1998-03-09","recorded_time":"2:05 pm",` +
			`"remarks":"Color: red\nStatus: Released 5/1/2010\nn\nx","status":"released","type":"Mortgage"} 7 [] ` +
			`{"county":"Polk","parcels":["1-2","3"],` +
			`"recorded":"1998-03-09","recorded_time":"12:00","relations":[{"kind":"references","text":"Bk 1 Pg 2"}],` +
			`"remarks":"Color: blue","state":"IA",` +
			`"type":"Release or Satisfaction"} 9 [{releases 7}] `},
		{Options{Types: options.Types, Now: options.Now, Columns: map[int]string{4: LeaveOut, 5: "court", 7: "legal", 10: LeaveOut},
			Swapped: []int{2}},
			`{"consideration":"10.00","consideration_text":"$10 \u0026 OVC","court":"Released 5/1/2010","grantees":["A","B"],"grantors":["C"],` +
				`"legal":"n","other_parties":[{"name":"T Co","role":"Trustee"}],"recorded":"1998-03-09","recorded_time":"2:05 pm",` +
				`"type":"Mortgage"} 7 [] ` +
				`{"court":"Releases No. 7 References Bk 1 Pg 2 Released by No. 3 ` +
				`Names Polk County, IA Names parcel 1-2, 3","recorded":"1998-03-09",` +
				`"recorded_time":"12:00","type":"Release or Satisfaction"} 9 [] `},
	} {
		var got strings.Builder
		for _, e := range table.Read(row.options).Entries {
			fields, err := json.Marshal(e.Fields)
			if err != nil {
				t.Fatalf("encode the fields: %v", err)
			}
			fmt.Fprintf(&got, "%s %d %v ", fields, e.Position, e.Relations)
		}
		if got.String() != row.want {
			t.Errorf("entries = %s\nwant %s", got.String(), row.want)
		}
	}
}
