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
	"deedkeep/app/vault"
)

// Limits of pasted rows. Files may have more rows.
const (
	maxPastedRows  = 500
	maxPastedBytes = 4 << 20
)

// sheetColumns are the columns of the table that pasted cells go to if they have no header, with the
// titles that package runsheet knows. Cells for a column without a title are ignored.
var sheetColumns = []struct{ column, title string }{
	{columnType, "Type"}, {"dated", "Dated"}, {columnRecorded, "Recorded"}, {columnBookPage, runsheet.BookPageTitle},
	{"instrument_number", "Instrument Number"}, {"grantors", "Grantors"}, {"grantees", "Grantees"}, {"consideration", "Consideration"},
	{columnStatus, "Status"}, {"documents", ""}, {"remarks", "Remarks"},
}

// pastedRow is a row that a user pasted, as the preview shows it.
type pastedRow struct {
	Row                                               int // row in the pasted text, starting with 1
	Type, Recorded, Place, Grantors, Grantees, Amount string
	Problem                                           string // why it can't be added
}

// parsePaste reads pasted rows. The first row may be a header. Without one, the cells go to the
// columns of the table, beginning with the named one. Names of document types may be abbreviated.
func parsePaste(text, first string, types model.DocumentTypes) ([]runsheet.Entry, error) {
	table, err := readTable(text)
	if err != nil {
		return nil, err
	}
	offset := 0
	if !runsheet.IsHeader(table[0]) {
		table, offset = slices.Insert(table, 0, headerFrom(first)), 1
	}
	if len(table) > maxPastedRows+1 {
		return nil, errTooManyRows
	}
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
	for n, e := range entries {
		entries[n].Row = lines[e.Row]
		if t, found := types.Find(entryText(e, columnType)); found {
			e.Fields[columnType] = page.EncodeJSON(t.Name)
		}
	}
	return entries, nil
}

// entryText returns the text of a field of a row.
func entryText(e runsheet.Entry, field string) string {
	return strings.Join(page.StoredTexts(e.Fields[field]), " ")
}

var errTooManyRows = pasteError("Paste at most 500 rows at a time, or import the runsheet as a file.")

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

// newPastedRow returns a row that can be added.
func newPastedRow(g vault.Suggestion) pastedRow {
	i := g.Instrument
	return pastedRow{Row: g.Row, Type: g.Type.Name, Recorded: page.FormatTypedDate(i.Recorded),
		Place:    strings.Trim(runsheet.FormatBookPage(i)+", "+i.Number, ", "),
		Grantors: model.JoinNames(i.Grantors, "; "), Grantees: model.JoinNames(i.Grantees, "; "),
		Amount: page.FormatValues(model.Money, []string{i.Consideration})}
}

// pasteProblem says why a row can't be added. typed is the name of its document type.
func pasteProblem(fields errs.Fields, typed string) string {
	texts := page.ProblemTexts(fields)
	for n, f := range fields {
		if f.Field == columnType {
			texts[n] = unknownType(typed)
		}
	}
	return strings.Join(texts, " ")
}
