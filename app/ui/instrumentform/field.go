// Package instrumentform is the form of an instrument: its fields, their values from a request, and the
// changes and problems of a submitted form. The form is on a page of its own and in the panel beside a
// document.
package instrumentform

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Control says how users enter a field.
type Control string

// Controls. "" is a line of text. The template of all of them is web/pages/part-instrument-form.html.
const (
	past      Control = "past"   // a date that has passed
	future    Control = "future" // a date that may be in the future
	money     Control = "money"
	names     Control = "names" // one per line, or separated by semicolons
	parties   Control = "parties"
	text      Control = "text" // several lines
	choice    Control = "choice"
	pages     Control = "pages" // pages of the document beside the form
	relations Control = "relations"
	documents Control = "documents"
)

// Names of fields that are handled in a special way.
const (
	fieldType      = "type_id"
	fieldTime      = "recorded_time"
	fieldRelations = "relations"
	fieldDocuments = "documents"
	fieldPosition  = "position"

	// Pages is the field with the pages of the document beside the form.
	Pages = "pages"
)

// definition describes a field of the form.
type definition struct {
	model.InstrumentField
	control Control
}

// definitions are the fields of the form: those of instruments, and those that only a form has.
var definitions = func() []definition {
	own := func(name, label string, control Control) definition {
		return definition{model.InstrumentField{FieldLabel: model.FieldLabel{Name: name, Label: label}}, control}
	}
	list := []definition{own(fieldType, "Document type", choice), own(Pages, "Pages of this document", pages),
		own(fieldPosition, "Position", "")}
	for _, f := range model.InstrumentFields() {
		switch f.Name {
		case "consideration_text": // is typed with the amount
			continue
		case fieldDocuments:
			f.Label = "Documents that contain this instrument"
		}
		list = append(list, definition{f, controlOf(f)})
	}
	return list
}()

// controlOf returns how users enter a field of instruments.
func controlOf(f model.InstrumentField) Control {
	switch {
	case f.Name == "other_parties":
		return parties
	case f.Name == fieldRelations:
		return relations
	case f.Name == fieldDocuments:
		return documents
	case f.List != nil:
		return names
	case f.IsFuture:
		return future
	}
	return map[model.FieldType]Control{model.Date: past, model.Money: money, model.Paragraph: text, model.Choice: choice}[f.Type]
}

// definitionOf returns the definition of a field.
func definitionOf(name string) definition {
	return definitions[slices.IndexFunc(definitions, func(d definition) bool { return d.Name == name })]
}

// Layout says which fields a form has, in tab order, and how they are named in requests.
type Layout struct {
	prefix    string // of the names of fields
	sections  []section
	blankRows int  // for further relations and documents
	compact   bool // only folded sections have hints
	without   []string
}

// section is a group of fields.
type section struct {
	heading string
	folded  bool
	fields  []string
	rest    bool // the fields that the layout doesn't name come last
}

// withRest returns the layout with all fields of instruments in its sections.
func (l Layout) withRest() Layout {
	var named []string
	for _, s := range l.sections {
		named = append(named, s.fields...)
	}
	for n := range l.sections {
		for _, d := range definitions {
			if l.sections[n].rest && !slices.Contains(named, d.Name) && !slices.Contains(l.without, d.Name) {
				l.sections[n].fields = append(l.sections[n].fields, d.Name)
			}
		}
	}
	return l
}

// OnPage is the layout of the form on a page of its own.
var OnPage = Layout{blankRows: 2, without: []string{Pages}, sections: []section{
	{heading: "Instrument", fields: []string{fieldType, "instrument_number", "dated", "book_type", "book", "page",
		"page_to", "recorded", fieldTime}},
	{heading: "Parties and amount", fields: []string{"grantors", "grantees", "other_parties", "consideration"}},
	{heading: "Property", fields: []string{"parcels", "legal", "county", "state"}},
	{heading: "Status and related instruments", fields: []string{"status", "expires", fieldRelations}},
	{heading: "Documents", fields: []string{fieldDocuments}},
	{heading: "Schedule B and remarks", fields: []string{"requirement", "exception", "cleared", "remarks"}},
	{heading: "Court and registered land", rest: true, fields: []string{"case_number", "court"}},
	{heading: "Runsheet", fields: []string{fieldPosition}},
}}.withRest()

