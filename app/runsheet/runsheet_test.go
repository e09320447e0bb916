package runsheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"deedkeep/app/model"
)

var limits = Limits{Rows: 1000, Bytes: 10 << 20}

// rowsOf returns rows as WriteCSV and WriteExcel read them.
func rowsOf(list ...Row) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for n := range list {
			if !yield(&list[n], nil) {
				return
			}
		}
	}
}

// options are those for tests.
var options = Options{Types: model.NewDocumentTypes(), Now: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)}

// entries returns the entries of a CSV file.
func entries(raw []byte, limits Limits) ([]Entry, error) {
	table, err := ReadCSV(raw, limits)
	return table.Read(options).Entries, err
}

// sample returns a mortgage and its release, with values that spreadsheets like to change.
func sample() []Row {
	positions := map[uint64]int{10: 1, 11: 2}
	mortgage := model.Instrument{ID: 10, Number: "0001234567890123456", BookType: "Mortgage Book", Book: "0417", Page: "007", PageTo: "019",
		Dated: "2001-05-01", Recorded: "2001-05-02", RecordedTime: "14:05", Expires: "2031-05-01", Grantors: []string{"Cole, Bea", "Cole, Ned"},
		Grantees: []string{"=HYPERLINK(\"http://x\")"}, OtherParties: []model.Party{{Role: "Nominee", Name: "MERS"}, {Name: "Ann Poe"}},
		Consideration: "120000.50", ConsiderationText: "$10 & OVC",
		Parcels: []string{"12-3.45", "1E5"}, Legal: "Lot 7,\nBlock 2", Remarks: "-5%", County: "Wexcombe", State: "NY",
		CaseNumber: "24-117", Court: "Probate", RecordingSystem: "registered", CertificateOfTitle: "99", Exception: "B-II", Requirement: "B-I",
		Cleared: "2026-01-02"}
	release := model.Instrument{ID: 11, Relations: []model.Relation{{Kind: "releases", InstrumentID: 10},
		{Kind: "partially_releases", Text: "Bk 1 Pg 2"}}}
	return []Row{
		{Instrument: mortgage, Position: 1, Type: mortgageType, Status: model.InstrumentOpen, Number: positions},
		{Instrument: release, Position: 2, Type: model.DocumentType{Name: "Release or Satisfaction"}, Number: positions}}
}

// Values that are written to a file are read back unchanged.
func TestRoundTrip(t *testing.T) {
	write := map[string]func(*bytes.Buffer) error{
		"CSV":   func(b *bytes.Buffer) error { return WriteCSV(b, rowsOf(sample()...)) },
		"Excel": func(b *bytes.Buffer) error { return WriteExcel(b, rowsOf(sample()...)) },
	}
	read := map[string]func([]byte, Limits) (Table, error){"CSV": ReadCSV, "Excel": readExcel}
	for format := range write {
		t.Run(format, func(t *testing.T) {
			var b bytes.Buffer
			if err := write[format](&b); err != nil {
				t.Fatalf("write: %v", err)
			}
			table, err := read[format](b.Bytes(), limits)
			entries := table.Read(options).Entries
			if err != nil || len(entries) != 2 {
				t.Fatalf("read = %d entries, %v, want 2", len(entries), err)
			}
			for n, row := range sample() {
				got, rejected := model.CheckInstrument(entries[n].Fields, model.Instrument{},
					model.InstrumentContext{Types: model.NewDocumentTypes()})
				if len(rejected) > 0 {
					t.Errorf("row %d: rejected %v, want nothing", n, rejected)
				}
				want := row.Instrument
				want.ID, want.TypeID, want.Relations, want.Status, want.StatusSetBy = 0, got.TypeID, got.Relations, row.Status,
					got.StatusSetBy
				if !reflect.DeepEqual(got, want) {
					t.Errorf("row %d = %+v, want %+v", n, got, want)
				}
				if kind, _ := model.NewDocumentTypes().ByID(got.TypeID); kind.Name != row.Type.Name ||
					entries[n].Position != row.Position {
					t.Errorf("row %d: type %q, position %d, want %q, %d", n, kind.Name, entries[n].Position, row.Type.Name, row.Position)
				}
			}
			if want := []RelationEntry{{"releases", 1}}; !slices.Equal(entries[1].Relations, want) {
				t.Errorf("relations = %v, want %v", entries[1].Relations, want)
			}
			other := entries[1].Fields["relations"].Items
			if len(other) != 1 || other[0].Members["text"].Value != "Bk 1 Pg 2" {
				t.Errorf("other relations = %+v, want a partial release of Bk 1 Pg 2", other)
			}
		})
	}
}

