package runsheet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"deedkeep/app/model"
)

var mortgageType = model.DocumentType{Name: "Mortgage"}

// A long runsheet needs no more memory than a short one, and its rows are all there.
func TestWriteManyRows(t *testing.T) {
	const count = 10_000
	read := map[string]func([]byte, Limits) (Table, error){"CSV": ReadCSV, "Excel": readExcel}
	for format, write := range writers {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			out.Grow(8 << 20)
			start, peak := heapInUse(), uint64(0)
			if err := write(&out, manyRows(count, func() { peak = max(peak, heapInUse()) })); err != nil {
				t.Fatalf("write: %v", err)
			}
			if out.Len() > 8<<20 {
				t.Fatalf("the file has %d bytes, so the measured heap includes it", out.Len())
			}
			if more := (int64(peak) - int64(start)) >> 20; more > 4 {
				t.Errorf("heap grew by %d MB, want 4 MB or less", more)
			}
			table, err := read[format](out.Bytes(), Limits{Rows: count + 1, Bytes: 100 << 20})
			entries := table.Read(options).Entries
			if err != nil || len(entries) != count {
				t.Fatalf("read = %d entries, %v, want %d", len(entries), err, count)
			}
			n := 0
			for row, err := range manyRows(count, func() {}) {
				if err != nil {
					t.Fatal(err)
				}
				if e := entries[n]; e.Position != n+1 || e.Row != n+2 || e.Fields["instrument_number"].Value != row.Instrument.Number {
					t.Fatalf("entry %d = %+v, want No. %d with number %s", n, e, n+1, row.Instrument.Number)
				}
				n++
			}
		})
	}
}

// errHungUp is the error of a connection that the client closed.
var errHungUp = errors.New("hung up")

// hungUp fails after some bytes.
type hungUp struct{ left int }

func (h *hungUp) Write(p []byte) (int, error) {
	if h.left -= len(p); h.left < 0 {
		return 0, errHungUp
	}
	return len(p), nil
}

// If the client hangs up or a row can't be read, no more rows are read.
func TestWriteStops(t *testing.T) {
	errRow := errors.New("damaged row")
	failing := func(rows iter.Seq2[*Row, error], at int) iter.Seq2[*Row, error] {
		return func(yield func(*Row, error) bool) {
			n := 0
			for row, err := range rows {
				if n++; n == at {
					row, err = nil, errRow
				}
				if !yield(row, err) {
					return
				}
			}
		}
	}
	for format, write := range writers {
		thousands := 0
		if err := write(&hungUp{100 << 10}, manyRows(100_000, func() { thousands++ })); !errors.Is(err, errHungUp) || thousands > 5 {
			t.Errorf("%s to a client that hung up: %d,000 rows read, error %v, want 5,000 or less, %v", format, thousands, err, errHungUp)
		}
		var out bytes.Buffer
		if err := write(&out, failing(manyRows(3_000, func() {}), 2_500)); !errors.Is(err, errRow) {
			t.Errorf("%s with a damaged row: error %v, want %v", format, err, errRow)
		}
		if _, err := readExcel(out.Bytes(), Limits{Rows: 5_000, Bytes: 10 << 20}); format == "Excel" && err == nil {
			t.Error("Excel with a damaged row is a complete workbook, want one that no program opens")
		}
	}
}

