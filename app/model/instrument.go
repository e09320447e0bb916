package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Instrument is a recorded or recordable paper in the chain of title of an abstract, such as a
// deed or a mortgage. It may have no document, one, or several, and a document may contain
// several instruments.
type Instrument struct {
	ID                 uint64         `json:"id"`
	AbstractID         uint64         `json:"abstract_id"`
	TypeID             uint64         `json:"type_id,omitempty"` // a DocumentType; 0: none
	Number             string         `json:"number,omitempty"`  // instrument, reception, document, or file number of the county
	BookType           string         `json:"book_type,omitempty"`
	Book               string         `json:"book,omitempty"`
	Page               string         `json:"page,omitempty"`
	PageTo             string         `json:"page_to,omitempty"`
	CaseNumber         string         `json:"case_number,omitempty"`
	Court              string         `json:"court,omitempty"`
	RecordingSystem    string         `json:"recording_system,omitempty"` // "recorded", "registered" (Torrens), or ""
	CertificateOfTitle string         `json:"certificate_of_title,omitempty"`
	County             string         `json:"county,omitempty"`
	State              string         `json:"state,omitempty"`
	Dated              string         `json:"dated,omitempty"`         // YYYY-MM-DD
	Recorded           string         `json:"recorded,omitempty"`      // YYYY-MM-DD
	RecordedTime       string         `json:"recorded_time,omitempty"` // HH:MM or HH:MM:SS, local time of the county
	Expires            string         `json:"expires,omitempty"`       // YYYY-MM-DD: lapse of a lien, UCC, or lease
	Grantors           []string       `json:"grantors,omitempty"`
	Grantees           []string       `json:"grantees,omitempty"`
	OtherParties       []Party        `json:"other_parties,omitempty"`
	Consideration      string         `json:"consideration,omitempty"`      // dollars, as returned by NormalizeMoney
	ConsiderationText  string         `json:"consideration_text,omitempty"` // what the instrument says, such as "$10 & OVC"
	Parcels            []string       `json:"parcels,omitempty"`
	Legal              string         `json:"legal,omitempty"`
	Remarks            string         `json:"remarks,omitempty"`
	Status             string         `json:"status,omitempty"`        // what a person set; "": derived, see Statuses
	StatusSetBy        *Actor         `json:"status_set_by,omitempty"` // who set Status
	Relations          []Relation     `json:"relations,omitempty"`
	Exception          string         `json:"exception,omitempty"`   // text for Schedule B-II
	Requirement        string         `json:"requirement,omitempty"` // text for Schedule B-I
	Cleared            string         `json:"cleared,omitempty"`     // YYYY-MM-DD: when the exception or requirement was cleared
	Prior              bool           `json:"prior,omitempty"`       // carried over by a bring-down
	Documents          []DocumentLink `json:"documents,omitempty"`
	Version            uint64         `json:"version"`
	CreatedAt          time.Time      `json:"created_at"`
	UpdatedAt          time.Time      `json:"updated_at"`
	Trashed            *Trashed       `json:"trashed,omitempty"`
	// RetainedUntil is the end of the retention period that the instrument had in abstracts that it
	// left. It never becomes earlier.
	RetainedUntil time.Time `json:"retained_until,omitzero"`
}

// Party is a party to an instrument that is neither grantor nor grantee, such as a trustee or a
// nominee.
type Party struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

// Input returns the input of the party.
func (p Party) Input() Input {
	return ObjectInput(Inputs{"role": StringInput(p.Role), "name": StringInput(p.Name)})
}

// Text returns the party as "Trustee: Ned Cole", or the name if it has no role.
func (p Party) Text() string {
	if p.Role == "" && !strings.Contains(p.Name, ":") {
		return p.Name
	}
	return p.Role + ": " + p.Name
}

// Relation says what an instrument does to another one. The target is an instrument, or text for
// one that isn't recorded here, such as "Bk 1022 Pg 311".
type Relation struct {
	Kind         string `json:"kind"` // one of RelationKinds
	InstrumentID uint64 `json:"instrument_id,omitempty"`
	Text         string `json:"text,omitempty"`
}

