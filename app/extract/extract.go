package extract

import (
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
)

// Line is a line of a page. Confidence has a value from 0 to 100 for each word of Text, as
// strings.Fields returns them. It is nil if the text is not from OCR.
type Line struct {
	Text       string
	Confidence []int
}

// Page is a page of a document. It has no lines if it has no text.
type Page struct{ Lines []Line }

// PlainText returns a page whose text is not from OCR.
func PlainText(text string) (p Page) {
	for line := range strings.Lines(text) {
		p.Lines = append(p.Lines, Line{Text: strings.TrimRight(line, "\r\n")})
	}
	return p
}

// Field is a field of a recorded instrument, as a document states it.
type Field struct {
	Values     []string // one, except for lists such as the grantors
	Page       int      // where the field was read, from 1
	Line       string   // as it was read there
	Confidence *int     // how many of 100 such fields are right; nil if the text is not from OCR
	Doubtful   bool     // a person should compare it with the page: OCR isn't sure, or there are other readings
	Readings   []string // what the values may be instead: OCR confuses letters such as rn and m
	mean       int      // confidence of OCR in the words
	lowest     int      // the same for the word that it is the least sure of
	repeated   bool     // the words occur again
}

// Value returns the first value, or "" if there is none.
func (f Field) Value() string {
	if len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// Fields are the fields that a document states, by name. One that isn't stated clearly is missing.
type Fields map[string]Field

// The names of the fields. Most are the names of fields of model.Instrument in the API.
const (
	Type             = "type"
	InstrumentNumber = "instrument_number"
	BookType         = "book_type"
	Book             = "book"
	PageNumber       = "page"
	PageTo           = "page_to"
	CaseNumber       = "case_number"
	Recorded         = "recorded"
	RecordedTime     = "recorded_time"
	Dated            = "dated"
	Grantors         = "grantors"
	Grantees         = "grantees"
	Trustee          = "trustee"
	Nominee          = "nominee"
	Consideration    = "consideration"
	// ConsiderationText is what the instrument says, if that is more than an amount: "$10.00 and other consideration".
	ConsiderationText = "consideration_text"
	Parcels           = "parcels"
	County            = "county"
	State             = "state"
	Subdivision       = "subdivision"
	Lot               = "lot"
	Block             = "block"
)

// Read returns the fields that the pages of a document state about the instrument that begins on the
// first page. types are the document types of the firm. No date is later than now.
func Read(pages []Page, rules *Rules, types model.DocumentTypes, now time.Time) Fields {
	r := reader{rules: rules, now: now, types: types, source: newSource(pages, rules), fields: Fields{}}
	r.readPatterns(rules.county)
	r.readHeading()
	r.readPatterns(rules.patterns, r.readLabels()...)
	r.drop()
	r.compareFields()
	r.checkNames()
	r.calibrate()
	return r.fields
}

// drop removes fields that contradict others.
func (r *reader) drop() {
	dated, recorded := r.fields[Dated].Value(), r.fields[Recorded].Value()
	if dated != "" && recorded != "" && dated > recorded { // one of them was misread, and it isn't clear which one
		delete(r.fields, Dated)
		delete(r.fields, Recorded)
	}
	amount, _ := model.ParseConsideration(r.fields[ConsiderationText].Value())
	if amount != r.fields[Consideration].Value() { // it says something about another one
		delete(r.fields, ConsiderationText)
	}
	from, err := strconv.Atoi(r.fields[PageNumber].Value())
	to, err2 := strconv.Atoi(r.fields[PageTo].Value())
	if err == nil && err2 == nil && to < from { // another number, such as that of the pages
		delete(r.fields, PageTo)
	}
	if _, known := r.fields[Recorded]; !known {
		delete(r.fields, RecordedTime)
	}
	if _, known := r.fields[Book]; !known {
		delete(r.fields, BookType)
	}
	if _, known := r.fields[PageNumber]; !known {
		delete(r.fields, PageTo)
	}
}
