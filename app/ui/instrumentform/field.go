// Package instrumentform is the form of an instrument: its fields, their values from a request, and the
// changes and problems of a submitted form. The form is on a page of its own and in the panel beside a
// document.
package instrumentform

import (
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Control says how users enter a field.
type Control string

// Controls. "" is a line of text. The template of all of them is web/pages/part_instrument_form.html.
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

	fieldConsideration = "consideration"

	// Pages is the field with the pages of the document beside the form.
	Pages = "pages"
)

// definition describes a field. Its name is that of the API.
type definition struct {
	name, label string
	control     Control
	hint        string
	text        func(*model.Instrument) *string   // value of a field that is one text
	list        func(*model.Instrument) *[]string // value of a field that is a list of names
	as          string                            // what a value is, in a question about it, except for grantors and grantees
	not         look                              // looks that make a value doubtful
}

// definitions are the fields of instruments.
var definitions = []definition{
	{name: fieldType, label: "Document type", control: choice},
	{name: "instrument_number", label: "Instrument number", text: func(i *model.Instrument) *string { return &i.Number },
		as: "the instrument number", not: notNumber},
	{name: "book_type", label: "Book type", hint: "Deed Book, Official Records, Liber, Plat Cabinet",
		text: func(i *model.Instrument) *string { return &i.BookType },
		as:   "the book type", not: notWords},
	{name: "book", label: "Book", text: func(i *model.Instrument) *string { return &i.Book },
		as: "the book", not: notNumber},
	{name: "page", label: "Page", text: func(i *model.Instrument) *string { return &i.Page },
		as: "the page", not: notNumber},
	{name: "page_to", label: "Last page", text: func(i *model.Instrument) *string { return &i.PageTo },
		as: "the last page", not: notNumber},
	{name: "recorded", label: "Recorded", control: past, text: func(i *model.Instrument) *string { return &i.Recorded },
		as: "the recording date", not: early | late},
	{name: fieldTime, label: "Time recorded", hint: "Such as 10:42 AM",
		text: func(i *model.Instrument) *string { return &i.RecordedTime }},
	{name: "dated", label: "Dated", control: past, text: func(i *model.Instrument) *string { return &i.Dated },
		as: "the date of the instrument", not: early | late},
	{name: "grantors", label: "Grantor", control: names, hint: "One name per line",
		list: func(i *model.Instrument) *[]string { return &i.Grantors }, not: notParty},
	{name: "grantees", label: "Grantee", control: names, hint: "One name per line",
		list: func(i *model.Instrument) *[]string { return &i.Grantees }, not: notParty},
	{name: "other_parties", label: "Other parties", control: parties, hint: "One per line, such as Trustee: First Title Co.",
		as: "a party", not: notParty},
	{name: fieldConsideration, label: "Consideration", control: money, hint: "An amount, or what the instrument says, such as $10 & OVC",
		as: "the amount", not: date | place | large | letter},
	{name: "parcels", label: "Parcel IDs", control: names, hint: "One per line",
		list: func(i *model.Instrument) *[]string { return &i.Parcels },
		as:   "a Parcel ID", not: date | amount},
	{name: "legal", label: "Legal description", control: text, text: func(i *model.Instrument) *string { return &i.Legal },
		as: "the legal description", not: character},
	{name: "county", label: "County", text: func(i *model.Instrument) *string { return &i.County },
		as: "the county", not: notWords | character},
	{name: "state", label: "State", text: func(i *model.Instrument) *string { return &i.State },
		as: "the state", not: notWords | character},
	{name: "status", label: "Status", control: choice,
		hint: "Automatic: open until an instrument in this runsheet releases it or it expires",
		text: func(i *model.Instrument) *string { return &i.Status }},
	{name: "expires", label: "Expires", control: future, hint: "When a lien, UCC, or lease lapses",
		text: func(i *model.Instrument) *string { return &i.Expires },
		as:   "the expiration date", not: early},
	{name: fieldRelations, label: "Related instruments", control: relations},
	{name: fieldDocuments, label: "Documents that contain this instrument", control: documents},
	{name: Pages, label: "Pages of this document", control: pages},
	{name: "requirement", label: "Requirement (Schedule B-I)", control: text,
		text: func(i *model.Instrument) *string { return &i.Requirement },
		as:   "the requirement", not: character},
	{name: "exception", label: "Exception (Schedule B-II)", control: text,
		text: func(i *model.Instrument) *string { return &i.Exception },
		as:   "the exception", not: character},
	{name: "cleared", label: "Cleared", control: past, text: func(i *model.Instrument) *string { return &i.Cleared },
		as: "the date", not: early | late},
	{name: "remarks", label: "Remarks", control: text, text: func(i *model.Instrument) *string { return &i.Remarks },
		as: "the remarks", not: character},
	{name: "case_number", label: "Case number", text: func(i *model.Instrument) *string { return &i.CaseNumber },
		as: "the case number", not: notNumber},
	{name: "court", label: "Court", text: func(i *model.Instrument) *string { return &i.Court },
		as: "the court", not: notWords | character},
	{name: "recording_system", label: "Recording system", control: choice,
		text: func(i *model.Instrument) *string { return &i.RecordingSystem }},
	{name: "certificate_of_title", label: "Certificate of title",
		text: func(i *model.Instrument) *string { return &i.CertificateOfTitle },
		as:   "the certificate of title", not: notNumber},
	{name: fieldPosition, label: "Position"},
}