// Input returns the input of the relation.
func (r Relation) Input() Input {
	members := Inputs{"kind": StringInput(r.Kind)}
	if r.InstrumentID != 0 {
		members["instrument_id"] = NumberInput(r.InstrumentID)
	}
	if r.Text != "" {
		members["text"] = StringInput(r.Text)
	}
	return ObjectInput(members)
}

// DocumentLink says which document contains an instrument and, if it is only a part of the
// document, on which pages.
type DocumentLink struct {
	FileID uint64 `json:"file_id"`
	Pages  string `json:"pages,omitempty"` // "3-7" or "1,3-5"
}

// Input returns the input of the link.
func (l DocumentLink) Input() Input {
	members := Inputs{"file_id": NumberInput(l.FileID)}
	if l.Pages != "" {
		members["pages"] = StringInput(l.Pages)
	}
	return ObjectInput(members)
}

// Kinds of relations that change the status of their target.
const (
	Releases   = "releases"
	Terminates = "terminates"
)

// RelationKinds returns the values of Relation.Kind.
func RelationKinds() []string {
	return []string{Releases, "partially_releases", Terminates, "assigns", "modifies", "subordinates", "continues", "renews", "corrects",
		"rerecords", "references", "affects"}
}

// relationOfType is the kind of relation that instruments of a default type usually have.
var relationOfType = map[string]string{"Partial Release": "partially_releases", "Modification": "modifies", "Subordination": "subordinates",
	"Corrective Deed": "corrects"}

// UsualRelation returns the kind of relation that instruments of the type usually have, or "".
func (t DocumentType) UsualRelation() string {
	switch kind := relationOfType[t.Name]; {
	case t.IsAssignment():
		return "assigns"
	case kind == "" && t.Category == Release:
		return Releases
	default:
		return kind
	}
}

// IsAssignment reports whether instruments of the type assign another instrument, such as a mortgage or a lease.
// Those that create an encumbrance, such as an assignment of rents, don't.
func (t DocumentType) IsAssignment() bool {
	return strings.HasPrefix(t.Name, "Assignment") && !t.Encumbrance
}

// Ends reports whether the relation ends its target.
func (r Relation) Ends() bool { return r.Kind == Releases || r.Kind == Terminates }

// Ends reports whether the instrument releases or terminates another instrument.
func (i Instrument) Ends(id uint64) bool {
	return slices.ContainsFunc(i.Relations, func(r Relation) bool { return r.Ends() && r.InstrumentID == id })
}

// Statuses of instruments.
const (
	InstrumentOpen     = "open"
	InstrumentReleased = "released"
	InstrumentExpired  = "expired"
	NotApplicable      = "not_applicable"
)

// InstrumentStatuses returns the statuses of instruments.
func InstrumentStatuses() []string {
	return []string{InstrumentOpen, InstrumentReleased, InstrumentExpired, NotApplicable}
}

// EffectiveStatus returns the status of an instrument on a day (YYYY-MM-DD). A status that a person
// set wins. Otherwise, an encumbrance is open unless ended is true, which means that a live
// instrument releases or terminates it, or Expires has passed. The status of other instruments is
// not applicable.
func (i Instrument) EffectiveStatus(t DocumentType, ended bool, today string) string {
	switch {
	case i.Status != "":
		return i.Status
	case !t.Encumbrance:
		return NotApplicable
	case ended:
		return InstrumentReleased
	case i.Expires != "" && i.Expires < today:
		return InstrumentExpired
	}
	return InstrumentOpen
}

// RecordingReference returns where the instrument is recorded, such as "Deed Book 1022, Page 311",
// "Inst. 201904170093382", or "Case 24-117". It is "" if nothing is known.
func (i Instrument) RecordingReference() string {
	book := ""
	if i.Book != "" {
		book = joinNonEmpty(" ", cmp.Or(i.BookType, "Book"), i.Book)
	}
	page := ""
	if i.Page != "" {
		page = "Page " + i.Page
		if i.PageTo != "" {
			page += "–" + i.PageTo
		}
	}
	number, caseNumber := i.Number, i.CaseNumber
	if number != "" {
		number = "Inst. " + number
	}
	if caseNumber != "" {
		caseNumber = "Case " + caseNumber
	}
	return joinNonEmpty("; ", joinNonEmpty(", ", book, page), number, caseNumber)
}

