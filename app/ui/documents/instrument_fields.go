package documents

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// fieldControl says how users enter a field of an instrument.
type fieldControl string

const (
	lineField    fieldControl = "line"
	pastField    fieldControl = "past"   // a date that has passed
	futureField  fieldControl = "future" // a date that may be in the future
	moneyField   fieldControl = "money"
	namesField   fieldControl = "names" // one name per line, or separated by semicolons
	itemsField   fieldControl = "items" // a line of items, separated by semicolons
	partiesField fieldControl = "parties"
	textField    fieldControl = "text" // several lines
	choiceField  fieldControl = "choice"
	pagesField   fieldControl = "pages" // pages of the document
	linksField   fieldControl = "links" // relations to other instruments
)

// fieldPrefix starts the names of form fields. The rest is the name of the field in the API.
const fieldPrefix = "instrument."

// pagesName is the name of the field with the pages of the document.
const pagesName = "pages"

// instrumentField is a field of the form. stored returns the text that the form shows.
type instrumentField struct {
	name, label string
	control     fieldControl
	stored      func(i model.Instrument, file uint64) string
	more        bool   // folded away
	hint        string // "" for most fields
}

func textOf(value func(*model.Instrument) *string) func(model.Instrument, uint64) string {
	return func(i model.Instrument, _ uint64) string { return *value(&i) }
}

func listOf(value func(*model.Instrument) *[]string, separator string) func(model.Instrument, uint64) string {
	return func(i model.Instrument, _ uint64) string { return strings.Join(*value(&i), separator) }
}

// instrumentFields are the fields of the form in tab order. Relations come after them.
var instrumentFields = []instrumentField{
	{name: "type_id", label: "Type", control: choiceField, stored: typeText},
	{name: "instrument_number", label: "Instrument number", control: lineField,
		stored: textOf(func(i *model.Instrument) *string { return &i.Number })},
	{name: "book_type", label: "Book type", control: lineField, stored: textOf(func(i *model.Instrument) *string { return &i.BookType })},
	{name: "book", label: "Book", control: lineField, stored: textOf(func(i *model.Instrument) *string { return &i.Book })},
	{name: "page", label: "Page", control: lineField, stored: textOf(func(i *model.Instrument) *string { return &i.Page })},
	{name: "recorded", label: "Recorded", control: pastField, stored: textOf(func(i *model.Instrument) *string { return &i.Recorded })},
	{name: "dated", label: "Dated", control: pastField, stored: textOf(func(i *model.Instrument) *string { return &i.Dated })},
	{name: "grantors", label: "Grantor", control: namesField,
		stored: listOf(func(i *model.Instrument) *[]string { return &i.Grantors }, "\n")},
	{name: "grantees", label: "Grantee", control: namesField,
		stored: listOf(func(i *model.Instrument) *[]string { return &i.Grantees }, "\n")},
	{name: "consideration", label: "Consideration", control: moneyField,
		stored: textOf(func(i *model.Instrument) *string { return &i.Consideration })},
	{name: "parcels", label: "Parcel IDs", control: itemsField,
		stored: listOf(func(i *model.Instrument) *[]string { return &i.Parcels }, "; ")},
	{name: "legal", label: "Legal description", control: textField, stored: textOf(func(i *model.Instrument) *string { return &i.Legal })},
	{name: "remarks", label: "Remarks", control: textField, stored: textOf(func(i *model.Instrument) *string { return &i.Remarks })},
	{name: pagesName, label: "Pages of this document", control: pagesField, stored: linkedPages},
	{name: "relations", label: "Related instruments", control: linksField, stored: relationsText},
	{name: "page_to", label: "Last page", control: lineField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.PageTo })},
	{name: "recorded_time", label: "Time recorded", control: lineField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.RecordedTime })},
	{name: "expires", label: "Expires", control: futureField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.Expires })},
	{name: "case_number", label: "Case number", control: lineField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.CaseNumber })},
	{name: "court", label: "Court", control: lineField, more: true, stored: textOf(func(i *model.Instrument) *string { return &i.Court })},
	{name: "other_parties", label: "Other parties", control: partiesField, more: true, hint: "One per line, such as Trustee: First Title Co.",
		stored: partiesText},
	{name: "county", label: "County", control: lineField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.County })},
	{name: "state", label: "State", control: lineField, more: true, stored: textOf(func(i *model.Instrument) *string { return &i.State })},
	{name: "recording_system", label: "Recording system", control: choiceField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.RecordingSystem })},
	{name: "certificate_of_title", label: "Certificate of title", control: lineField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.CertificateOfTitle })},
	{name: "status", label: "Status", control: choiceField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.Status })},
	{name: "exception", label: "Exception", control: textField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.Exception })},
	{name: "requirement", label: "Requirement", control: textField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.Requirement })},
	{name: "cleared", label: "Cleared", control: pastField, more: true,
		stored: textOf(func(i *model.Instrument) *string { return &i.Cleared })},
}

func typeText(i model.Instrument, _ uint64) string {
	if i.TypeID == 0 {
		return ""
	}
	return strconv.FormatUint(i.TypeID, 10)
}

func partiesText(i model.Instrument, _ uint64) string {
	lines := make([]string, 0, len(i.OtherParties))
	for _, p := range i.OtherParties {
		if p.Role != "" {
			p.Name = p.Role + ": " + p.Name
		}
		lines = append(lines, p.Name)
	}
	return strings.Join(lines, "\n")
}

