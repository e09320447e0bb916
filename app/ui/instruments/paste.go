package instruments

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
)

// Limits of pasted rows. Files may have more rows.
const (
	maxPastedRows  = 500
	maxPastedBytes = 4 << 20
)

// sheetColumns are the columns of the table that pasted cells go to if they have no header, with the
// titles that package runsheet knows. Cells for a column without a title are ignored.
var sheetColumns = []struct{ column, title string }{
	{columnType, "Type"}, {"dated", "Dated"}, {columnRecorded, "Recorded"}, {columnBookPage, bookPageTitle},
	{"instrument_number", "Instrument Number"}, {"grantors", "Grantors"}, {"grantees", "Grantees"}, {"consideration", "Consideration"},
	{columnStatus, "Status"}, {"documents", ""}, {"remarks", "Remarks"},
}

// bookPageTitle is the title of a column that contains both book and page.
const bookPageTitle = "Book/Page"

// bookPageTitles are other titles of that column, in lower case without punctuation.
var bookPageTitles = []string{"bookpage", "bkpg", "bookpg", "volumepage", "volpg", "volpage", "liberpage", "recordingreference",
	"recordinginfo",
	"recording", "reference"}

// pastedRow is a row that a user pasted.
type pastedRow struct {
	Row       int // row in the pasted text, starting with 1
	Position  int // number that the row has itself; 0 if it has none
	Input     model.InstrumentInput
	relations []runsheet.RelationEntry
	Shown     vaultRow
	Problem   string // why it can't be added
}

// vaultRow are the values of a row in the preview.
type vaultRow struct{ Type, Recorded, Place, Grantors, Grantees, Amount string }

// parsePaste reads pasted rows. The first row may be a header. Without one, the cells go to the
// columns of the table, beginning with the named one.
func parsePaste(text, first string, types model.DocumentTypes, actor model.Actor) ([]pastedRow, error) {
	table, err := readTable(text)
	if err != nil {
		return nil, err
	}
	offset := 0
	if !isHeader(table[0]) {
		table, offset = slices.Insert(table, 0, headerFrom(first)), 1
	}
	if len(table) > maxPastedRows+1 {
		return nil, errTooManyRows
	}
	table = splitBookPage(table)
	var normalized bytes.Buffer
	lines := map[int]int{} // row in the pasted text by line of normalized
	line := 1
	w := csv.NewWriter(&normalized)
	w.Comma = '\t'
	for n, cells := range table {
		lines[line] = n + 1 - offset
		line++
		for _, cell := range cells {
			line += strings.Count(cell, "\n")
		}
		if err := w.Write(cells); err != nil {
			return nil, err
		}
	}
	w.Flush()
	entries, err := runsheet.ReadCSV(normalized.Bytes(), runsheet.Limits{Rows: maxPastedRows + 1, Bytes: maxPastedBytes})
	if err != nil {
		return nil, pasteError("The rows can't be read: " + err.Error() + ".")
	}
	rows := make([]pastedRow, 0, len(entries))
	for _, e := range entries {
		rows = append(rows, checkEntry(e, lines[e.Row], types, actor))
	}
	return rows, nil
}

var errTooManyRows = pasteError("Paste at most 500 rows at a time, or upload the runsheet as a file.")

func pasteError(text string) error { return &errs.Error{Kind: errs.Invalid, Message: text} }

// readTable splits pasted text into rows and cells, which are separated by tabs. Excel quotes cells
// that contain line breaks.
func readTable(text string) ([][]string, error) {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n\ufeff")
	if strings.TrimSpace(text) == "" {
		return nil, pasteError("Paste at least one row.")
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = '\t', -1, true
	var table [][]string
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, pasteError("The rows can't be read. Copy them again and paste them.")
		}
		table = append(table, cells)
		if len(table) > maxPastedRows+1 {
			return nil, errTooManyRows
		}
	}
	return table, nil
}

// isHeader reports whether a row has the titles of at least two columns.
func isHeader(cells []string) bool {
	cells = slices.Clone(cells)
	for n, cell := range cells {
		if isBookPageTitle(cell) {
			cells[n] = "Book"
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = '\t'
	if err := w.Write(cells); err != nil {
		return false
	}
	w.Flush()
	_, err := runsheet.ReadCSV(b.Bytes(), runsheet.Limits{Rows: 1, Bytes: maxPastedBytes})
	return err == nil
}

func isBookPageTitle(title string) bool {
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(title))
	return slices.Contains(bookPageTitles, letters)
}

// headerFrom returns the titles of the table's columns, beginning with the named one. The last title
// makes sure that there are at least two.
func headerFrom(first string) []string {
	at := max(0, slices.IndexFunc(sheetColumns, func(c struct{ column, title string }) bool { return c.column == first }))
	var titles []string
	for _, c := range sheetColumns[at:] {
		titles = append(titles, c.title)
	}
	return append(titles, "No.")
}

// splitBookPage replaces a column with book and page by separate columns for them.
func splitBookPage(table [][]string) [][]string {
	at := slices.IndexFunc(table[0], isBookPageTitle)
	if at < 0 {
		return table
	}
	for n, cells := range table {
		if len(cells) <= at {
			continue
		}
		place := parseBookPage(cells[at])
		parts := []string{place.bookType, place.book, place.page, place.pageTo}
		if n == 0 {
			parts = []string{"Book Type", "Book", "Page", "Last Page"}
		}
		table[n] = slices.Concat(cells[:at], parts, cells[at+1:])
	}
	return table
}

// checkEntry validates a row without storing it.
func checkEntry(e runsheet.Entry, number int, types model.DocumentTypes, actor model.Actor) pastedRow {
	row := pastedRow{Row: number, Position: e.Position, Input: e.Fields, relations: e.Relations}
	if raw := e.Fields["type"]; raw != nil {
		name := strings.Join(page.StoredTexts(raw), " ")
		t, found := findType(types, name)
		row.Shown.Type = name
		if !found {
			row.Problem = "“" + page.Truncate(name, 100) + "” isn't a document type."
		}
		row.Input["type_id"] = numberOrNull(t.ID)
		delete(row.Input, "type")
	}
	if raw := e.Fields["consideration"]; raw != nil {
		row.Input["consideration"] = page.EncodeJSON(strings.ReplaceAll(strings.Join(page.StoredTexts(raw), " "), " ", ""))
	}
	i, rejected := row.Input.Check(model.Instrument{}, model.InstrumentContext{Types: types, Actor: actor,
		File:       func(uint64) (*int, bool) { return nil, false },
		Instrument: func(uint64) (model.Instrument, bool) { return model.Instrument{}, false }})
	if len(rejected) > 0 {
		row.Problem = strings.TrimSpace(row.Problem + " " + problemText(rejected))
	}
	if t, found := types.ByID(i.TypeID); found {
		row.Shown.Type = t.Name
	}
	row.Shown.Recorded, row.Shown.Place = shortDate(i.Recorded), strings.Trim(bookPageText(i)+", "+i.Number, ", ")
	row.Shown.Grantors, row.Shown.Grantees = strings.Join(i.Grantors, "; "), strings.Join(i.Grantees, "; ")
	row.Shown.Amount = page.FormatValues(model.Money, []string{i.Consideration})
	return row
}