// Heading returns a line that identifies the instrument: its type, where it is recorded, and its
// parties.
func (i Instrument) Heading(t DocumentType) string {
	name := func(list []string) string {
		switch len(list) {
		case 0:
			return ""
		case 1:
			return list[0]
		}
		return list[0] + " et al."
	}
	parties := joinNonEmpty(" to ", name(i.Grantors), name(i.Grantees))
	return joinNonEmpty(" · ", t.Label(), i.RecordingReference(), parties)
}

// NormalizeRecordingNumber returns the form of an instrument, book, or page number for comparisons.
// Case, punctuation, and leading zeros don't matter: "0883" and "883" are the same page.
func NormalizeRecordingNumber(number string) string {
	normalized := NormalizeNumber(number)
	if trimmed := strings.TrimLeft(normalized, "0"); trimmed != "" {
		return trimmed
	}
	return normalized
}

// SearchTerms returns the searchable values of the instrument. typeName is the name of its type.
func (i Instrument) SearchTerms(typeName string) SearchTerms {
	var k SearchTerms
	if i.Book != "" && i.Page != "" {
		k.number(joinNonEmpty(" ", cmp.Or(i.BookType, "Book"), i.Book, "Page", i.Page))
	}
	for _, p := range i.OtherParties {
		k.name(p.Name)
	}
	k.other(typeName)
	for _, field := range instrumentFields {
		for _, value := range field.Values(&i) {
			switch field.find {
			case foundAsNumber:
				k.number(value)
			case foundAsName:
				k.name(value)
			case foundAsText:
				k.other(value)
				k.numbersIn(value)
			case notFound:
			}
		}
	}
	for _, r := range i.Relations {
		k.other(r.Text)
		k.numbersIn(r.Text)
	}
	return k
}

// Names returns the names of all parties.
func (i Instrument) Names() []string {
	names := slices.Concat(i.Grantors, i.Grantees)
	for _, p := range i.OtherParties {
		names = append(names, p.Name)
	}
	return names
}

// loggedInstrumentFields are the fields of an instrument in the sequence of the audit log.
var loggedInstrumentFields = func() []recordField[Instrument] {
	fields := []recordField[Instrument]{
		{FieldLabel{Name: "abstract_id", Label: "Abstract", Refers: "abstract"}, func(i *Instrument) any { return i.AbstractID }},
		{FieldLabel{Name: "type_id", Label: "Document type", Refers: "document_type"}, func(i *Instrument) any { return i.TypeID }},
	}
	for _, f := range instrumentFields {
		fields = append(fields, recordField[Instrument]{f.FieldLabel, f.value})
	}
	return fields
}()

// Changes returns the differences between i and its new version, with API field names.
func (i Instrument) Changes(to Instrument) []Change {
	return compareRecords(loggedInstrumentFields, i, to)
}

// FillBlank returns i with the values of from in its blank fields, and with the documents of from. It
// replaces no value. The status and the relations stay. Values that belong together, such as book and page,
// come from one instrument unless they are equal.
func (i Instrument) FillBlank(from Instrument) Instrument {
	i.TypeID = cmp.Or(i.TypeID, from.TypeID)
	otherBook := i.Book+i.Page != "" && NormalizeRecordingNumber(i.Book) != NormalizeRecordingNumber(from.Book)
	otherPage := i.Page != "" && NormalizeRecordingNumber(i.Page) != NormalizeRecordingNumber(from.Page)
	keep := map[string]bool{"status": true, "book_type": otherBook, "book": otherBook, "page": otherBook, "page_to": otherBook || otherPage,
		"consideration":      i.ConsiderationText != "" && i.ConsiderationText != from.ConsiderationText,
		"consideration_text": i.Consideration != "" && i.Consideration != from.Consideration,
		"recorded_time":      i.Recorded != "" && i.Recorded != from.Recorded}
	for _, field := range instrumentFields {
		switch {
		case field.Text != nil && !keep[field.Name]:
			*field.Text(&i) = cmp.Or(*field.Text(&i), *field.Text(&from))
		case field.List != nil && len(*field.List(&i)) == 0:
			*field.List(&i) = *field.List(&from)
		}
	}
	if len(i.OtherParties) == 0 {
		i.OtherParties = from.OtherParties
	}
	i.Documents = slices.Clone(i.Documents)
	for _, link := range from.Documents {
		if !slices.Contains(i.Documents, link) {
			i.Documents = append(i.Documents, link)
		}
	}
	return i
}