// BesideDocument is the layout of the form in the panel beside a document.
var BesideDocument = Layout{prefix: "instrument.", blankRows: 1, compact: true, without: []string{fieldDocuments, fieldPosition},
	sections: []section{
		{fields: []string{fieldType, "instrument_number", "book_type", "book", "page", "recorded", "dated", "grantors",
			"grantees", "consideration",
			"parcels", "legal", "remarks", Pages}},
		{heading: "Related instruments", folded: true, fields: []string{fieldRelations}},
		{heading: "More fields", folded: true, rest: true, fields: []string{"page_to", fieldTime, "expires", "case_number", "court",
			"other_parties", "county", "state"}},
	}}.withRest()

// inPacket is the layout of InPacket without its prefix.
var inPacket = Layout{compact: true, without: []string{fieldDocuments, fieldPosition, fieldRelations, Pages}, sections: []section{
	{fields: []string{fieldType, "instrument_number", "book_type", "book", "page", "recorded", "dated", "grantors", "grantees",
		"consideration"}},
	{heading: "More fields", folded: true, rest: true, fields: []string{"page_to", "parcels", "legal", "case_number", "court",
		"other_parties"}},
}}.withRest()

// InPacket returns the layout of the form for the instrument that starts on a page of a document with several
// instruments.
func InPacket(start int) Layout {
	l := inPacket
	l.prefix = fmt.Sprintf("p%d.", start)
	return l
}

// stored returns the value of the field as text, as the form submits it.
func (d definition) stored(i vault.InstrumentView, file uint64) string {
	switch {
	case d.List != nil:
		return model.JoinNames(*d.List(&i.Instrument), "\n")
	case d.Name == fieldTime:
		return page.FormatTimeOfDay(i.RecordedTime)
	case d.control == money && i.ConsiderationText != "":
		return page.FormatConsideration(i.Instrument)
	case d.Text != nil:
		return *d.Text(&i.Instrument)
	case d.Name == fieldType:
		return formatID(i.TypeID)
	case d.Name == fieldPosition && i.Position > 0:
		return strconv.Itoa(i.Position)
	}
	var lines []string
	switch d.control {
	case parties:
		return model.JoinParties(i.OtherParties, "\n")
	case relations:
		for _, r := range i.Relations {
			lines = append(lines, cells{r.Kind, formatID(r.InstrumentID), r.Text}.String())
		}
	case documents:
		for _, link := range i.Documents {
			lines = append(lines, cells{"", formatID(link.FileID), link.Pages}.String())
		}
	case pages:
		return LinkedPages(i.Instrument, file)
	}
	return strings.Join(lines, "\n")
}

// LinkedPages returns the pages of a document that contain the instrument, or "" for all of them.
func LinkedPages(i model.Instrument, file uint64) string {
	var list []string
	for _, link := range i.Documents {
		if link.FileID == file && link.Pages != "" {
			list = append(list, link.Pages)
		}
	}
	return strings.Join(list, ",")
}

// formatID returns an ID as text, or "" if it is 0.
func formatID(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}

// cells are what the controls of a relation or of a document contain. The target is an instrument or a document.
type cells struct{ Kind, Target, Text string }

// String returns the cells as a line of the text of their field.
func (c cells) String() string {
	plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return plain(c.Kind) + "\t" + plain(c.Target) + "\t" + plain(c.Text)
}

// splitRows returns the cells of each line of a text.
func splitRows(text string) (rows []cells) {
	for line := range strings.Lines(text) {
		if row := append(strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3), "", ""); strings.TrimSpace(line) != "" {
			rows = append(rows, cells{row[0], row[1], row[2]})
		}
	}
	return rows
}

// shown returns a normalized text as the form shows it.
func (d definition) shown(value string) string {
	switch d.control {
	case past, future:
		return page.FormatTypedDate(value)
	case money:
		if _, isAmount := model.NormalizeMoney(value); isAmount {
			return strings.TrimSuffix(value, ".00")
		}
	}
	return value
}

// fingerprint returns a short hash of a normalized text.
func (d definition) fingerprint(value string) string {
	kind := model.Text
	switch d.control {
	case names, parties, text, relations, documents:
		kind = model.Paragraph
	}
	return page.Fingerprint(kind, []string{strings.TrimSpace(value)})
}

// apiNames returns the names of the field in field errors and in the audit log.
func (d definition) apiNames() []string {
	switch d.control {
	case pages:
		return []string{fieldDocuments}
	case money:
		return []string{d.Name, "consideration_text"}
	}
	return []string{d.Name}
}
