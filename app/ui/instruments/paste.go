package instruments

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
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
	maxPastedRows    = 500
	maxPastedColumns = 100
)

// sheetFields are the fields of the columns of the runsheet, to which pasted cells go if they have no header.
var sheetFields = []struct{ column, field string }{
	{columnType, "type"}, {"dated", "dated"}, {columnRecorded, "recorded"}, {columnBookPage, "book_page"},
	{"instrument_number", "instrument_number"}, {"grantors", "grantors"}, {"grantees", "grantees"}, {"consideration", "consideration"},
	{columnStatus, "status"}, {"documents", runsheet.LeaveOut}, {"remarks", "remarks"},
}

// pastedTable returns pasted cells as a table. Without a header, fields are those of the columns of the
// runsheet that start with the named one.
func pastedTable(cells [][]string, first string) (table runsheet.Table, fields []string) {
	if runsheet.IsHeader(cells[0]) {
		table.Header = cells[0]
	} else {
		at := max(0, slices.IndexFunc(sheetFields, func(c struct{ column, field string }) bool { return c.column == first }))
		for _, c := range sheetFields[at:] {
			fields = append(fields, c.field)
		}
	}
	for n, row := range cells {
		if n > 0 || table.Header == nil {
			table.Rows = append(table.Rows, runsheet.TableRow{Row: n + 1, Cells: row})
		}
	}
	return table, fields
}

var errNoRows = pasteError("Paste at least one row.")

var errTooManyRows = pasteError("Paste at most 500 rows at a time, or import the runsheet as a file.")

func pasteError(text string) error { return &errs.Error{Kind: errs.Invalid, Message: text} }

// readTable splits pasted text into rows and cells, which are separated by tabs. Excel quotes cells
// that contain line breaks.
func readTable(text string) ([][]string, error) {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n\ufeff")
	if strings.TrimSpace(text) == "" {
		return nil, errNoRows
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
		if len(cells) == 1 && strings.Trim(cells[0], " \n\ufeff") == "" {
			continue // a quoted blank line, skipped like one without quotes
		}
		table = append(table, cells)
		if len(table) > maxPastedRows+1 {
			return nil, errTooManyRows
		}
	}
	if len(table) == 0 {
		return nil, errNoRows
	}
	return table, nil
}

// writeTable is the inverse of readTable.
func writeTable(table [][]string) (string, error) {
	var text strings.Builder
	w := csv.NewWriter(&text)
	w.Comma = '\t'
	err := w.WriteAll(table)
	return text.String(), err
}

// cellName returns the name of the input for a cell.
func cellName(row, column int) string { return fmt.Sprintf("cell.%d.%d", row, column) }

// correctCells replaces the cells of a table that a form has by cellName, starting with row 1 and
// column 0.
func correctCells(table [][]string, form url.Values) {
	for name, values := range form {
		var row, column int
		if n, err := fmt.Sscanf(name, "cell.%d.%d", &row, &column); n != 2 || err != nil || row < 1 || row > len(table) ||
			column < 0 || column >= maxPastedColumns {
			continue
		}
		cells := &table[row-1]
		for len(*cells) <= column {
			*cells = append(*cells, "")
		}
		(*cells)[column] = strings.TrimSpace(values[len(values)-1])
	}
}

// pastedRow is a row of the preview.
type pastedRow struct {
	Row      int // row in the pasted text, starting with 1
	Cells    []pastedCell
	Rejected bool
	Problems []string // those that belong to no cell
	Repeats  string   // which instrument the row repeats; "" if it repeats none
	Choices  []page.RowChoice
	Swap     bool // the parties have labels of their own, so a person may want to exchange them
}

// Field returns the form field of Choices.
func (row pastedRow) Field() string { return page.RowField(row.Row) }

// pastedCell is a cell of the preview.
type pastedCell struct {
	Title   string // of the column
	Label   string // what the parties in the cell are called, such as Plaintiff
	Text    string // as it is stored or, in a rejected row, as it was pasted
	Name    string // of its input; "" if the cell can't be corrected
	Problem string
	Left    bool // not stored
	Amount  bool
	IsType  bool
}

// newPastedRow returns a row of the preview. columns are those that the preview shows.
func newPastedRow(e runsheet.Entry, cells []string, columns []runsheet.Column) pastedRow {
	row := pastedRow{Row: e.Row}
	for _, c := range columns {
		cell := pastedCell{Title: c.Title(), Left: c.Field == runsheet.LeaveOut, Amount: c.Field == "consideration",
			IsType: c.Field == columnType}
		if c.N < len(cells) {
			cell.Text = strings.TrimSpace(cells[c.N])
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// accept shows the values of a valid row as they are stored.
func (row *pastedRow) accept(g vault.Suggestion, columns []runsheet.Column, swapped bool) {
	grantor, grantee := g.Type.SpecialLabels()
	row.Swap = grantor != "" && len(g.Instrument.Grantors)+len(g.Instrument.Grantees) > 0
	for n, c := range columns {
		cell := &row.Cells[n]
		isGrantor := (c.Field == "grantors") != swapped
		switch {
		case cell.Text == "":
		case c.Field == "grantors" || c.Field == "grantees":
			cell.Text = model.JoinNames(model.SplitNames(cell.Text), "; ")
			if cell.Label = grantor; !isGrantor {
				cell.Label = grantee
			}
		case c.Field == "dated" || c.Field == "expires" || c.Field == "cleared":
			cell.Text = page.FormatTypedDate(map[string]string{"dated": g.Instrument.Dated, "expires": g.Instrument.Expires,
				"cleared": g.Instrument.Cleared}[c.Field])
		case c.Field == columnStatus && g.Instrument.Status != "":
			cell.Text = page.InstrumentStatus(g.Type, g.Instrument.Status)
		case c.Field == columnType || c.Field == columnRecorded || c.Field == columnBookPage || c.Field == "consideration":
			cell.Text = cellText(vault.InstrumentView{Instrument: g.Instrument, Type: g.Type}, c.Field)
		}
	}
}

// combinedFields are fields whose problems belong to the cells of another one.
var combinedFields = map[string]string{"book_type": "book_page", "book": "book_page", "page": "book_page", "page_to": "book_page",
	"recorded_time": "recorded", "consideration_text": "consideration", "relations": "status"}

// reject shows the problems of a row that isn't valid in inputs for its wrong cells or, if a problem belongs
// to no cell, for all of them.
func (row *pastedRow) reject(fields errs.Fields, columns []runsheet.Column, swapped bool) {
	row.Rejected = true
	texts := page.ProblemTexts(fields)
	for n, f := range fields {
		name, _, _ := strings.Cut(f.Field, ".")
		if swapped {
			name = cmp.Or(map[string]string{"grantors": "grantees", "grantees": "grantors"}[name], name)
		}
		found := false
		for _, field := range []string{name, combinedFields[name]} {
			for at, c := range columns {
				if cell := &row.Cells[at]; c.Field == field && (cell.Text != "" || name == field) && !found {
					if name == columnType {
						texts[n] = unknownType(cell.Text)
					}
					found, cell.Name, cell.Problem = true, cellName(row.Row, c.N), strings.TrimSpace(cell.Problem+" "+texts[n])
				}
			}
		}
		if !found {
			row.Problems = append(row.Problems, texts[n])
		}
	}
	for n, c := range columns {
		if len(row.Problems) > 0 && !row.Cells[n].Left {
			row.Cells[n].Name = cellName(row.Row, c.N)
		}
	}
}