// Title returns a short name of the instrument: its type and where it is recorded, or else its parties.
func (i Instrument) Title(t DocumentType) string {
	if reference := i.RecordingReference(); reference != "" {
		return joinNonEmpty(", ", t.Label(), reference)
	}
	return i.Heading(t)
}

// Normalize returns the input with the values that the instrument got from it.
func (i Instrument) Normalize(in Inputs, types DocumentTypes) Inputs {
	out := Inputs{}
	for name, value := range i.input(types) {
		if _, sent := in[name]; sent || name == "type" && in["type_id"].Kind != InputMissing {
			out[name] = value
		}
	}
	if position := in["position"]; !position.IsBlank() {
		out["position"] = position
	}
	return out
}

// Input returns the input that sets the fields to the values of the instrument.
func (i Instrument) Input(fields ...string) Inputs {
	all, in := i.input(nil), Inputs{}
	all["type_id"] = NumberInput(i.TypeID)
	for _, name := range fields {
		in[name] = all[name] // a missing value clears the field
	}
	return in
}

// input returns the fields of the instrument that have a value.
func (i Instrument) input(types DocumentTypes) Inputs {
	t, _ := types.ByID(i.TypeID)
	in := Inputs{"type": StringInput(t.Name), "other_parties": RowsInput(i.OtherParties), "relations": RowsInput(i.Relations),
		"documents": RowsInput(i.Documents)}
	for _, field := range instrumentFields {
		switch {
		case field.Text != nil:
			in[field.Name] = StringInput(*field.Text(&i))
		case field.List != nil:
			in[field.Name] = StringsInput(*field.List(&i))
		}
	}
	maps.DeleteFunc(in, func(_ string, value Input) bool { return value.IsBlank() })
	return in
}

// RowsInput returns the input of a list of rows.
func RowsInput[T interface{ Input() Input }](list []T) Input {
	in := ListInput()
	for _, row := range list {
		in.Items = append(in.Items, row.Input())
	}
	return in
}

// JoinNames returns a text with names, which separator separates: a semicolon or a line break. A name
// that SplitNames would change is quoted as in CSV files.
func JoinNames(names []string, separator string) string {
	quoted := make([]string, len(names))
	for n, name := range names {
		if quoted[n] = name; strings.ContainsAny(name, ";\n") || strings.HasPrefix(name, `"`) {
			quoted[n] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return strings.Join(quoted, separator)
}

// nameBlanks are the characters that may surround a name.
const nameBlanks = " \t\n\f\r"

// SplitNames returns the names in a text, which are separated by semicolons or line breaks. Of too many
// names, it returns one more than an instrument can have, so that they are rejected.
func SplitNames(text string) []string {
	list := []string{}
	for len(list) <= MaxListItems {
		if text = strings.TrimLeft(text, nameBlanks); text == "" {
			break
		}
		name, rest, quoted := cutQuoted(text)
		if !quoted {
			name, rest = text, ""
			if end := strings.IndexAny(text, ";\n"); end >= 0 {
				name, rest = text[:end], text[end+1:]
			}
		}
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
		text = rest
	}
	return list
}

// cutQuoted returns the quoted name that a text starts with and what follows its separator. quoted is
// false if it doesn't start with a quoted name.
func cutQuoted(text string) (name, rest string, quoted bool) {
	if text[0] != '"' {
		return "", "", false
	}
	end := 1
	for ; ; end += 2 {
		next := strings.IndexByte(text[end:], '"')
		if next < 0 {
			return "", "", false
		}
		if end += next; end+1 == len(text) || text[end+1] != '"' {
			break
		}
	}
	name, after := strings.ReplaceAll(text[1:end], `""`, `"`), text[end+1:]
	rest = strings.TrimLeft(after, nameBlanks)
	switch {
	case strings.HasPrefix(rest, ";"):
		return name, rest[1:], true
	case rest == "", strings.Contains(after[:len(after)-len(rest)], "\n"):
		return name, rest, true
	}
	return "", "", false
}
