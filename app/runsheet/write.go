package runsheet

import (
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"strconv"

	"github.com/xuri/excelize/v2"

	"deedkeep/app/apitypes"
)

// WriteCSV writes a runsheet as CSV (RFC 4180) that starts with a byte order mark, so that Excel
// reads it as UTF-8. Cells that a spreadsheet would take for a formula start with an apostrophe.
func WriteCSV(w io.Writer, rows iter.Seq2[*Row, error]) error {
	if _, err := io.WriteString(w, apitypes.ByteOrderMark); err != nil {
		return err
	}
	table := csv.NewWriter(w)
	line := make([]string, len(columns))
	for n, c := range columns {
		line[n] = c.title
	}
	if err := table.Write(line); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		for n, c := range columns {
			line[n] = apitypes.EscapeFormula(c.value(row))
		}
		if err := table.Write(line); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// sheetName is the name of the sheet in Excel files.
const sheetName = "Runsheet"

// WriteExcel writes a runsheet as an Excel workbook (.xlsx) with one sheet. All cells but the
// amounts are text, so that no cell is a formula and numbers keep their leading zeros.
func WriteExcel(w io.Writer, rows iter.Seq2[*Row, error]) (err error) {
	book := excelize.NewFile()
	defer func() { err = errors.Join(err, book.Close()) }()
	if err := book.SetSheetName("Sheet1", sheetName); err != nil {
		return err
	}
	bold, err := book.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true},
		Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"E8ECF1"}}})
	if err != nil {
		return err
	}
	amount := "#,##0.00"
	styles, err := newCellStyles(book, amount)
	if err != nil {
		return err
	}
	sheet, err := book.NewStreamWriter(sheetName)
	if err != nil {
		return err
	}
	header := make([]any, len(columns))
	for n, c := range columns {
		if err := sheet.SetColWidth(n+1, n+1, c.width); err != nil {
			return err
		}
		header[n] = excelize.Cell{StyleID: bold, Value: c.title}
	}
	if err := sheet.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	if err := sheet.SetRow("A1", header); err != nil {
		return err
	}
	line := make([]any, len(columns))
	at := 1
	for row, err := range rows {
		if err != nil {
			return err
		}
		at++
		for n, c := range columns {
			line[n] = styles.cell(c, c.value(row))
		}
		if err := sheet.SetRow("A"+strconv.Itoa(at), line); err != nil {
			return err
		}
	}
	if err := sheet.Flush(); err != nil {
		return err
	}
	return book.Write(w)
}

// cellStyles are the styles of the cells of a workbook.
type cellStyles struct{ text, amount int }

func newCellStyles(book *excelize.File, format string) (s cellStyles, err error) {
	const textFormat = 49 // "@"
	s.text, err = book.NewStyle(&excelize.Style{NumFmt: textFormat, Alignment: &excelize.Alignment{Vertical: "top", WrapText: true}})
	if err != nil {
		return s, err
	}
	s.amount, err = book.NewStyle(&excelize.Style{CustomNumFmt: &format, Alignment: &excelize.Alignment{Vertical: "top"}})
	return s, err
}

// cell returns a cell of a row. Amounts are numbers.
func (s cellStyles) cell(c column, value string) any {
	if value == "" {
		return nil
	}
	if c.field == "consideration" {
		if amount, err := strconv.ParseFloat(value, 64); err == nil {
			return excelize.Cell{StyleID: s.amount, Value: amount}
		}
	}
	return excelize.Cell{StyleID: s.text, Value: value}
}