// definitionOf returns the definition of a field.
func definitionOf(name string) definition {
	return definitions[slices.IndexFunc(definitions, func(d definition) bool { return d.name == name })]
}

// Layout says which fields a form has, in tab order, and how they are named in requests.
type Layout struct {
	prefix    string // of the names of fields
	sections  []section
	blankRows int  // for further relations and documents
	compact   bool // only folded sections have hints
}

// section is a group of fields.
type section struct {
	heading string
	folded  bool
	fields  []string
}

// OnPage is the layout of the form on a page of its own.
var OnPage = Layout{blankRows: 2, sections: []section{
	{heading: "Instrument", fields: []string{fieldType, "instrument_number", "dated", "book_type", "book", "page",
		"page_to", "recorded", fieldTime}},
	{heading: "Parties and amount", fields: []string{"grantors", "grantees", "other_parties", "consideration"}},
	{heading: "Property", fields: []string{"parcels", "legal", "county", "state"}},
	{heading: "Status and related instruments", fields: []string{"status", "expires", fieldRelations}},
	{heading: "Documents", fields: []string{fieldDocuments}},
	{heading: "Schedule B and remarks", fields: []string{"requirement", "exception", "cleared", "remarks"}},
	{heading: "Court and registered land", fields: []string{"case_number", "court", "recording_system", "certificate_of_title"}},
	{heading: "Runsheet", fields: []string{fieldPosition}},
}}

// BesideDocument is the layout of the form in the panel beside a document.
var BesideDocument = Layout{prefix: "instrument.", blankRows: 1, compact: true, sections: []section{
	{fields: []string{fieldType, "instrument_number", "book_type", "book", "page", "recorded", "dated", "grantors",
		"grantees", "consideration",
		"parcels", "legal", "remarks", Pages}},
	{heading: "Related instruments", folded: true, fields: []string{fieldRelations}},
	{heading: "More fields", folded: true, fields: []string{"page_to", fieldTime, "expires", "case_number", "court",
		"other_parties", "county",
		"state", "recording_system", "certificate_of_title", "status", "exception", "requirement", "cleared"}},
}}

// stored returns the value of the field as text, as the form submits it.
func (d definition) stored(i vault.InstrumentView, file uint64) string {
	switch {
	case d.list != nil:
		return model.JoinNames(*d.list(&i.Instrument), "\n")
	case d.name == fieldTime:
		return page.FormatTimeOfDay(i.RecordedTime)
	case d.text != nil:
		return *d.text(&i.Instrument)
	case d.name == fieldType:
		return formatID(i.TypeID)
	case d.control == money && i.ConsiderationText == "":
		return i.Consideration
	case d.control == money:
		return page.FormatConsideration(i.Instrument)
	case d.name == fieldPosition && i.Position > 0:
		return strconv.Itoa(i.Position)
	}
	var lines []string
	switch d.control {
	case parties:
		for _, p := range i.OtherParties {
			lines = append(lines, strings.TrimPrefix(p.Role+": "+p.Name, ": "))
		}
		return model.JoinNames(lines, "\n")
	case relations:
		for _, r := range i.Relations {
			lines = append(lines, joinCells(r.Kind, formatID(r.InstrumentID), r.Text))
		}
	case documents:
		for _, link := range i.Documents {
			lines = append(lines, joinCells(formatID(link.FileID), link.Pages))
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

// joinCells returns one row of a field with several controls per row as a line whose cells are separated
// by tabs.
func joinCells(cells ...string) string {
	for n, cell := range cells {
		cells[n] = strings.Join(strings.Fields(cell), " ")
	}
	return strings.Join(cells, "\t")
}

// splitCells returns the cells of such a line.
func splitCells(row string, count int) []string {
	cells := strings.SplitN(row, "\t", count)
	for len(cells) < count {
		cells = append(cells, "")
	}
	return cells
}

// shown returns a normalized text as the form shows it.
func (d definition) shown(value string) string {
	switch d.control {
	case past, future:
		return page.FormatTypedDate(value)
	case money:
		return strings.TrimSuffix(value, ".00")
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
		return []string{d.name, "consideration_text"}
	}
	return []string{d.name}
}
