//go:build !race

package sandbox_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/sandbox"
)

// workbook returns a workbook with one deed, in which edit changed the files.
func workbook(t *testing.T, edit func(name string, content []byte) []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	rows := func(yield func(*runsheet.Row, error) bool) {
		yield(&runsheet.Row{Instrument: model.Instrument{Book: "0417"}, Position: 1, Type: model.DocumentType{Name: "Mortgage"}}, nil)
	}
	if err := runsheet.WriteExcel(&b, rows); err != nil {
		t.Fatalf("write workbook: %v", err)
	}
	in, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatalf("read workbook: %v", err)
	}
	var changed bytes.Buffer
	out := zip.NewWriter(&changed)
	for _, file := range in.File {
		r, err := file.Open()
		if err != nil {
			t.Fatalf("open %s: %v", file.Name, err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("read %s: %v", file.Name, err)
		}
		w, err := out.Create(file.Name)
		if err == nil {
			_, err = w.Write(edit(file.Name, content))
		}
		if err != nil {
			t.Fatalf("write %s: %v", file.Name, err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatalf("close workbook: %v", err)
	}
	return changed.Bytes()
}

// editSheet returns an edit of the sheet of a workbook.
func editSheet(edit func(string) string) func(string, []byte) []byte {
	return func(name string, content []byte) []byte {
		if strings.HasPrefix(name, "xl/worksheets/") {
			return []byte(edit(string(content)))
		}
		return content
	}
}

// A worker reads CSV files and workbooks. A hostile file fails with a document error and doesn't
// affect the next one.
func TestRunsheetInWorker(t *testing.T) {
	p := open(t, sandbox.Options{Workers: 1})
	limits := runsheet.Limits{Rows: 100, Bytes: 4 << 20}
	read := func(raw []byte) ([]runsheet.TableRow, error) {
		table, err := p.Runsheet(t.Context(), bytes.NewReader(raw), int64(len(raw)), limits)
		return table.Rows, err
	}
	same := func(s string) string { return s }
	good := workbook(t, editSheet(same))
	for _, row := range []struct {
		name string
		raw  []byte
		want error // nil: any document error
	}{
		{"zip bomb", workbook(t, editSheet(func(s string) string { return s + strings.Repeat(" ", 8<<20) })), runsheet.ErrTooLarge},
		{"sheet cut off", workbook(t, editSheet(func(s string) string { return s[:len(s)/2] })), nil},
		{"malformed XML", workbook(t, editSheet(func(string) string { return "<worksheet><sheetData><row><c></row>" })), nil},
		{"no XML", workbook(t, func(string, []byte) []byte { return []byte("\x00\x01") }), nil},
		{"file cut off", good[:len(good)/2], runsheet.ErrInvalid},
		{"text", []byte("Mortgage,1\n"), runsheet.ErrNoHeader},
		{"binary data", []byte("type,book\n\x00"), runsheet.ErrInvalid},
		{"nothing", nil, runsheet.ErrNoHeader},
		{"many rows", workbook(t, editSheet(func(s string) string {
			var b strings.Builder
			for n := range 200 {
				fmt.Fprintf(&b, `<row r="%d"><c r="B%d" t="inlineStr"><is><t>Mortgage</t></is></c></row>`, n+3, n+3)
			}
			return strings.Replace(s, "</sheetData>", b.String()+"</sheetData>", 1)
		})), runsheet.ErrTooManyRows},
		{"row at the end of the sheet", workbook(t, editSheet(func(s string) string {
			return strings.Replace(s, "</sheetData>", `<row r="1048576"><c r="B1048576" t="inlineStr"><is><t>Mortgage</t></is></c></row></sheetData>`, 1)
		})), runsheet.ErrTooManyRows},
		{"no header", workbook(t, editSheet(func(string) string { return "<worksheet><sheetData></sheetData></worksheet>" })),
			runsheet.ErrNoHeader},
	} {
		if rows, err := read(row.raw); err == nil || !sandbox.IsDocumentError(err) || row.want != nil && !errors.Is(err, row.want) {
			t.Errorf("%s: %d rows, error %v, want %v", row.name, len(rows), err, row.want)
		}
		rows, err := read(good)
		if err != nil || len(rows) != 1 || rows[0].Cells[4] != "0417" || rows[0].Cells[0] != "1" || rows[0].Row != 2 {
			t.Fatalf("after %s: rows = %+v, %v, want the mortgage in row 2", row.name, rows, err)
		}
	} // The cells of a row take much more memory than its text.
	if rows, err := read([]byte("type,book\nMortgage,0417\n" + strings.Repeat("a,", 4<<20))); err != nil && !sandbox.IsDocumentError(err) {
		t.Errorf("millions of cells: %d rows, error %v, want rows or a document error", len(rows), err)
	}
	rows, err := read([]byte("type,book\n\n\"Mort\ngage\",0417\n"))
	if err != nil || len(rows) != 1 || rows[0].Cells[1] != "0417" || rows[0].Row != 3 {
		t.Errorf("CSV: rows = %+v, %v, want one in line 3", rows, err)
	}
}
