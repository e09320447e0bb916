package runsheet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"deedkeep/app/model"
)

// Choices of Column.Field besides the names of fields in the API.
const (
	Position = "position"  // the No. of the row
	LeaveOut = "leave_out" // the cells aren't stored
	remarks  = "remarks"   // the cells are added to the remarks, with the heading of the column
)

// Column says which field the cells of a column of a file go to.
type Column struct {
	N       int    // starting with 0
	Heading string // as in the file
	Example string // the start of the first cell that isn't blank
	Field   string // one of Fields
	// Known is true if the heading is one that this package knows. If not, a person chose the field, or the
	// cells go to the remarks so that nothing is lost.
	Known bool
	Blank bool // the column has neither a heading nor cells
}

// Label returns the heading of the column or, if it has none, its place.
func (c Column) Label() string { return cmp.Or(c.Heading, fmt.Sprintf("Column %d", c.N+1)) }

// Title returns the title of the field.
func (c Column) Title() string {
	field, _ := columnByField(c.Field)
	return field.Title
}

// Fields returns the fields that a person can choose.
func (c Column) Fields() []Field { return Fields() }

// Field is a choice for a column.
type Field struct{ Name, Title string }

// Fields returns the choices for a column.
func Fields() (list []Field) {
	for _, c := range columns {
		list = append(list, Field{c.field, c.Title})
	}
	list[len(list)-1].Title = "Leave out"
	return list
}

func columnByField(field string) (column, bool) {
	n := slices.IndexFunc(columns, func(c column) bool { return c.field == field })
	if n < 0 {
		return column{}, false
	}
	return columns[n], true
}

// titleWords are words of headings with several spellings.
var titleWords = map[string]string{"number": "no", "num": "no", "nr": "no", "instr": "instrument", "inst": "instrument",
	"doc": "document", "docs": "documents", "rec": "recording", "rcd": "recorded", "recd": "recorded", "rcvd": "received",
	"recvd": "received", "bk": "book", "vol": "book", "volume": "book", "liber": "book", "lib": "book", "reel": "book",
	"pg": "page", "pgs": "page", "folio": "page", "dt": "date", "dtd": "dated", "exp": "expiration", "amt": "amount",
	"cnty": "county", "desc": "description", "descr": "description", "gtr": "grantor", "gtor": "grantor",
	"grtr": "grantor", "grntr": "grantor", "mtgr": "mortgagor", "mtgor": "mortgagor", "deft": "defendant",
	"gte": "grantee", "gtee": "grantee", "grtee": "grantee", "grntee": "grantee", "mtgee": "mortgagee",
	"pltf": "plaintiff", "benef": "beneficiary", "rem": "remark", "rmks": "remark", "cmts": "comment", "and": "", "of": "",
	"the": "", "s": ""}

// normalizeTitle returns the words of a heading in one spelling: "Instr. #" is "instrument no".
func normalizeTitle(title string) string {
	if strings.TrimSpace(title) == "#" {
		return "no"
	}
	title = strings.NewReplacer("#", " no ", "'", "", "’", "").Replace(strings.ToLower(title))
	words := strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	plain := words[:0]
	for _, word := range words {
		if known, found := titleWords[word]; found {
			word = known
		}
		if len(word) > 3 && word != "documents" && !strings.HasSuffix(word, "ss") {
			word = strings.TrimSuffix(word, "s")
		}
		if word != "" {
			plain = append(plain, word)
		}
	}
	return strings.Join(plain, " ")
}

// fieldsByTitle returns the fields by their normalized headings. If several have the same one, the first
// has it.
var fieldsByTitle = sync.OnceValue(func() map[string]string {
	byTitle := map[string]string{}
	for _, c := range slices.Backward(columns) {
		for _, title := range append([]string{c.Title}, c.Aliases...) {
			byTitle[normalizeTitle(title)] = c.field
		}
	}
	return byTitle
})

// maxColumns is the number of cells of a row that are read.
const maxColumns = 1_000

// minTitles is the minimum number of known headings in a header.
const minTitles = 2

// IsHeader reports whether a row has the headings of at least two columns.
func IsHeader(cells []string) bool { return knownTitles(cells) >= minTitles }

// knownTitles returns the number of different fields that a row has headings of.
func knownTitles(cells []string) int {
	known := map[string]bool{}
	for _, cell := range cells[:min(len(cells), maxColumns)] {
		if field := fieldsByTitle()[normalizeTitle(cell)]; field != "" {
			known[field] = true
		}
	}
	return len(known)
}

