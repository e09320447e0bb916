package runsheet

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"deedkeep/app/model"
)

// Limits of the files that are read.
type Limits struct {
	Rows  int   `json:"rows"`  // max rows, including those above the header
	Bytes int64 `json:"bytes"` // max bytes of an unpacked workbook
}

// DefaultLimits returns the limits of the default settings.
func DefaultLimits() Limits { return Limits{Rows: 5_000, Bytes: 32 << 20} }

// Entry is a row of a file. Fields are the members of a request for an instrument. Relations refer
// to other rows by their No.; see Relation.
type Entry struct {
	Row       int                   `json:"row"`                // row in the file, starting with 1
	Position  int                   `json:"position,omitempty"` // No. of the row; 0 if there is none
	Fields    model.InstrumentInput `json:"fields"`
	Relations []RelationEntry       `json:"relations,omitempty"`
}

// Valid reports whether an entry from a worker process can come from a file: its fields are those
// of columns, and its relations have a known kind.
func (e Entry) Valid() bool {
	for name := range e.Fields {
		if !slices.ContainsFunc(columns, func(c column) bool { return c.field != "" && c.field == name }) {
			return false
		}
	}
	return e.Position >= 0 && !slices.ContainsFunc(e.Relations, func(r RelationEntry) bool {
		return !slices.Contains(model.RelationKinds(), r.Kind) || r.Position <= 0
	})
}

// RelationEntry is a relation to another row, which has the No. Position.
type RelationEntry struct {
	Kind     string `json:"kind"`
	Position int    `json:"position"`
}

// MaxHeaderRow is the last row in which the header may be.
const MaxHeaderRow = 20

// minTitles is the minimum number of known titles in a header.
const minTitles = 2

// ErrNoHeader is returned if a file has no row with the titles of at least two columns.
var ErrNoHeader = errors.New("the file has no header row with column titles such as Type, Recorded, Grantors, and Grantees")

// Read reads a runsheet from an Excel workbook (.xlsx) or a CSV file. Call it only in a worker
// process: the file is untrusted, and a row may have millions of cells.
func Read(raw []byte, limits Limits) ([]Entry, error) {
	if bytes.HasPrefix(raw, []byte("PK\x03\x04")) { // a ZIP file
		return readExcel(raw, limits)
	}
	return ReadCSV(raw, limits)
}

// ErrInvalid is returned if a file is neither CSV nor an Excel workbook (.xlsx).
var ErrInvalid = errors.New("the file is not a valid CSV file or Excel workbook (.xlsx)")

// ErrTooLarge is returned if a workbook unpacks to more bytes than Limits.Bytes.
var ErrTooLarge = errors.New("the file is too large")

// ErrTooManyRows is returned if a file has more rows than Limits.Rows.
var ErrTooManyRows = errors.New("the file has too many rows")

