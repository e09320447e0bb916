// Package runsheet writes runsheets as CSV and Excel files, and reads them from such files.
//
// A file has one row per instrument and a header row with the titles of the columns. Names in one
// cell are separated by semicolons; a name that contains one is quoted. A file that WriteCSV or
// WriteExcel wrote is read back with the same values. Files from other sources may have other
// titles, fewer columns, and rows above the header.
package runsheet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"deedkeep/app/model"
)

// Row is an instrument in a runsheet.
type Row struct {
	model.Instrument
	Position int
	Type     string         // name of the document type
	Status   string         // effective status
	Number   map[uint64]int // positions of the other instruments by ID, for relations
}

// column is a column of the files.
type column struct {
	title   string
	aliases []string // other titles that are recognized, normalized
	field   string   // member of model.InstrumentInput; "" if the column isn't read
	width   float64  // in characters
	isList  bool     // the cell is a list of names
	value   func(*Row) string
}

var columns = []column{
	{title: "No.", aliases: []string{"no", "number", "item", "line", "#"}, width: 5,
		value: func(r *Row) string { return fmt.Sprint(r.Position) }},
	{title: "Type", aliases: []string{"type", "document type", "doc type", "instrument type", "instrument", "document", "kind"}, field: "type",
		width: 22, value: func(r *Row) string { return r.Type }},
	{title: "Instrument Number", aliases: []string{"instrument number", "instrument no", "inst no", "inst", "reception number", "reception no",
		"document number", "doc number", "doc no", "file number", "instr"}, field: "instrument_number", width: 18,
		value: func(r *Row) string { return r.Instrument.Number }},
	{title: "Book Type", aliases: []string{"book type", "record book", "records"}, field: "book_type", width: 14,
		value: func(r *Row) string { return r.BookType }},
	{title: "Book", aliases: []string{"book", "bk", "volume", "vol", "liber", "reel", "book volume"}, field: "book", width: 8,
		value: func(r *Row) string { return r.Book }},
	{title: "Page", aliases: []string{"page", "pg", "folio", "slide"}, field: "page", width: 8,
		value: func(r *Row) string { return r.Instrument.Page }},
	{title: "Last Page", aliases: []string{"last page", "page to", "end page"}, field: "page_to", width: 8,
		value: func(r *Row) string { return r.PageTo }},
	{title: "Recorded", aliases: []string{"recorded", "recording date", "record date", "date recorded", "recorded date", "filed", "date filed",
		"filing date", "rec date"}, field: "recorded", width: 11, value: func(r *Row) string { return r.Recorded }},
	{title: "Time Recorded", aliases: []string{"time recorded", "recorded time", "recording time", "time"}, field: "recorded_time", width: 10,
		value: func(r *Row) string { return r.RecordedTime }},
	{title: "Dated", aliases: []string{"dated", "date", "instrument date", "document date", "doc date", "date of instrument"}, field: "dated",
		width: 11, value: func(r *Row) string { return r.Dated }},
	{title: "Grantors", aliases: []string{"grantors", "grantor", "mortgagor", "mortgagors", "seller", "from", "debtor", "grantor mortgagor"},
		field: "grantors", isList: true, width: 28, value: func(r *Row) string { return model.JoinNames(r.Grantors, "; ") }},
	{title: "Grantees", aliases: []string{"grantees", "grantee", "mortgagee", "mortgagees", "buyer", "to", "creditor", "grantee mortgagee"},
		field: "grantees", isList: true, width: 28, value: func(r *Row) string { return model.JoinNames(r.Grantees, "; ") }},
	{title: "Other Parties", aliases: []string{"other parties", "other party"}, field: "other_parties", width: 22, value: otherParties},
	{title: "Consideration", aliases: []string{"consideration", "amount", "price", "loan amount", "sale price"}, field: "consideration",
		width: 14,
		value: func(r *Row) string { return r.Consideration }},
	{title: "Consideration Text", aliases: []string{"consideration text"}, field: "consideration_text", width: 22,
		value: func(r *Row) string { return r.ConsiderationText }},
	{title: "Parcel IDs", aliases: []string{"parcel ids", "parcel id", "parcel", "parcels", "tax map", "apn", "pin"}, field: "parcels",
		isList: true,
		width:  18, value: func(r *Row) string { return model.JoinNames(r.Parcels, "; ") }},
	{title: "Legal Description", aliases: []string{"legal description", "legal", "description"}, field: "legal", width: 36,
		value: func(r *Row) string { return r.Legal }},
	{title: "County", aliases: []string{"county", "parish"}, field: "county", width: 14, value: func(r *Row) string { return r.County }},
	{title: "State", aliases: []string{"state", "st"}, field: "state", width: 6, value: func(r *Row) string { return r.State }},
	{title: "Case Number", aliases: []string{"case number", "case no", "case", "docket", "docket number"}, field: "case_number", width: 14,
		value: func(r *Row) string { return r.CaseNumber }},
	{title: "Court", aliases: []string{"court"}, field: "court", width: 16, value: func(r *Row) string { return r.Court }},
	{title: "Recording System", aliases: []string{"recording system"}, field: "recording_system", width: 12,
		value: func(r *Row) string { return r.RecordingSystem }},
	{title: "Certificate of Title", aliases: []string{"certificate of title", "torrens certificate"}, field: "certificate_of_title", width: 14,
		value: func(r *Row) string { return r.CertificateOfTitle }},
	{title: "Expires", aliases: []string{"expires", "expiration", "expiration date", "lapse date"}, field: "expires", width: 11,
		value: func(r *Row) string { return r.Expires }},
	{title: "Status", aliases: []string{"status"}, width: 13, value: func(r *Row) string { return statusTitles[r.Status] }},
	{title: "Relations", aliases: []string{"relations", "relation", "releases"}, field: "relations", width: 22, value: relations},
	{title: "Requirement", aliases: []string{"requirement", "requirements"}, field: "requirement", width: 28,
		value: func(r *Row) string { return r.Requirement }},
	{title: "Exception", aliases: []string{"exception", "exceptions"}, field: "exception", width: 28,
		value: func(r *Row) string { return r.Exception }},
	{title: "Cleared", aliases: []string{"cleared", "date cleared"}, field: "cleared", width: 11,
		value: func(r *Row) string { return r.Cleared }},
	{title: "Remarks", aliases: []string{"remarks", "remark", "comments", "comment", "notes", "note"}, field: "remarks", width: 36,
		value: func(r *Row) string { return r.Remarks }},
}

