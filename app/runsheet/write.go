package runsheet

import (
	"io"
	"iter"

	"deedkeep/app/spreadsheet"
)

// WriteCSV writes a runsheet as a CSV file; see spreadsheet.WriteCSV.
func WriteCSV(w io.Writer, rows iter.Seq2[*Row, error]) error {
	return spreadsheet.WriteCSV(w, File(rows))
}

// WriteExcel writes a runsheet as an Excel workbook; see spreadsheet.WriteExcel.
func WriteExcel(w io.Writer, rows iter.Seq2[*Row, error]) error {
	return spreadsheet.WriteExcel(w, File(rows))
}

// File returns the content of a file with the given rows.
func File(rows iter.Seq2[*Row, error]) spreadsheet.Table {
	t := spreadsheet.Table{Name: "Runsheet"}
	columns := FileColumns()
	for _, c := range columns {
		t.Columns = append(t.Columns, spreadsheet.Column{Title: c.Title, Width: c.Width, Amount: c.Field == "consideration"})
	}
	t.Rows = spreadsheet.Rows(rows, len(columns), func(row *Row, n int) string { return columns[n].Value(row) })
	return t
}

// FileColumn is a column of the files that WriteCSV and WriteExcel write.
type FileColumn struct {
	Field, Title string
	Width        float64 // in characters
	Value        func(*Row) string
}

// FileColumns returns the columns of the files that WriteCSV and WriteExcel write.
func FileColumns() (list []FileColumn) {
	for _, c := range columns {
		if c.Width > 0 {
			list = append(list, FileColumn{c.field, c.Title, c.Width, c.value})
		}
	}
	return list
}