// linkedPages returns the pages of a document that contain the instrument, or "" for all of them.
func linkedPages(i model.Instrument, file uint64) string {
	var pages []string
	for _, link := range i.Documents {
		if link.FileID == file && link.Pages != "" {
			pages = append(pages, link.Pages)
		}
	}
	return strings.Join(pages, ",")
}

// relationsText encodes relations with one per line, for comparisons.
func relationsText(i model.Instrument, _ uint64) string {
	lines := make([]string, 0, len(i.Relations))
	for _, r := range i.Relations {
		lines = append(lines, r.Kind+"\t"+relationTarget(r)+"\t"+r.Text)
	}
	return strings.Join(lines, "\n")
}

func relationTarget(r model.Relation) string {
	if r.InstrumentID == 0 {
		return ""
	}
	return strconv.FormatUint(r.InstrumentID, 10)
}

// futureYears is how far in the future a two-digit year of an expiration may be.
const futureYears = 60

// submitted returns the normalized text of a submitted field. sent is false if the form doesn't
// contain the field.
func (f instrumentField) submitted(form url.Values, now time.Time) (text string, sent bool) {
	if f.control == linksField {
		return submittedRelations(form)
	}
	values, sent := form[fieldPrefix+f.name]
	if !sent {
		return "", false
	}
	text = strings.TrimSpace(strings.ReplaceAll(values[len(values)-1], "\r\n", "\n"))
	switch f.control {
	case pastField:
		text = page.ParseTypedDate(text, now.AddDate(0, 0, 1)) // it may be tomorrow where the user is
	case futureField:
		text = page.ParseTypedDate(text, now.AddDate(futureYears, 0, 0))
	case moneyField:
		if amount, ok := model.NormalizeMoney(text); ok {
			text = amount
		}
	case namesField, partiesField:
		text = strings.Join(splitItems(text), "\n")
	case itemsField:
		text = strings.Join(splitItems(text), "; ")
	case pagesField:
		if pages, _, ok := model.ParsePages(text); ok {
			text = pages
		}
	}
	return text, true
}

// splitItems returns the items of a text, which are separated by line breaks or semicolons.
func splitItems(text string) (items []string) {
	for item := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// submittedRelations returns the submitted relations as relationsText does. It omits rows without a
// target.
func submittedRelations(form url.Values) (text string, sent bool) {
	kinds, targets, texts := form["relation_kind"], form["relation_target"], form["relation_text"]
	if len(kinds) == 0 || len(kinds) != len(targets) || len(kinds) != len(texts) {
		return "", false
	}
	var lines []string
	for n := range kinds {
		if words := strings.Join(strings.Fields(texts[n]), " "); targets[n] != "" || words != "" {
			lines = append(lines, kinds[n]+"\t"+targets[n]+"\t"+words)
		}
	}
	return strings.Join(lines, "\n"), true
}

// parseRelations returns the relations that relationsText encoded.
func parseRelations(text string) (list []model.Relation) {
	for line := range strings.SplitSeq(text, "\n") {
		parts := strings.SplitN(line, "\t", 3)
		if len(parts) < 3 {
			continue
		}
		id, _ := strconv.ParseUint(parts[1], 10, 64) // 0 if there is no target
		list = append(list, model.Relation{Kind: parts[0], InstrumentID: id, Text: parts[2]})
	}
	return list
}

// encode adds a field with a normalized text to the input for an instrument. links are the links to
// documents that the instrument has.
func (f instrumentField) encode(in model.InstrumentInput, text string, file uint64, links []model.DocumentLink) {
	switch f.control {
	case namesField, itemsField:
		in[f.name] = page.EncodeJSON(append([]string{}, splitItems(text)...))
	case partiesField:
		parties := []model.Party{}
		for _, line := range splitItems(text) {
			role, name, found := strings.Cut(line, ":")
			if !found {
				role, name = "", line
			}
			parties = append(parties, model.Party{Role: strings.TrimSpace(role), Name: strings.TrimSpace(name)})
		}
		in[f.name] = page.EncodeJSON(parties)
	case linksField:
		in[f.name] = page.EncodeJSON(append([]model.Relation{}, parseRelations(text)...))
	case pagesField:
		links = slices.DeleteFunc(slices.Clone(links), func(d model.DocumentLink) bool { return d.FileID == file })
		in["documents"] = page.EncodeJSON(append(links, model.DocumentLink{FileID: file, Pages: text}))
	default:
		if text == "" {
			in[f.name] = json.RawMessage("null")
			return
		}
		in[f.name] = page.EncodeJSON(text)
	}
}

// shown returns a normalized text as the form shows it.
func (f instrumentField) shown(text string) string {
	switch f.control {
	case pastField, futureField:
		return page.FormatTypedDate(text)
	case moneyField:
		return strings.TrimSuffix(text, ".00")
	}
	return text
}

// fieldType returns the type whose fingerprint is used for the field.
func (f instrumentField) fieldType() model.FieldType {
	switch f.control {
	case namesField, partiesField, textField, linksField:
		return model.Paragraph
	}
	return model.Text
}

// apiName returns the name of the field in the API, in field errors, and in the audit log.
func (f instrumentField) apiName() string {
	if f.control == pagesField {
		return "documents"
	}
	return f.name
}