// UnknownStatus is the status of a Row whose effective status can't be determined.
const UnknownStatus = "unknown"

var statusTitles = map[string]string{UnknownStatus: "Unknown",
	model.InstrumentOpen: "Open", model.InstrumentReleased: "Released", model.InstrumentExpired: "Expired"}

// otherParties formats parties like "Trustee: Ned Cole; Nominee: MERS".
func otherParties(r *Row) string {
	var list []string
	for _, p := range r.OtherParties {
		if p.Role == "" && !strings.Contains(p.Name, ":") {
			list = append(list, p.Name)
		} else {
			list = append(list, p.Role+": "+p.Name)
		}
	}
	return model.JoinNames(list, "; ")
}

// relations formats relations like "releases 3; references Bk 1022 Pg 311". A number alone is the
// No. of another row.
func relations(r *Row) string {
	var list []string
	for _, relation := range r.Relations {
		kind := strings.ReplaceAll(relation.Kind, "_", " ")
		target := quoteNumber(relation.Text)
		if position, ok := r.Number[relation.InstrumentID]; ok {
			target = fmt.Sprint(position)
		}
		if target != "" {
			list = append(list, kind+" "+target)
		}
	}
	return model.JoinNames(list, "; ")
}

// normalizeTitle returns a column title in lower case with single spaces instead of punctuation.
func normalizeTitle(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '#'
	}), " ")
}

// columnsByTitle returns the columns by their normalized titles. If several have the same one, the first
// column has it.
var columnsByTitle = sync.OnceValue(func() map[string]column {
	byTitle := map[string]column{}
	for _, c := range slices.Backward(append(slices.Clip(columns), bookPageColumn)) {
		for _, title := range append([]string{normalizeTitle(c.title)}, c.aliases...) {
			byTitle[title] = c
		}
	}
	return byTitle
})

// columnByTitle returns the column with this title.
func columnByTitle(title string) (column, bool) {
	c, ok := columnsByTitle()[normalizeTitle(title)]
	return c, ok
}

// encode returns the JSON of a text or a list. Both can always be encoded.
func encode(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}
