package spreadsheet

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"
)

// orderTable returns a table of orders with count rows. observe is called after every 500 rows.
func orderTable(count int, observe func()) Table {
	return Table{Name: "Orders", Columns: []Column{{"Order number", 20, false}, {"Address", 40, false}, {"Fee", 12, true}},
		Rows: func(yield func([]string, error) bool) {
			row := make([]string, 3)
			for n := range count {
				row[0], row[1], row[2] = fmt.Sprintf("2026-%06d", n), fmt.Sprintf("%d Elm St, Wexcombe", n), fmt.Sprintf("%d.50", n)
				if !yield(row, nil) {
					return
				}
				if n%500 == 499 {
					observe()
				}
			}
		}}
}

// peakHeap returns by how many bytes the live objects grow while a file is written.
func peakHeap(t *testing.T, f Format, count int) int64 {
	t.Helper()
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	start, peak := inUse(), int64(0)
	if err := f.Write(io.Discard, orderTable(count, func() { peak = max(peak, inUse()) })); err != nil {
		t.Fatalf("write %d rows: %v", count, err)
	}
	return peak - start
}

// A file of 20,000 rows needs no more memory than one of 1,000 rows.
func TestMemoryOfLongTables(t *testing.T) {
	for _, f := range Formats() {
		short, long := peakHeap(t, f, 1_000), peakHeap(t, f, 20_000)
		if long > short+1<<20 {
			t.Errorf("%s: heap grew by %d KB for 1,000 rows and by %d KB for 20,000, want at most 1 MB more", f.Extension, short>>10, long>>10)
		}
	}
}

// All rows are in the file, in sequence. Amounts are numbers in Excel.
func TestLongExcelFile(t *testing.T) {
	const count = 2_500
	var b bytes.Buffer
	if err := WriteExcel(&b, orderTable(count, func() {})); err != nil {
		t.Fatalf("WriteExcel: %v", err)
	}
	book, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() { _ = book.Close() }()
	rows, err := book.GetRows("Orders", excelize.Options{RawCellValue: true})
	if err != nil || len(rows) != count+1 || rows[0][0] != "Order number" {
		t.Fatalf("got %d rows, %v, want %d with a header", len(rows), err, count+1)
	}
	for n, row := range rows[1:] {
		want := []string{fmt.Sprintf("2026-%06d", n), fmt.Sprintf("%d Elm St, Wexcombe", n), fmt.Sprintf("%d.5", n)}
		if !slices.Equal(row, want) {
			t.Fatalf("row %d = %q, want %q", n+1, row, want)
		}
	}
	if kind, err := book.GetCellType("Orders", "C9"); err != nil || kind != excelize.CellTypeUnset && kind != excelize.CellTypeNumber {
		t.Errorf("type of an amount = %v, %v, want a number", kind, err)
	}
}

// No cell is a formula, also not one in the header.
func TestFormulas(t *testing.T) {
	values := []string{"=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "'=1", "plain", "a,\"b\"\nc"}
	table := Table{Name: "Orders", Columns: []Column{{Title: "=1+1", Width: 9}}, Rows: func(yield func([]string, error) bool) {
		for _, value := range values {
			if !yield([]string{value}, nil) {
				return
			}
		}
	}}
	var b bytes.Buffer
	if err := WriteCSV(&b, table); err != nil {
		t.Fatalf("WriteCSV: %v", err)
	}
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b.Bytes(), []byte("\ufeff")))).ReadAll()
	if err != nil || len(lines) != len(values)+1 {
		t.Fatalf("read CSV: %d lines, %v, want %d", len(lines), err, len(values)+1)
	}
	for n, line := range lines {
		if strings.ContainsAny(line[0][:1], "=+-@\t\r") {
			t.Errorf("row %d = %q, want an apostrophe in front", n+1, line[0])
		}
		if n > 0 && Unescape(line[0]) != values[n-1] {
			t.Errorf("Unescape(%q) = %q, want %q", line[0], Unescape(line[0]), values[n-1])
		}
	}
}

// A text that is too long for a cell of Excel says so at its end.
func TestLongCell(t *testing.T) {
	short := strings.Repeat("x", excelize.TotalCellChars)
	for _, row := range []struct {
		name, value string
		cut         bool
	}{{"longest", short, false}, {"longest in UTF-16", strings.Repeat("é", excelize.TotalCellChars), false}, {"too long", short + "y", true},
		{"too long in UTF-16", strings.Repeat("🏠", excelize.TotalCellChars/2+1), true},
		{"too long and shifted", "x" + strings.Repeat("🏠", excelize.TotalCellChars/2+1), true}} {
		got := cutCell(row.value)
		units := len(utf16.Encode([]rune(got)))
		if cut := strings.HasSuffix(got, cutNote); cut != row.cut || !cut && got != row.value || units > excelize.TotalCellChars ||
			strings.Contains(got, "\ufffd") {
			t.Errorf("%s: cell has %d units, cut off: %t, ends with %q, want cut off: %t", row.name, units, cut, got[len(got)-10:], row.cut)
		}
	}
}