// Files from other programs have other titles and formats.
func TestReadCSVOfOthers(t *testing.T) {
	for _, row := range []struct{ name, file, want string }{
		{"titles of a county", "Runsheet of Lot 7\n\nDoc Type,Rec. Date,Bk,Pg,Grantor,Grantee,Amount\nMortgage,5/2/2001,0417,7,\"Cole, Bea\",First Bank,\"$1,200\"\n",
			`{"book":"0417","consideration":"1200.00","grantees":["First Bank"],"grantors":["Cole, Bea"],"page":"7","recorded":"2001-05-02","type":"Mortgage"}`},
		{"semicolons", "type;recorded\nMortgage;Jan 2, 2006\n", `{"recorded":"2006-01-02","type":"Mortgage"}`},
		{"more semicolons than commas", "type,grantors,color\nMortgage,A; B; C; D; E; F,\n", `{"grantors":["A","B","C","D","E","F"],"type":"Mortgage"}`},
		{"tabs", "type\trecorded\nMortgage\t20060102\n", `{"recorded":"2006-01-02","type":"Mortgage"}`},
		{"unknown columns and short rows", "type,color,recorded\nMortgage\n,,\n", `{"type":"Mortgage"}`},
		{"text that isn't a date", "type,recorded\nMortgage,unknown\n", `{"recorded":"unknown","type":"Mortgage"}`},
		{"byte order mark", "\ufefftype,book\nMortgage,1\n", `{"book":"1","type":"Mortgage"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			entries, err := entries([]byte(row.file), limits)
			if err != nil || len(entries) != 1 {
				t.Fatalf("ReadCSV = %d entries, %v, want 1", len(entries), err)
			}
			if got, _ := json.Marshal(entries[0].Fields); string(got) != row.want {
				t.Errorf("fields = %s, want %s", got, row.want)
			}
		})
	}
}

func TestReadInvalidFiles(t *testing.T) {
	if _, err := ReadCSV([]byte("a,b\nc,d\n"), limits); !errors.Is(err, ErrNoHeader) {
		t.Errorf("no header: error %v, want %v", err, ErrNoHeader)
	}
	if _, err := ReadCSV([]byte("type,book\n"+strings.Repeat("Mortgage,1\n", 1000)), limits); !errors.Is(err, ErrTooManyRows) {
		t.Errorf("1,001 rows: error %v, want %v", err, ErrTooManyRows)
	}
	for name, raw := range map[string][]byte{"empty": nil, "text": []byte("type,book"),
		"an empty ZIP file": []byte("PK\x05\x06" + strings.Repeat("\x00", 18))} {
		if _, err := readExcel(raw, limits); err == nil {
			t.Errorf("readExcel of %s: no error, want one", name)
		}
	}
	var b bytes.Buffer
	if err := WriteExcel(&b, rowsOf(sample()...)); err != nil {
		t.Fatalf("write: %v", err)
	}
	if _, err := readExcel(b.Bytes(), Limits{Rows: 10, Bytes: 1 << 10}); err == nil {
		t.Error("a workbook of more than 1 KB unpacked: no error, want one")
	}
}

// Cells with very many names, or separators only, are read quickly, and the names that are returned are
// still too many for an instrument.
func TestSplitLongCells(t *testing.T) {
	for _, row := range []struct {
		name, part string
		want       int
	}{
		{"names", "a;", model.MaxListItems + 1}, {"quoted names", `"a";`, model.MaxListItems + 1}, {"separators", ";", 0},
		{"line breaks", "\n", 0}, {"blanks", " ", 0}, {"quotes", `"`, 1}, {"empty quoted names", `"";"`, model.MaxListItems + 1}, {"blanks between", "; ", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			start := time.Now()
			got := model.SplitNames(strings.Repeat(row.part, 2_000_000))
			if took := time.Since(start); len(got) != row.want || took > time.Minute { // a hang, also on a busy machine
				t.Errorf("split returned %d names after %v, want %d", len(got), took, row.want)
			}
		})
	}
}

// Workbooks whose rows have more cells or text than the file are rejected.
func TestReadLargeExcel(t *testing.T) {
	for _, row := range []struct {
		name  string
		write func(*excelize.File) error
	}{
		{"a cell in the last column of each row", func(book *excelize.File) error {
			rows, err := book.NewStreamWriter("Sheet1")
			err = errors.Join(err, rows.SetRow("A1", []any{"Type", "Book"}))
			for n := range 65 {
				err = errors.Join(err, rows.SetRow(fmt.Sprint("XFD", n+2), []any{"Mortgage"}))
			}
			return errors.Join(err, rows.Flush())
		}},
		{"the same long text in each row", func(book *excelize.File) error {
			err := book.SetSheetRow("Sheet1", "A1", &[]any{"Type", "Book"})
			for n := range 300 {
				err = errors.Join(err, book.SetCellStr("Sheet1", fmt.Sprint("A", n+2), strings.Repeat("x", 30_000)))
			}
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			book := excelize.NewFile()
			err := row.write(book)
			raw, writeErr := book.WriteToBuffer()
			if err := errors.Join(err, writeErr, book.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := readExcel(raw.Bytes(), Limits{Rows: 5000, Bytes: 8 << 20}); !errors.Is(err, ErrTooLarge) {
				t.Errorf("readExcel: error %v, want %v", err, ErrTooLarge)
			}
		})
	}
}