// Nothing in a file is a formula, and the values that look like one are read back.
func TestFormulas(t *testing.T) {
	values := []string{"=1+1", "+1+1", "-1+1", "@SUM(1;1)", "\t=1+1", "\r=1+1", "\n=1+1", `=HYPERLINK("http://x","y")`, "=cmd|' /C calc'!A0", "'=1+1", "''-1",
		"_x003D_1", "plain"}
	var list []Row
	for n, value := range values {
		list = append(list, Row{Position: n + 1, Type: mortgageType, Instrument: model.Instrument{Remarks: value, Grantors: []string{value}, Number: value}})
	}
	var text, book bytes.Buffer
	if err := errors.Join(WriteCSV(&text, rowsOf(list...)), WriteExcel(&book, rowsOf(list...))); err != nil {
		t.Fatalf("write: %v", err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatalf("read CSV: %v", err)
	}
	for n, line := range lines {
		for _, cell := range line {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("CSV row %d has the cell %q, want an apostrophe in front", n+1, cell)
			}
		}
	}
	f, err := excelize.OpenReader(&book)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() { _ = f.Close() }()
	rows, err := f.GetRows("Runsheet")
	if err != nil || len(rows) != len(values)+1 {
		t.Fatalf("GetRows = %d rows, %v, want %d", len(rows), err, len(values)+1)
	}
	columns := FileColumns()
	last := slices.IndexFunc(columns, func(c FileColumn) bool { return c.Field == "remarks" })
	for n, value := range values {
		if got := rows[n+1][last]; got != value && strings.TrimSpace(got) != strings.TrimSpace(value) {
			t.Errorf("cell = %q, want %q", got, value)
		}
		for c := range columns {
			name, _ := excelize.CoordinatesToCellName(c+1, n+2)
			formula, err := f.GetCellFormula("Runsheet", name)
			kind, kindErr := f.GetCellType("Runsheet", name)
			if formula != "" || err != nil || kindErr != nil || kind != excelize.CellTypeInlineString && kind != excelize.CellTypeUnset {
				t.Errorf("cell %s: formula %q, type %v, %v, %v, want text", name, formula, kind, err, kindErr)
			}
		}
	}
}

// Names and texts with separators, quotes, and numbers are read back unchanged.
func TestRoundTripOfSeparators(t *testing.T) {
	names := []string{"Cole; Bea", `"Buck" Smith`, `"`, `a "b"; c`, "'=1", "Re: Poe", "plain"}
	parties := []model.Party{{Name: "Re: Poe"}, {Role: "Trustee", Name: "Cole; Ned: Jr."}, {Name: `"Buck"`}}
	texts := []string{"201904170093382", "#7", `"7"`, "Bk 1; Pg 2", "3 of 4"}
	row := Row{Position: 1, Type: mortgageType, Instrument: model.Instrument{Remarks: "''=1", Grantors: names, OtherParties: parties}}
	for _, text := range texts {
		row.Relations = append(row.Relations, model.Relation{Kind: "references", Text: text})
	}
	read := map[string]func([]byte, Limits) (Table, error){"CSV": ReadCSV, "Excel": readExcel}
	for format, write := range writers {
		var b bytes.Buffer
		if err := write(&b, rowsOf(row)); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		table, err := read[format](b.Bytes(), limits)
		entries := table.Read(options).Entries
		if err != nil || len(entries) != 1 {
			t.Fatalf("%s: read = %d entries, %v, want 1", format, len(entries), err)
		}
		about := model.InstrumentContext{Types: model.NewDocumentTypes()}
		got, rejected := model.CheckInstrument(entries[0].Fields, model.Instrument{}, about)
		if len(rejected) > 0 || len(entries[0].Relations) > 0 {
			t.Errorf("%s: rejected %v, relations to rows %v, want none", format, rejected, entries[0].Relations)
		}
		want, _ := json.Marshal([]any{row.Remarks, row.Grantors, row.OtherParties, row.Relations})
		if have, _ := json.Marshal([]any{got.Remarks, got.Grantors, got.OtherParties, got.Relations}); !bytes.Equal(have, want) {
			t.Errorf("%s: read\n%s, want\n%s", format, have, want)
		}
	}
}

// The status in a file is the one that the page shows, and it is read again.
func TestStatusOfTypes(t *testing.T) {
	easement, _ := model.NewDocumentTypes().ByName("Easement or Right of Way")
	judgment, _ := model.NewDocumentTypes().ByName("Judgment")
	var b bytes.Buffer
	if err := WriteCSV(&b, rowsOf(Row{Position: 1, Type: easement, Status: model.InstrumentOpen},
		Row{Position: 2, Type: judgment, Status: model.InstrumentReleased})); err != nil {
		t.Fatalf("WriteCSV: %v", err)
	}
	for _, want := range []string{"In effect", "Released or satisfied"} {
		if !strings.Contains(b.String(), want) || statusNames[strings.ToLower(want)] == "" {
			t.Errorf("file = %s, want %q as a status that can be read", b.String(), want)
		}
	}
}
