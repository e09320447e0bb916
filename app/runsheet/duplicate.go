package runsheet

import (
	"cmp"
	"slices"
	"strings"

	"deedkeep/app/model"
)

// Duplicate names the instrument of a runsheet that another one repeats. The zero value means none.
type Duplicate struct {
	ID uint64
	// Possible is true if the two agree in one respect but differ in another, such as a deed and a
	// mortgage on the same page. A person must decide.
	Possible bool
}

// Duplicates finds the instruments of a runsheet that another one repeats. An instrument repeats one of
// the same county if one of these is the same:
//
//   - the instrument number, unless they were recorded in different years, because counties that number
//     by year use each number again
//   - book and page, apart from leading zeros, if the book types don't differ
//   - the type, the date, and the parties; if there are no parties, that is only possible
type Duplicates struct {
	types    model.DocumentTypes
	read     func(id uint64) (model.Instrument, bool)
	byKey    map[string][]uint64
	compared map[uint64]*comparedInstrument
}

// NewDuplicates returns an index without instruments. read returns an instrument that was added.
func NewDuplicates(types model.DocumentTypes, read func(id uint64) (model.Instrument, bool)) *Duplicates {
	return &Duplicates{types, read, map[string][]uint64{}, map[uint64]*comparedInstrument{}}
}

// Add adds an instrument of the runsheet.
func (d *Duplicates) Add(i model.RunsheetKey) {
	for _, key := range duplicateKeys(i) {
		d.byKey[key] = append(d.byKey[key], i.ID)
	}
}

// AddLike adds those of the instruments that have a number, a page, or a date in common with i. For a single
// instrument, that is faster than to add all of them.
func (d *Duplicates) AddLike(i model.Instrument, list []model.RunsheetKey) {
	wanted := i.RunsheetKey()
	keys := duplicateKeys(wanted)
	for _, other := range list {
		if !mayEqual(wanted.Dated, other.Dated) && !mayEqual(wanted.Recorded, other.Recorded) &&
			!mayEqual(wanted.Number, other.Number) && !mayEqual(firstPage(wanted), firstPage(other)) {
			continue
		}
		for _, key := range duplicateKeys(other) {
			if slices.Contains(keys, key) {
				d.byKey[key] = append(d.byKey[key], other.ID)
			}
		}
	}
}

// firstPage returns the page of an instrument, which can be a range.
func firstPage(i model.RunsheetKey) string { page, _ := cutPageRange(i.Page); return page }

// mayEqual reports whether two dates, numbers, or pages can be equal for comparisons. It is quick: it compares only
// their last digits, which normalization keeps.
func mayEqual(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	x, y := a[len(a)-1], b[len(b)-1]
	return x == y || !isDigit(x) || !isDigit(y)
}

// identifying are the fields that duplicates are found by, as clients send them.
var identifying = []string{"type", "type_id", "instrument_number", "book_type", "book", "page", "case_number", "county", "state", "dated",
	"recorded", "grantors", "grantees", "consideration", "consideration_text"}

// Identifies reports whether duplicates are found by any of the sent fields.
func Identifies(sent model.Inputs) bool {
	return slices.ContainsFunc(identifying, func(field string) bool { _, ok := sent[field]; return ok })
}

// duplicateKeys returns texts of which two instruments have one in common if one repeats the other.
func duplicateKeys(i model.RunsheetKey) (keys []string) {
	if number := plainNumber(i.Number); number != "" {
		keys = append(keys, "number "+number)
	}
	if place := placeOf(model.Instrument{Book: i.Book, Page: i.Page}); place.known() {
		keys = append(keys, "page "+place.book+" "+place.page)
	}
	if i.Dated != "" {
		keys = append(keys, "dated "+i.Dated)
	}
	if i.Recorded != "" {
		keys = append(keys, "recorded "+i.Recorded)
	}
	return keys
}

// maxCompared is the maximum number of instruments with the same number, page, or date that are
// compared. It limits the time for runsheets with the same date in every row.
const maxCompared = 100

// Of returns the first instrument that i repeats, which isn't i. A certain one comes before one that is
// possible.
func (d *Duplicates) Of(i model.Instrument) (found Duplicate) {
	asked := d.prepare(i)
	for _, key := range duplicateKeys(i.RunsheetKey()) {
		same := d.byKey[key]
		for _, id := range same[:min(len(same), maxCompared)] {
			if id == i.ID || found.ID != 0 && !found.Possible && id >= found.ID {
				continue
			}
			repeated, possible := asked.compare(d.candidate(id))
			better := found.ID == 0 || found.Possible && !possible || found.Possible == possible && id < found.ID
			if repeated && better {
				found = Duplicate{id, possible}
			}
		}
	}
	return found
}

// candidate returns an instrument of the runsheet, or a blank one if it can't be read.
func (d *Duplicates) candidate(id uint64) *comparedInstrument {
	c := d.compared[id]
	if c == nil {
		i, _ := d.read(id)
		c = d.prepare(i)
		d.compared[id] = c
	}
	return c
}

