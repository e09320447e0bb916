package runsheet

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"deedkeep/app/model"
)

// misreadCells are cells as people type them and OCR reads them.
var misreadCells = []string{
	"", "'", "’", "\"", "=1+1", "'=1", "-5%", "@", ";", "A; B;", "\"Quill; Ada\"; Poe", ":", "Trustee: ", ": Poe", "3-9-98",
	"2/30/2024", "45000", "0.5",
	"1e999",
	"-1", "$10 & OVC", "Bk 1022 Pg 311", "Bk1022-Pg311", "1022/311", "Deed Book 1022/0311-313", "Plat Cabinet A, Slide 35",
	"12-34", "/", "a/b/c", "Book", "1022 -",
	"releases 1", "releases", "partially releases #2; references", "references \"3\"",
	"#1", "Jose\u0301", "\u0301", "\x00", "\xff", strings.Repeat("a;", 300),
}

// FuzzReadCSV checks that whatever is read from a file is valid input from a worker process.
func FuzzReadCSV(f *testing.F) {
	for _, cell := range misreadCells {
		f.Add([]byte("No.\tType\tRecorded\tBook/Page\tGrantors\tRelations\n1\t" + strings.Repeat(cell+"\t", 5) + "\n"))
	}
	f.Add([]byte("\xff\xfet\x00y\x00p\x00e\x00,\x00b\x00o\x00o\x00k\x00\n\x00'\x00,\x001\x00"))
	f.Add([]byte("Runsheet\n\nDoc Type;Rec. Date;Bk;Pg\n\"Deed\";3-9-98;1O22;'\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := ReadCSV(raw, Limits{Rows: 50, Bytes: 1 << 20})
		checkTable(t, file, err)
		excel := reader{limits: Limits{Rows: 50, Bytes: 1 << 20}, isExcel: true}
		for n, line := range strings.Split(string(raw), "\n") {
			if err := excel.add(n+1, strings.Split(line, "\t")); err != nil {
				return
			}
		}
		file, err = excel.finish()
		checkTable(t, file, err)
	})
}

// checkTable checks that each cell that isn't left out is in its entry, and that entries are valid input.
func checkTable(t *testing.T, table Table, err error) {
	t.Helper()
	if err != nil && (len(table.Rows) > 0 || table.Header != nil) {
		t.Errorf("%d rows with the error %v", len(table.Rows), err)
	}
	last := 0
	for _, row := range table.Rows {
		if !row.Valid() || row.Row <= last || row.Row == 1 {
			t.Errorf("row %+v after row %d isn't valid", row, last)
		}
		last = row.Row
	}
	sheet := table.Read(options)
	for _, c := range sheet.Columns {
		if c.Title() == "" {
			t.Errorf("column %+v has no field", c)
		}
	}
	for _, e := range sheet.Entries {
		for name, raw := range e.Fields {
			if raw.Kind == model.InputMissing || !slices.Contains(model.InstrumentInputFields(), name) {
				t.Errorf("row %d: %s is %+v, want a field and a value", e.Row, name, raw)
			}
		}
		model.CheckInstrument(e.Fields, model.Instrument{AbstractID: 1}, model.InstrumentContext{Types: options.Types,
			Instrument: func(uint64) (model.Instrument, bool) { return model.Instrument{}, false }})
	}
}

// FuzzRoundTrip checks that an instrument with any texts is read back from a file as it was written. Cells have no
// spaces around.
func FuzzRoundTrip(f *testing.F) {
	for _, cell := range misreadCells {
		f.Add(cell, "Quill; Ada", "1022/311")
	}
	types := model.NewDocumentTypes()
	about := model.InstrumentContext{Types: types}
	f.Fuzz(func(t *testing.T, text, name, number string) {
		if !utf8.ValidString(text + name + number) {
			return
		}
		text, name, number = strings.TrimSpace(text), strings.TrimSpace(name), strings.TrimSpace(number)
		if text+name+number == "" {
			return // an instrument without values is a blank row, which isn't read
		}
		role := strings.ReplaceAll(name, ":", "") // a colon ends the role in a file
		in := model.Inputs{"instrument_number": model.StringInput(number), "book_type": model.StringInput(text),
			"book":     model.StringInput(number),
			"page":     model.StringInput(number),
			"grantors": model.StringsInput([]string{name, text}), "grantees": model.StringsInput([]string{text, name}),
			"parcels":       model.StringsInput([]string{number, name}),
			"other_parties": model.RowsInput([]model.Party{{Role: role, Name: text}, {Name: number}}), "legal": model.StringInput(text),
			"remarks": model.StringInput(name),
			"court":   model.StringInput(name), "exception": model.StringInput(number)}
		stored, rejected := model.CheckInstrument(in, model.Instrument{AbstractID: 1}, about)
		if len(rejected) > 0 {
			return
		}
		var file bytes.Buffer
		if err := WriteCSV(&file, rowsOf(Row{Instrument: stored, Position: 1})); err != nil {
			t.Fatalf("WriteCSV: %v", err)
		}
		entries, err := entries(file.Bytes(), limits)
		if err != nil || len(entries) != 1 {
			t.Fatalf("ReadCSV = %d rows, %v, want 1: %s", len(entries), err, file.Bytes())
		}
		read, rejected := model.CheckInstrument(entries[0].Fields, model.Instrument{AbstractID: 1}, about)
		if len(rejected) > 0 || !reflect.DeepEqual(read, stored) {
			t.Errorf("read back %+v, rejected %v, want %+v", read, rejected, stored)
		}
	})
}

var (
	usualNumber   = regexp.MustCompile(`^[0-9]+[A-Za-z]?$`)
	usualBookType = regexp.MustCompile(`^(?:[A-Z][a-z]+(?: [A-Z][a-z]+)*)?$`)
)

// FuzzBookPage checks that a recording reference has no spaces around its parts, and that a usual one is read as
// itself after it was formatted.
func FuzzBookPage(f *testing.F) {
	for _, cell := range misreadCells {
		f.Add(cell)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := ParseBookPage(text)
		if usualBookType.MatchString(r.BookType) && usualNumber.MatchString(r.Book) && usualNumber.MatchString(r.Page) &&
			(r.PageTo == "" || usualNumber.MatchString(r.PageTo)) {
			shown := FormatBookPage(model.Instrument{BookType: r.BookType, Book: r.Book, Page: r.Page, PageTo: r.PageTo})
			if again := ParseBookPage(shown); again != r {
				t.Errorf("ParseBookPage(%q) = %+v, shown as %q, and that as %+v", text, r, shown, again)
			}
		}
		for _, part := range []string{r.BookType, r.Book, r.Page, r.PageTo} {
			if strings.TrimSpace(part) != part {
				t.Errorf("ParseBookPage(%q) = %+v, want no spaces around", text, r)
			}
		}
	})
}
