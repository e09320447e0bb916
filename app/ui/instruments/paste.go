package instruments

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/tablerow"
	"deedkeep/app/vault"
)

// Limits of pasted rows. Files may have more rows.
const (
	maxPastedRows    = 500
	maxPastedColumns = tablerow.MaxColumns
)

// sheetFields returns the fields to which pasted cells without a header go: those of the columns of the runsheet that
// start with the named one.
func sheetFields(first string) (fields []string) {
	for _, c := range columns[max(0, slices.IndexFunc(columns, func(c column) bool { return c.Name == first })):] {
		if c.Name == columnDocuments {
			c.Name = runsheet.LeaveOut
		}
		fields = append(fields, c.Name)
	}
	return fields
}

// pastedTable returns pasted cells as a table. Without a header, fields are those of the columns of the
// runsheet that start with the named one.
func pastedTable(cells [][]string, first string) (table runsheet.Table, fields []string) {
	if runsheet.IsHeader(cells[0]) {
		table.Header = cells[0]
	} else {
		fields = sheetFields(first)
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
	hasText := func(cell string) bool { return strings.Trim(strings.TrimSpace(cell), " \n\ufeff") != "" }
	if !slices.ContainsFunc(table, func(row []string) bool { return slices.ContainsFunc(row, hasText) }) {
		return nil, errNoRows
	}
	return table, nil
}

// writeTable returns the text of a table, which readTable splits into the same cells.
func writeTable(table runsheet.Table) (string, error) {
	var cells [][]string
	if table.Header != nil {
		cells = append(cells, table.Header)
	}
	for _, row := range table.Rows {
		cells = append(cells, row.Cells)
	}
	var text strings.Builder
	w := csv.NewWriter(&text)
	w.Comma = '\t'
	err := w.WriteAll(cells)
	return text.String(), err
}

// accept shows the values of a valid row as they are stored.
func accept(row *tablerow.Row, g vault.Suggestion, columns []runsheet.Column, swapped bool) {
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
		case c.Field == columnType || c.Field == columnRecorded || c.Field == columnBookPage || c.Field == columnAmount:
			cell.Text = cellText(vault.InstrumentView{Instrument: g.Instrument, Type: g.Type}, c.Field)
		}
	}
}