// comparedInstrument is an instrument in a form for comparisons.
type comparedInstrument struct {
	model.Instrument
	kind                              model.DocumentType
	county, state, number, caseNumber string
	place                             place
	grantors, grantees                []string // only if folded is true
	folded                            bool
}

func (d *Duplicates) prepare(i model.Instrument) *comparedInstrument {
	c := &comparedInstrument{Instrument: i, county: model.FoldCounty(i.County), state: model.FoldState(i.State),
		number: plainNumber(i.Number), caseNumber: plainNumber(i.CaseNumber), place: placeOf(i)}
	c.kind, _ = d.types.ByID(i.TypeID)
	return c
}

// agreement says whether two values are the same. If one of them isn't known, it is unknown.
type agreement int

const (
	unknown agreement = iota
	same
	different
)

func agree(a, b string) agreement {
	switch {
	case a == "" || b == "":
		return unknown
	case a == b:
		return same
	}
	return different
}

// compare reports whether one instrument repeats the other, and whether that is only possible.
func (c *comparedInstrument) compare(other *comparedInstrument) (repeated, possible bool) {
	if agree(c.county, other.county) == different || agree(c.state, other.state) == different {
		return false, false
	}
	number, place, paper := agree(c.number, other.number), c.place.compare(other.place), c.samePaper(other)
	bare := len(c.Grantors)+len(c.Grantees) == 0 // nothing but the type and a date is the same
	if bare && (number == different || place == different || c.relatesToOthers(other)) {
		paper = false
	}
	if number == same && agree(year(c.Recorded), year(other.Recorded)) == different {
		number = different
	}
	possible = number == different || place == different || c.kind.ID != 0 && other.kind.ID != 0 &&
		(c.kind.Category != other.kind.Category || c.kind.Encumbrance != other.kind.Encumbrance) || // not two names for one paper
		agree(c.caseNumber, other.caseNumber) == different ||
		paper && (bare && number != same && place != same || agree(c.Consideration, other.Consideration) == different)
	return number == same || place == same || paper, possible
}

// plainNumber returns a number for comparisons, without labels such as "Inst. No.". It is "" if the text has no
// digits, as in "n/a".
func plainNumber(text string) string {
	words := model.PlainWords(text)
	for len(words) > 1 && model.IsNumberLabel(words[0]) {
		words = words[1:]
	}
	if text = strings.Join(words, ""); !strings.ContainsAny(text, "0123456789") {
		return ""
	}
	return model.NormalizeRecordingNumber(text)
}

// year returns the year of a date, or "".
func year(date string) string { return date[:min(len(date), len("2006"))] }

// samePaper reports whether two instruments have the same type, date, and parties.
func (c *comparedInstrument) samePaper(other *comparedInstrument) bool {
	dated, recorded := agree(c.Dated, other.Dated), agree(c.Recorded, other.Recorded)
	if c.TypeID == 0 || c.TypeID != other.TypeID || dated == different || recorded == different || dated != same && recorded != same {
		return false
	}
	c.fold()
	other.fold()
	return slices.Equal(c.grantors, other.grantors) && slices.Equal(c.grantees, other.grantees)
}

// relatesToOthers reports whether two instruments relate to different ones, such as the releases of two mortgages.
func (c *comparedInstrument) relatesToOthers(other *comparedInstrument) bool {
	return len(c.Relations) > 0 && len(other.Relations) > 0 && !slices.Equal(c.Relations, other.Relations)
}

func (c *comparedInstrument) fold() {
	if !c.folded {
		c.grantors, c.grantees, c.folded = foldParties(c.Grantors), foldParties(c.Grantees), true
	}
}

// foldParties returns the names of parties for comparisons.
func foldParties(names []string) []string {
	folded := make([]string, len(names))
	for n, name := range names {
		folded[n] = model.FoldParty(name)
	}
	slices.Sort(folded)
	return slices.Compact(folded)
}

// place is where an instrument is recorded, in a form for comparisons.
type place struct{ series, book, page string }

func (p place) known() bool { return p.book != "" && p.page != "" }

func (p place) compare(other place) agreement {
	switch {
	case !p.known() || !other.known():
		return unknown
	case p.book != other.book, p.page != other.page, agree(p.series, other.series) == different:
		return different
	}
	return same
}

// placeOf returns where an instrument is recorded. Words for book and page may be in the same field as
// their number, as in "DB 3433".
func placeOf(i model.Instrument) (p place) {
	words, book := cutReferenceWords(i.Book)
	page, _ := cutPageRange(i.Page)
	_, page = cutReferenceWords(page)
	p.book, p.page = model.NormalizeRecordingNumber(book), model.NormalizeRecordingNumber(page)
	p.series = cmp.Or(model.BookSeries(i.BookType), model.BookSeries(words))
	return p
}

// cutReferenceWords returns the words for book and page before a number, and the rest.
func cutReferenceWords(text string) (words, rest string) {
	fields := strings.Fields(text)
	at := 0
	for at < len(fields)-1 && model.ClassifyWord(strings.Join(model.PlainWords(fields[at]), "")) != model.NotReferenceWord {
		at++
	}
	return strings.Join(fields[:at], " "), strings.Join(fields[at:], " ")
}
