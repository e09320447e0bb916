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

// listFile returns the lines of a list as CSV, and checks that the workbook has the same.
func (srv *testServer) listFile(t *testing.T, path, query string) [][]string {
	t.Helper()
	file := srv.do(t, call{as: "read", method: "GET", path: "/v1" + path + ".csv" + query, status: 200, media: "text/csv; charset=utf-8"})
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(file.body, []byte("\ufeff")))).ReadAll()
	vaulttest.NoError(t, err)
	book, err := excelize.OpenReader(bytes.NewReader(srv.do(t, call{as: "read", method: "GET", path: "/v1" + path + ".xlsx" + query,
		media: mediaExcel, status: 200}).body))
	vaulttest.NoError(t, err)
	rows, err := book.GetRows(book.GetSheetName(0), excelize.Options{RawCellValue: true})
	vaulttest.NoError(t, err)
	if len(rows) != len(lines) {
		t.Errorf("%s%s: the workbook has %d rows, want %d", path, query, len(rows), len(lines))
	}
	for n := range min(len(rows), len(lines)) {
		for len(rows[n]) < len(lines[n]) {
			rows[n] = append(rows[n], "")
		}
		if plain := strings.ReplaceAll(strings.Join(lines[n], "|"), "'", ""); strings.Join(rows[n], "|") != plain {
			t.Errorf("%s%s: row %d of the workbook = %q, want %q", path, query, n, rows[n], lines[n])
		}
	}
	return lines
}

// A list as a file has all records that match, in the sort order, with the requested columns.
func TestListFiles(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	const count = 230 // more than a page that the server reads at a time
	for n := range count {
		const order = `{"order_number":"N-%03d","county":%q,"due_date":"2026-07-%02d","custom_fields":{"client":"=HYPERLINK(%d)"}}`
		srv.do(t, orderCall(fmt.Sprintf(order, n, []string{"Essex", "Kent"}[n%2], n%28+1, n), 201, ""))
	}
	abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Essex"), fieldPart("custom_fields", `{"file_number":"26-1"}`)))
	srv.createInstrument(t, abstract,
		`{"type":"Mortgage","book":"01","page":"7","grantors":["Cole, Bea","Cole, Ned"],"consideration":"1250.25"}`)
	srv.waitForIndex(t)
	lines := srv.listFile(t, "/orders", "?county=kent&sort=order_number&columns=order_number,custom_fields.client,due_date,county_state")
	if len(lines) != count/2+1 || !slices.Equal(lines[0], []string{"Order number", "Client", "Due date", "County, state"}) {
		t.Fatalf("got %d lines that start with %q, want %d with the columns", len(lines), lines[0], count/2+1)
	}
	for n, line := range lines[1:] {
		at := 2*n + 1
		want := []string{fmt.Sprintf("N-%03d", at), fmt.Sprintf("'=HYPERLINK(%d)", at), fmt.Sprintf("2026-07-%02d", at%28+1), "Kent"}
		if !slices.Equal(line, want) {
			t.Fatalf("line %d = %q, want %q", n+1, line, want)
		}
	}
	lines = srv.listFile(t, "/orders", "?per_page=5&sort=-created_at") // a file has all pages
	id := srv.createID(t, orderCall(`{"order_number":"last"}`, 201, ""))
	if len(lines) != count+1 || lines[0][0] != "ID" || lines[0][1] != "Status" || len(lines[1][0]) != len(id) || lines[1][1] != "Active" ||
		slices.Contains(lines[0], "County, state") {
		t.Errorf("got %d lines, %q, %q, want all fields of %d orders", len(lines), lines[0], lines[1], count)
	}
	if lines = srv.listFile(t, "/orders", "?q=N-007&columns=order_number"); len(lines) != 2 || lines[1][0] != "N-007" {
		t.Errorf("search = %q, want N-007", lines)
	}
	if lines = srv.listFile(t, "/abstracts", "?columns=id,heading,template,county,documents"); len(lines) != 2 ||
		!slices.Equal(lines[1], []string{abstract, "26-1", "Residential Abstract", "Essex", "0"}) {
		t.Errorf("abstracts = %q, want the abstract", lines)
	}
	const columns = "&columns=abstract,abstract_id,position,type,book,grantors,consideration,status"
	want := []string{"26-1", abstract, "1", "Mortgage", "01", "Cole, Bea; Cole, Ned", "1250.25", "Open"}
	for _, query := range []string{"?book=1" + columns, "?party=ned" + columns} {
		if lines = srv.listFile(t, "/instruments", query); len(lines) != 2 || !slices.Equal(lines[1], want) {
			t.Errorf("instruments%s = %q, want %q", query, lines, want)
		}
	}
	for _, query := range []string{"columns=order_number,nonsense", "sort=nonsense", "q=x", "created_from=soon"} {
		srv.do(t, call{as: "read", method: "GET", path: "/v1/orders.csv?" + query, status: 422})
		srv.do(t, call{as: "read", method: "GET", path: "/v1/orders.xlsx?" + query, status: 422})
	}
	srv.do(t, call{as: "read", method: "GET", path: "/v1/orders.csv?columns=x", status: 422,
		want: invalidField("columns", "The selected columns is invalid.")})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/orders.csv?per_page=2&x=1&columns=status", status: 200,
		media: "text/csv; charset=utf-8", headers: map[string]string{"X-Ignored-Fields": "per_page,x"}})
}