// exampleLength is the maximum number of characters of an example.
const exampleLength = 60

// truncate returns the start of an example.
func truncate(example string) string {
	if start := []rune(example); len(start) > exampleLength {
		return string(start[:exampleLength]) + "…"
	}
	return example
}

// sampleRows is the number of rows that decide what a column is.
const sampleRows = 200

// samples returns the cells of a column that aren't blank.
func samples(rows []TableRow, n int) (list []string) {
	for _, row := range rows[:min(len(rows), sampleRows)] {
		if n < len(row.Cells) && strings.TrimSpace(row.Cells[n]) != "" {
			list = append(list, strings.TrimSpace(row.Cells[n]))
		}
	}
	return list
}

// mainly reports whether at least half of the cells fit. It is false if there are none.
func mainly(cells []string, fit func(string) bool) bool {
	count := 0
	for _, cell := range cells {
		if fit(cell) {
			count++
		}
	}
	return len(cells) > 0 && 2*count >= len(cells)
}

// findColumns returns the columns of a table. chosen are fields that a person chose, by column.
func (i *interpreter) findColumns(header []string, rows []TableRow, chosen map[int]string) []Column {
	list := make([]Column, min(max(len(header), widest(rows)), maxColumns))
	used := map[string]int{} // columns by the field of their heading
	for n := range list {
		c := &list[n]
		c.N = n
		if n < len(header) {
			c.Heading = strings.TrimSpace(header[n])
		}
		c.Field = fieldsByTitle()[normalizeTitle(c.Heading)]
		c.Known = c.Field != ""
		if _, exists := columnByField(chosen[n]); exists {
			c.Field, c.Known = chosen[n], c.Known || c.Heading == ""
		}
		used[c.Field]++
	}
	taken := map[string]bool{}
	for n := range list {
		c, cells := &list[n], samples(rows, n)
		if len(cells) > 0 {
			c.Example = cells[0]
		}
		c.Blank = len(cells) == 0 && (c.Heading == "" || c.Field == "" || c.Field == LeaveOut)
		if chosen[n] == "" || chosen[n] != c.Field {
			if field := i.byContent(normalizeTitle(c.Heading), cells, used); field != "" {
				c.Field = field
			}
			if c.Field == Position && taken[Position] && used["instrument_number"] == 0 { // "No." and "Number"
				c.Field = "instrument_number"
				used[c.Field]++
			}
			if taken[c.Field] && !isMergeable(c.Field) { // a second column of the same field
				c.Field, c.Known = remarks, false
			}
		}
		c.Field = cmp.Or(c.Field, remarks)
		taken[c.Field] = true
	}
	return list
}

// widest returns the number of cells of the longest row.
func widest(rows []TableRow) (cells int) {
	for _, row := range rows {
		for n, cell := range row.Cells {
			if n >= cells && strings.TrimSpace(cell) != "" {
				cells = n + 1
			}
		}
	}
	return cells
}

// isMergeable reports whether several columns can go to the same field.
func isMergeable(field string) bool {
	c, _ := columnByField(field)
	return c.isList || slices.Contains([]string{remarks, "other_parties", "relations", LeaveOut}, field)
}

// byContent returns the field of a heading that can mean several ones, or "".
func (i *interpreter) byContent(title string, cells []string, used map[string]int) string {
	isDate := func(s string) bool { return i.isDate(s) }
	isType := func(s string) bool { _, found := i.types.Find(s); return found }
	hasDigits := func(s string) bool { return strings.ContainsAny(s, "0123456789") }
	switch title {
	case "no", "item", "line", "row", "entry", "sequence", "seq":
		if len(cells) > 0 && !isSequence(cells) && used["instrument_number"] == 0 {
			return "instrument_number"
		}
	case "instrument", "document":
		if len(cells) > 0 && !mainly(cells, isType) && mainly(cells, hasDigits) {
			return "instrument_number"
		}
	case "date":
		isDated, isRecorded := used["dated"] > 1, used["recorded"] > 0 // by other columns
		switch {
		case isDated && isRecorded:
			return remarks
		case isDated, !isRecorded && mainly(cells, func(s string) bool { return clock.MatchString(s) }):
			return "recorded"
		}
	case "book":
		if used["page"] == 0 && mainly(cells, func(s string) bool { p := ParseBookPage(s); return p.Page != "" && p.BookType == "" }) {
			return bookPageField
		}
	case "recording", "recording reference", "reference":
		switch {
		case mainly(cells, isDate):
			return "recorded"
		case used["instrument_number"] == 0 && mainly(cells, func(s string) bool { return ParseBookPage(s).Page == "" && hasDigits(s) }):
			return "instrument_number"
		}
	case "from", "to":
		if mainly(cells, isDate) {
			return remarks
		}
	}
	return ""
}

