// Package spreadsheet writes tables as CSV and Excel files. It writes rows while it reads them, so a long table needs no
// more memory than a short one. No cell of a file is a formula.
package spreadsheet

import (
	"encoding/csv"
	"io"
	"iter"
	"strings"

	"deedkeep/app/apitypes"
)

// Table is the content of a file.
type Table struct {
	Name    string // of the sheet in Excel, at most 31 characters
	Columns []Column
	Rows    iter.Seq2[[]string, error] // one cell per column; a row is only valid until the next one
}

// Column is a column of a table.
type Column struct {
	Title  string
	Width  float64 // in characters
	Amount bool    // cells are amounts, which are numbers in Excel
}

// Rows returns the rows of a table of records. cell returns the text of a record in column n.
func Rows[T any](records iter.Seq2[T, error], columns int, cell func(record T, n int) string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		cells := make([]string, columns)
		for record, err := range records {
			for n := range cells {
				if err == nil {
					cells[n] = cell(record, n)
				}
			}
			if !yield(cells, err) || err != nil {
				return
			}
		}
	}
}

// Format is a file format.
type Format struct {
	Extension string // such as ".csv"
	Media     string
	Write     func(io.Writer, Table) error
}

// Formats returns CSV and Excel.
func Formats() []Format {
	return []Format{{".csv", "text/csv; charset=utf-8", WriteCSV},
		{".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", WriteExcel}}
}

// WriteCSV writes a table as CSV (RFC 4180) that starts with a byte order mark, so that Excel
// reads it as UTF-8. Cells that a spreadsheet would take for a formula start with an apostrophe.
func WriteCSV(w io.Writer, t Table) error {
	if _, err := io.WriteString(w, apitypes.ByteOrderMark); err != nil {
		return err
	}
	table := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		line[n] = escape(c.Title)
	}
	if err := table.Write(line); err != nil {
		return err
	}
	for row, err := range t.Rows {
		if err != nil {
			return err
		}
		for n := range line {
			line[n] = escape(row[n])
		}
		if err := table.Write(line); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// escape returns a cell of a CSV file that no spreadsheet takes for a formula.
func escape(value string) string {
	if isEscapable(value) {
		return "'" + value
	}
	return value
}

// Unescape returns the value of a cell of a CSV file that WriteCSV wrote.
func Unescape(cell string) string {
	if value, found := strings.CutPrefix(cell, "'"); found && isEscapable(value) {
		return value
	}
	return cell
}

// isEscapable reports whether a value is a formula, or one that is escaped already.
func isEscapable(value string) bool {
	bare := strings.TrimLeft(value, "'")
	return apitypes.EscapeFormula(bare) != bare
}