// ReadCSV reads a runsheet from a CSV file in UTF-8, UTF-16, or Windows-1252, which Excel writes.
// Columns may be separated by commas, semicolons, or tabs.
func ReadCSV(raw []byte, limits Limits) ([]Entry, error) {
	text, err := decodeText(raw)
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(text, 0) {
		return nil, fmt.Errorf("%w: it has binary data", ErrInvalid)
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
			return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		line, _ := table.FieldPos(0)
		for n, cell := range cells {
			cells[n] = unescapeCell(cell)
		}
		if err := r.add(line, cells); err != nil {
			return nil, err
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
		_, known := headerOf(cells)
		titles = max(titles, known)
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
func readExcel(raw []byte, limits Limits) (_ []Entry, err error) {
	book, err := excelize.OpenReader(bytes.NewReader(raw), excelize.Options{UnzipSizeLimit: limits.Bytes, UnzipXMLSizeLimit: limits.Bytes,
		RawCellValue: true})
	if err != nil {
		return nil, excelError(err)
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	sheets := book.GetSheetList()
	if len(sheets) == 0 {
		return nil, ErrNoHeader
	}
	rows, err := book.Rows(sheets[0])
	if err != nil {
		return nil, excelError(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	r := reader{limits: limits, isExcel: true}
	for n := 1; rows.Next(); n++ {
		cells, err := rows.Columns()
		if err != nil {
			return nil, excelError(fmt.Errorf("row %d: %w", n, err))
		}
		if err := r.add(n, cells); err != nil {
			return nil, err
		}
	}
	if err := rows.Error(); err != nil {
		return nil, excelError(err)
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

// reader finds the header and converts the rows below it.
type reader struct {
	limits  Limits
	isExcel bool     // dates and times may be numbers of days
	header  []column // columns of the file; the title is "" for unknown ones
	count   int
	cells   int   // of a workbook, including blank ones
	size    int64 // bytes of the texts of these cells
	entries []Entry
}

// add adds a row of the file.
func (r *reader) add(row int, cells []string) error {
	if r.count++; r.count > r.limits.Rows {
		return fmt.Errorf("%w: the maximum is %d", ErrTooManyRows, r.limits.Rows)
	}
	if err := r.measure(cells); err != nil {
		return err
	}
	if r.header == nil {
		if r.readHeader(cells); r.header == nil && row >= MaxHeaderRow {
			return ErrNoHeader
		}
		return nil
	}
	e := Entry{Row: row, Fields: model.InstrumentInput{}}
	for n, cell := range cells {
		if cell = strings.TrimSpace(cell); n < len(r.header) && cell != "" {
			r.readCell(&e, r.header[n], cell)
		}
	}
	if len(e.Fields) > 0 || len(e.Relations) > 0 {
		r.entries = append(r.entries, e)
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

// readHeader sets the header if the row has enough known titles.
func (r *reader) readHeader(cells []string) {
	if header, known := headerOf(cells); known >= minTitles {
		r.header = header
	}
}

// maxColumns is the number of cells of a row that are read.
const maxColumns = 1_000

// IsHeader reports whether a row has the titles of at least two columns.
func IsHeader(cells []string) bool {
	_, known := headerOf(cells)
	return known >= minTitles
}

// headerOf returns the columns with the titles in a row, and how many of them are known.
func headerOf(cells []string) (header []column, known int) {
	cells = cells[:min(len(cells), maxColumns)]
	header = make([]column, len(cells))
	for n, cell := range cells {
		c, ok := columnByTitle(cell)
		if ok && !slices.ContainsFunc(header, func(have column) bool { return have.title == c.title }) {
			header[n] = c
			known++
		}
	}
	return header, known
}

func (r *reader) finish() ([]Entry, error) {
	if r.header == nil {
		return nil, ErrNoHeader
	}
	return r.entries, nil
}

// readCell adds the value of a cell to an entry.
func (r *reader) readCell(e *Entry, c column, cell string) {
	switch c.field {
	case "":
		if n, err := strconv.Atoi(strings.TrimSuffix(cell, ".")); err == nil && n > 0 && c.title == columns[0].title {
			e.Position = n
		}
	case "other_parties":
		var list []model.Party
		for _, text := range model.SplitNames(cell) {
			role, name, found := strings.Cut(text, ":")
			if !found {
				role, name = "", text
			}
			list = append(list, model.Party{Role: strings.TrimSpace(role), Name: strings.TrimSpace(name)})
		}
		e.Fields[c.field] = encode(list)
	case "relations":
		r.readRelations(e, cell)
	case "expires":
		e.Fields[c.field] = encode(r.date(cell, model.LatestFuture(time.Now())))
	case "recorded", "dated", "cleared":
		e.Fields[c.field] = encode(r.date(cell, model.LatestPast(time.Now())))
	case "consideration":
		e.readConsideration(cell)
	case bookPageField:
		e.readBookPage(cell)
	case "recorded_time":
		e.Fields[c.field] = encode(r.timeOfDay(cell))
	default:
		if c.isList {
			e.Fields[c.field] = encode(model.SplitNames(cell))
		} else {
			e.Fields[c.field] = encode(cell)
		}
	}
}

// readConsideration reads an amount or what the instrument says. A text of its own column wins.
func (e *Entry) readConsideration(cell string) {
	amount, says := model.ParseConsideration(cell)
	if amount != "" {
		e.Fields["consideration"] = encode(amount)
	}
	if says != "" && e.Fields["consideration_text"] == nil {
		e.Fields["consideration_text"] = encode(says)
	}
}

// readRelations reads relations like "releases 3; references Bk 1022 Pg 311".
func (r *reader) readRelations(e *Entry, cell string) {
	type textRelation struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	var list []textRelation
	for _, text := range model.SplitNames(cell) {
		kind := "references"
		lower := strings.ToLower(text)
		for _, known := range model.RelationKinds() {
			if phrase := strings.ReplaceAll(known, "_", " "); strings.HasPrefix(lower, phrase+" ") {
				kind, text = known, strings.TrimSpace(text[len(phrase):])
				break
			}
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(text, "#")); err == nil && n > 0 {
			e.Relations = append(e.Relations, RelationEntry{kind, n})
			continue
		}
		list = append(list, textRelation{kind, unquoteNumber(text)})
	}
	if len(list) > 0 {
		e.Fields["relations"] = encode(list)
	}
}

// date returns a date in the form YYYY-MM-DD. It returns a text that isn't a date unchanged, which
// model.InstrumentInput rejects.
func (r *reader) date(cell string, latest time.Time) string {
	if days, err := strconv.ParseFloat(cell, 64); r.isExcel && err == nil && days < 1_000_000 {
		if at, err := excelize.ExcelDateToTime(days, false); err == nil {
			return at.Format(time.DateOnly)
		}
	}
	return model.TypedDate(cell, latest)
}

var fraction = regexp.MustCompile(`^0?\.\d+$`)

// timeOfDay returns a time. In Excel files, it may be a fraction of a day.
func (r *reader) timeOfDay(cell string) string {
	if !r.isExcel || !fraction.MatchString(cell) {
		return cell
	}
	part, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return cell
	}
	seconds := int(part*86_400 + 0.5)
	return fmt.Sprintf("%02d:%02d", seconds/3600, seconds/60%60)
}
