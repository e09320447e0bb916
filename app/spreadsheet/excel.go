package spreadsheet

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"
)

// sheetPath is the part of the only sheet in the package of a workbook.
const sheetPath = "xl/worksheets/sheet1.xml"

// WriteExcel holds that much in memory. A row that exceeds the bytes is written, too.
const (
	rowsPerPart  = 1_000
	bytesPerPart = 1 << 20 // of text
)

// WriteExcel writes a table as an Excel workbook (.xlsx) with one sheet. All cells but the
// amounts are text, so that no cell is a formula and numbers keep their leading zeros.
//
// It writes rows while it reads them. A StreamWriter of excelize would store all of them in memory
// and in a temporary file first, so each one writes only a few rows. The sheet is put together
// from what they wrote: the start of the first one, the rows of all, and the end of the last one.
func WriteExcel(w io.Writer, t Table) error {
	next, stop := iter.Pull2(t.Rows)
	defer stop()
	book := zip.NewWriter(w)
	p, more, err := t.writePart(1, next)
	if err != nil {
		return err
	}
	if err := p.copyOthers(book); err != nil {
		return err
	}
	sheet, err := book.Create(sheetPath)
	if err != nil {
		return err
	}
	if _, err := sheet.Write(p.start); err != nil {
		return err
	}
	for {
		if _, err := sheet.Write(p.rows); err != nil {
			return err
		}
		if !more {
			break
		}
		if p, more, err = t.writePart(p.next, next); err != nil {
			return err
		}
	}
	if _, err := sheet.Write(p.end); err != nil {
		return err
	}
	return book.Close()
}

// part is a workbook with some of the rows of a sheet.
type part struct {
	next             int                      // number of the row after the last one
	start, rows, end []byte                   // of the sheet
	others           map[string]*bytes.Buffer // files of the package besides the sheet
}

// writePart writes the next rows of a sheet, starting with row first. Row 1 is the header. more reports whether there may be more rows.
func (t Table) writePart(first int, next func() ([]string, error, bool)) (p part, more bool, err error) {
	s, err := t.newSheet()
	if err != nil {
		return part{}, false, err
	}
	defer func() { err = errors.Join(err, s.book.Close()) }()
	at, size := first, 0
	for ; at < first+rowsPerPart && size < bytesPerPart; at++ {
		line := s.header
		if at > 1 {
			row, err, ok := next()
			if err != nil {
				return part{}, false, err
			}
			if !ok {
				p, err = s.finish()
				return p, false, err
			}
			line = s.line(t.Columns, row, &size)
		}
		if err := s.stream.SetRow("A"+strconv.Itoa(at), line); err != nil {
			return part{}, false, fmt.Errorf("row %d: %w", at, err)
		}
	}
	p, err = s.finish()
	p.next = at
	return p, true, err
}

// sheet writes the rows of a part.
type sheet struct {
	book         *excelize.File
	stream       *excelize.StreamWriter
	header       []any
	text, amount int // styles of cells
}

func (t Table) newSheet() (*sheet, error) {
	s := &sheet{book: excelize.NewFile()}
	if err := s.prepare(t); err != nil {
		return nil, errors.Join(err, s.book.Close())
	}
	return s, nil
}

// prepare defines the styles and the columns.
func (s *sheet) prepare(t Table) error {
	const textFormat = 49 // "@"
	amountFormat := "#,##0.00"
	bold := 0
	for _, style := range []struct {
		id    *int
		style excelize.Style
	}{
		{&bold, excelize.Style{Font: &excelize.Font{Bold: true}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"E8ECF1"}}}},
		{&s.text, excelize.Style{NumFmt: textFormat, Alignment: &excelize.Alignment{Vertical: "top", WrapText: true}}},
		{&s.amount, excelize.Style{CustomNumFmt: &amountFormat, Alignment: &excelize.Alignment{Vertical: "top"}}},
	} {
		id, err := s.book.NewStyle(&style.style)
		if err != nil {
			return err
		}
		*style.id = id
	}
	if err := s.book.SetSheetName("Sheet1", t.Name); err != nil {
		return err
	}
	stream, err := s.book.NewStreamWriter(t.Name)
	if err != nil {
		return err
	}
	for n, c := range t.Columns {
		if err := stream.SetColWidth(n+1, n+1, c.Width); err != nil {
			return err
		}
		s.header = append(s.header, excelize.Cell{StyleID: bold, Value: c.Title})
	}
	s.stream = stream
	return stream.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
}

// line returns the cells of a row and adds their bytes to size.
func (s *sheet) line(columns []Column, row []string, size *int) []any {
	line := make([]any, len(columns))
	for n, c := range columns {
		value := row[n]
		if value == "" {
			continue
		}
		*size += len(value)
		line[n] = excelize.Cell{StyleID: s.text, Value: cutCell(value)}
		if c.Amount {
			if amount, err := strconv.ParseFloat(value, 64); err == nil {
				line[n] = excelize.Cell{StyleID: s.amount, Value: amount}
			}
		}
	}
	return line
}

// cutNote is the end of a cell that is too long for Excel.
const cutNote = " … [truncated, because an Excel cell can't hold more text; the CSV file is complete]"

// cutCell returns a text that is not too long for a cell. The limit is in UTF-16 code units.
func cutCell(value string) string {
	if len(value) <= excelize.TotalCellChars {
		return value
	}
	units := utf16.Encode([]rune(value))
	if len(units) <= excelize.TotalCellChars {
		return value
	}
	units = units[:excelize.TotalCellChars-len(cutNote)]
	if last := len(units) - 1; 0xd800 <= units[last] && units[last] < 0xdc00 {
		units = units[:last] // half of a character
	}
	return string(utf16.Decode(units)) + cutNote
}

var sheetDataStart, sheetDataEnd = []byte("<sheetData>"), []byte("</sheetData>")

// finish returns what was written.
func (s *sheet) finish() (part, error) {
	if err := s.stream.Flush(); err != nil {
		return part{}, err
	}
	files := packageFiles{}
	s.book.SetZipWriter(func(io.Writer) excelize.ZipWriter { return files })
	if err := s.book.Write(io.Discard); err != nil {
		return part{}, err
	}
	raw := files[sheetPath]
	delete(files, sheetPath)
	if raw == nil {
		return part{}, fmt.Errorf("the workbook has no %s", sheetPath)
	}
	start := bytes.Index(raw.Bytes(), sheetDataStart) + len(sheetDataStart)
	end := bytes.LastIndex(raw.Bytes(), sheetDataEnd)
	if start < len(sheetDataStart) || end < start {
		return part{}, fmt.Errorf("%s has no rows", sheetPath)
	}
	return part{start: raw.Bytes()[:start], rows: raw.Bytes()[start:end], end: raw.Bytes()[end:], others: files}, nil
}

// copyOthers copies the files besides the sheet.
func (p part) copyOthers(book *zip.Writer) error {
	var paths []string
	for path := range p.others {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		file, err := book.Create(path)
		if err != nil {
			return err
		}
		if _, err := file.Write(p.others[path].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// packageFiles are the files of a workbook by path. It is an excelize.ZipWriter.
type packageFiles map[string]*bytes.Buffer

func (f packageFiles) Create(path string) (io.Writer, error) {
	f[path] = &bytes.Buffer{}
	return f[path], nil
}

func (packageFiles) AddFS(fs.FS) error { return errors.ErrUnsupported }
func (packageFiles) Close() error      { return nil }
