package runsheet

import (
	"encoding/csv"
	"io"
	"iter"

	"deedkeep/app/apitypes"
)

// WriteCSV writes a runsheet as CSV (RFC 4180) that starts with a byte order mark, so that Excel
// reads it as UTF-8. Cells that a spreadsheet would take for a formula start with an apostrophe.
func WriteCSV(w io.Writer, rows iter.Seq2[*Row, error]) error {
	if _, err := io.WriteString(w, apitypes.ByteOrderMark); err != nil {
		return err
	}
	table := csv.NewWriter(w)
	line := make([]string, len(written))
	for n, c := range written {
		line[n] = c.Title
	}
	if err := table.Write(line); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		for n, c := range written {
			line[n] = escapeCell(c.value(row))
		}
		if err := table.Write(line); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}
