package runsheet

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"deedkeep/app/spreadsheet"
)

// Limits of the files that are read.
type Limits struct {
	Rows  int   `json:"rows"`  // max rows, including those above the header
	Bytes int64 `json:"bytes"` // max bytes of an unpacked workbook
}

// DefaultLimits returns the limits of the default settings.
func DefaultLimits() Limits { return Limits{Rows: 5_000, Bytes: 32 << 20} }

// Table is the cells of a file or of pasted text. The first row is the header, which can be nil.
type Table struct {
	Header []string
	Rows   []TableRow // the rows below the header that aren't blank
	Excel  bool       // dates and times may be numbers of days
}

// TableRow is a row of a Table.
type TableRow struct {
	Row   int      `json:"row"` // row in the file, starting with 1
	Cells []string `json:"cells"`
}

// CellsByRow returns the cells of each row.
func (t Table) CellsByRow() map[int][]string {
	cells := make(map[int][]string, len(t.Rows))
	for _, row := range t.Rows {
		cells[row.Row] = row.Cells
	}
	return cells
}

// Valid reports whether a row can come from a file. Check it for rows from a worker process.
func (r TableRow) Valid() bool { return r.Row > 0 && len(r.Cells) <= maxColumns }

// MaxHeaderRow is the last row in which the header may be.
const MaxHeaderRow = 20

// ErrNoHeader is returned if a file has no row with the titles of at least two columns.
var ErrNoHeader = errors.New("the file has no row with column headings, such as Type, Recorded, Grantors, and Grantees")

// Read reads a runsheet from an Excel workbook (.xlsx) or a CSV file. Call it only in a worker
// process: the file is untrusted, and a row may have millions of cells.
func Read(raw []byte, limits Limits) (Table, error) {
	if IsExcel(raw) {
		return readExcel(raw, limits)
	}
	return ReadCSV(raw, limits)
}

// IsExcel reports whether a file can be a workbook: a ZIP file.
func IsExcel(raw []byte) bool { return bytes.HasPrefix(raw, []byte("PK\x03\x04")) }

// ErrInvalid is returned if a file is neither CSV nor an Excel workbook (.xlsx).
var ErrInvalid = errors.New("the file is not a valid CSV file or Excel workbook (.xlsx)")

// ErrTooLarge is returned if a workbook unpacks to more bytes than Limits.Bytes.
var ErrTooLarge = errors.New("the file is too large")

// ErrTooManyRows is returned if a file has more rows than Limits.Rows.
var ErrTooManyRows = errors.New("the file has too many rows")

// ReadCSV reads a runsheet from a CSV file in UTF-8, UTF-16, or Windows-1252, which Excel writes.
// Columns may be separated by commas, semicolons, or tabs.
func ReadCSV(raw []byte, limits Limits) (Table, error) {
	text, err := decodeText(raw)
	if err != nil {
		return Table{}, err
	}
	if strings.ContainsRune(text, 0) {
		return Table{}, fmt.Errorf("%w: it has binary data", ErrInvalid)
	}
	table := newTable(text, slices.MaxFunc([]rune{',', ';', '\t'}, func(a, b rune) int {
		return cmp.Compare(titlesWith(text, a), titlesWith(text, b))
	}))
	r := reader{limits: limits}
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return r.finish()
		}
		if err != nil {
			return Table{}, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		line, _ := table.FieldPos(0)
		for n, cell := range cells {
			cells[n] = spreadsheet.Unescape(cell)
		}
		if err := r.add(line, cells); err != nil {
			return Table{}, err
		}
	}
}

func newTable(text string, separator rune) *csv.Reader {
	table := csv.NewReader(strings.NewReader(text))
	table.Comma, table.FieldsPerRecord, table.LazyQuotes = separator, -1, true
	return table
}

// titlesWith returns how many known titles the header has if columns are separated by separator. Cells
// with several names can have more semicolons than the file has commas.
func titlesWith(text string, separator rune) (titles int) {
	table := newTable(text, separator)
	for range MaxHeaderRow {
		cells, err := table.Read()
		if err != nil {
			break
		}
		titles = max(titles, knownTitles(cells))
	}
	return titles
}

// decodeText returns the text of a file as UTF-8 without a byte order mark.
func decodeText(raw []byte) (string, error) {
	decoder := charmap.Windows1252.NewDecoder()
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		decoder = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
	case utf8.Valid(raw):
		return string(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))), nil
	}
	text, err := decoder.Bytes(raw)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return string(text), nil
}

// readExcel reads a runsheet from the first sheet of an Excel workbook (.xlsx).
func readExcel(raw []byte, limits Limits) (_ Table, err error) {
	book, err := excelize.OpenReader(bytes.NewReader(raw), excelize.Options{UnzipSizeLimit: limits.Bytes, UnzipXMLSizeLimit: limits.Bytes,
		RawCellValue: true})
	if err != nil {
		return Table{}, excelError(err)
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	sheets := book.GetSheetList()
	if len(sheets) == 0 {
		return Table{}, ErrNoHeader
	}
	rows, err := book.Rows(sheets[0])
	if err != nil {
		return Table{}, excelError(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	r := reader{limits: limits, isExcel: true}
	for n := 1; rows.Next(); n++ {
		cells, err := rows.Columns()
		if err != nil {
			return Table{}, excelError(fmt.Errorf("row %d: %w", n, err))
		}
		if err := r.add(n, cells); err != nil {
			return Table{}, err
		}
	}
	if err := rows.Error(); err != nil {
		return Table{}, excelError(err)
	}
	return r.finish()
}

// excelError wraps an error of the library, which has no types for them.
func excelError(err error) error {
	if strings.Contains(err.Error(), "unzip size exceeds") {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", ErrInvalid, err)
}

// reader finds the header and keeps the rows below it.
type reader struct {
	limits  Limits
	isExcel bool
	table   Table
	count   int
	cells   int   // of a workbook, including blank ones
	size    int64 // bytes of the texts of these cells
}

// add adds a row of the file.
func (r *reader) add(row int, cells []string) error {
	if r.count++; r.count > r.limits.Rows {
		return fmt.Errorf("%w: the maximum is %d", ErrTooManyRows, r.limits.Rows)
	}
	if err := r.measure(cells); err != nil {
		return err
	}
	cells = cells[:min(len(cells), maxColumns)]
	isBlank := !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
	switch {
	case r.table.Header != nil && !isBlank:
		r.table.Rows = append(r.table.Rows, TableRow{row, cells})
	case r.table.Header == nil && IsHeader(cells):
		r.table.Header = cells
	case r.table.Header == nil && row >= MaxHeaderRow:
		return ErrNoHeader
	}
	return nil
}

// maxCells is the maximum number of cells of a workbook. A file with a single cell per row, in the last
// column, has 16,384 of them per row.
const maxCells = 1_000_000

// measure returns ErrTooLarge if a workbook has too many cells or more text than its file may unpack to,
// because many cells refer to the same text.
func (r *reader) measure(cells []string) error {
	if !r.isExcel {
		return nil
	}
	r.cells += len(cells)
	for _, cell := range cells {
		r.size += int64(len(cell))
	}
	if r.cells > maxCells || r.size > r.limits.Bytes {
		return fmt.Errorf("%w: it has %d cells with %d bytes", ErrTooLarge, r.cells, r.size)
	}
	return nil
}

func (r *reader) finish() (Table, error) {
	if r.table.Header == nil {
		return Table{}, ErrNoHeader
	}
	r.table.Excel = r.isExcel
	return r.table, nil
}