// isSequence reports whether cells are the numbers of rows: whole numbers that increase.
func isSequence(cells []string) bool {
	last := 0
	for _, cell := range cells {
		n, err := strconv.Atoi(strings.TrimSuffix(firstWord(cell), "."))
		if err != nil && cell != "New" || err == nil && (n <= last || n > maxCells) {
			return false
		}
		last = max(last, n)
	}
	return true
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// isDate reports whether a cell is a date, with or without a time.
func (i *interpreter) isDate(cell string) bool {
	day, _ := i.dateAndTime(cell, model.LatestPast(i.now))
	return model.IsDate(day)
}

// Guess returns the fields of the columns of a table without a header. usual are the fields that it has if
// the cells fit. If they don't, the cells alone decide.
func (t Table) Guess(usual []string, types model.DocumentTypes, now time.Time) map[int]string {
	r := interpreter{types: types, now: now}
	guess, fits := map[int]string{}, true
	count := min(widest(t.Rows), maxColumns)
	for n := range min(count, len(usual)) {
		guess[n] = usual[n]
		cells := samples(t.Rows, n)
		fits = fits && (len(cells) == 0 || mainly(cells, func(cell string) bool { return r.fits(usual[n], cell) }))
	}
	const enough = 3 // columns, with which the cells tell more than the place where they were pasted
	if fits || count < enough {
		return guess
	}
	return r.guess(t.Rows, count)
}

// fits reports whether a cell can be the value of a field.
func (i *interpreter) fits(field, cell string) bool {
	_, isType := i.types.Find(cell)
	amount, _ := model.ParseConsideration(cell)
	hasDigits := strings.ContainsAny(cell, "0123456789")
	isDate := i.isDate(cell) && strings.Trim(cell, "0123456789") != ""
	switch field {
	case "type":
		return isType
	case "dated", "recorded":
		return isDate
	case "consideration":
		return amount != "" && !isDate
	case bookPageField:
		return ParseBookPage(cell).Page != "" && !isDate
	case "instrument_number":
		return hasDigits && !isDate && !strings.Contains(cell, "$")
	case "grantors", "grantees":
		return !isDate && !isType && strings.ContainsFunc(cell, unicode.IsLetter) && ParseBookPage(cell).Page == ""
	}
	return true
}

// guess returns the fields of columns by their cells.
func (i *interpreter) guess(rows []TableRow, count int) map[int]string {
	guess := map[int]string{}
	free := []string{"type", "recorded", "dated", bookPageField, "consideration", "book", "page", "instrument_number", "grantors",
		"grantees"}
	for n := range count {
		cells := samples(rows, n)
		guess[n] = remarks
		for at, field := range free {
			fit := func(cell string) bool { return i.fits(field, cell) }
			switch field {
			case "book", "page":
				fit = func(cell string) bool { _, err := strconv.Atoi(cell); return err == nil && len(cell) <= 5 }
			case "consideration":
				fit = func(cell string) bool { return i.fits(field, cell) && strings.ContainsAny(cell, "$.,") }
			}
			if n == 0 && len(rows) > 1 && isSequence(cells) {
				guess[n] = Position
				break
			}
			if mainly(cells, fit) {
				guess[n], free = field, slices.Delete(slices.Clone(free), at, at+1)
				break
			}
		}
	}
	i.orderDates(rows, guess)
	return guess
}

// orderDates makes the earlier one of two columns with dates the date of the instrument.
func (i *interpreter) orderDates(rows []TableRow, guess map[int]string) {
	at := map[string]int{}
	for n, field := range guess {
		at[field] = n + 1
	}
	dated, recorded := at["dated"]-1, at["recorded"]-1
	if dated < 0 || recorded < 0 {
		return
	}
	for _, row := range rows {
		if max(dated, recorded) >= len(row.Cells) {
			continue
		}
		first, _ := i.dateAndTime(strings.TrimSpace(row.Cells[dated]), model.LatestPast(i.now))
		second, _ := i.dateAndTime(strings.TrimSpace(row.Cells[recorded]), model.LatestPast(i.now))
		if model.IsDate(first) && model.IsDate(second) && first != second {
			if first > second {
				guess[dated], guess[recorded] = "recorded", "dated"
			}
			return
		}
	}
}
