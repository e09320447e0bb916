package model

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// Limits of an instrument.
const (
	MaxReferenceLength = 64  // characters of an instrument number, a book, and a page
	MaxConsideration   = 200 // characters of its text
	MaxListItems       = 50  // grantors, grantees, other parties, parcels, relations, and documents, each
)

// The codes of fields of instruments.
const (
	notTime       errs.Code = "The {field} field must be a time such as 14:05."
	notPages      errs.Code = "The {field} field must be a page or a range of pages, such as 3-7."
	pagesTooHigh  errs.Code = "The {field} field must not be above the document's last page, %d."
	pagesUnknown  errs.Code = "The {field} field must be empty because the document has no page count."
	noTarget      errs.Code = "The {field} field must have an instrument id or text."
	SelfRelation  errs.Code = "The {field} field can't refer to the same instrument."
	CyclicRelease errs.Code = "The {field} field must not be an instrument that releases this one."
	pageToAlone   errs.Code = "The {field} field must not be set without a page."
)

// InstrumentContext is what CheckInstrument needs to know about the vault.
type InstrumentContext struct {
	Types DocumentTypes
	// File returns the page count of a document of the abstract or its prior. ok is false if there
	// is no such document.
	File func(id uint64) (pages *int, ok bool)
	// Instrument returns a live instrument of the abstract or its prior.
	Instrument func(id uint64) (Instrument, bool)
	Actor      Actor
}

// CheckInstrument applies the input to old, which is the zero Instrument with an AbstractID for a new one,
// and returns all errors, not just the first. It ignores the position, which isn't stored with
// the instrument.
func CheckInstrument(in Inputs, old Instrument, about InstrumentContext) (Instrument, errs.Fields) {
	var f validation
	i := old
	f.instrumentType(&i, in, about.Types)
	for _, field := range instrumentFields {
		value, sent := in[field.Name]
		switch {
		case sent && field.Text != nil:
			*field.Text(&i) = field.check(&f, field.Name, value.asText())
		case sent && field.List != nil:
			*field.List(&i) = f.nameList(field.Name, value)
		}
	}
	if _, sent := in["status"]; sent {
		if i.StatusSetBy = nil; i.Status != "" {
			i.StatusSetBy = &Actor{Kind: about.Actor.Kind, ID: about.Actor.ID, Name: about.Actor.Name}
		}
	}
	if i.PageTo != "" && i.Page == "" {
		f.Add("page_to", pageToAlone)
	}
	if raw, sent := in["other_parties"]; sent {
		i.OtherParties = f.parties("other_parties", raw)
	}
	if raw, sent := in["relations"]; sent {
		i.Relations = f.relations("relations", raw, i.ID, about.Instrument)
	}
	if raw, sent := in["documents"]; sent {
		i.Documents = f.documents("documents", raw, old.Documents, about.File)
	}
	return i, f.Fields
}

// instrumentType sets the type from type_id or, if that isn't there, from type, which is a name.
func (v *validation) instrumentType(i *Instrument, in Inputs, types DocumentTypes) {
	if raw, sent := in["type_id"]; sent {
		id, present, ok := raw.asID()
		t, known := types.ByID(id)
		switch {
		case !present:
			i.TypeID = 0
		case !ok:
			v.Add("type_id", errs.NotInteger)
		case !known || !t.selectable() && id != i.TypeID:
			v.Add("type_id", errs.InvalidChoice)
		default:
			i.TypeID = id
		}
		return
	}
	raw, sent := in["type"]
	if !sent {
		return
	}
	name := v.line("type", raw.asText(), MaxNameLength)
	t, known := types.ByName(name)
	switch {
	case name == "":
		i.TypeID = 0
	case !known || !t.selectable() && t.ID != i.TypeID:
		v.Add("type", errs.InvalidChoice)
	default:
		i.TypeID = t.ID
	}
}

// asID returns the input as an ID. present is false if it is blank.
func (in Input) asID() (id uint64, present, ok bool) {
	text := strings.TrimSpace(in.asText().Value)
	if in.IsBlank() || text == "" && in.isText() {
		return 0, false, true
	}
	_, err := fmt.Sscanf(text, "%d", &id)
	return id, true, err == nil && fmt.Sprint(id) == text
}

func lineUpTo(limit int) func(f *validation, field string, in Input) string {
	return func(f *validation, field string, in Input) string { return f.line(field, in, limit) }
}

func choiceOf(options ...string) func(f *validation, field string, in Input) string {
	return func(f *validation, field string, in Input) string {
		value := f.line(field, in, MaxLineLength)
		if value != "" && !slices.Contains(options, value) {
			f.Add(field, errs.InvalidChoice)
			return ""
		}
		return value
	}
}

// optionalParagraph is like paragraph but also accepts a missing value.
func (v *validation) optionalParagraph(field string, in Input) string {
	if in.Kind == InputMissing {
		return ""
	}
	return v.paragraph(field, in)
}

// Times as people write them without a colon: "0800" and "8 am".
var (
	plainTime = regexp.MustCompile(`^([0-9]{2})([0-9]{2})$`)
	plainHour = regexp.MustCompile(`^([0-9]{1,2})\s*([AaPp]\.?[Mm]\.?)$`)
)

var timeText = regexp.MustCompile(`^([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?(?:\s*([AaPp])\.?[Mm]\.?)?$`)

// timeOfDay validates a time, such as "14:05", "9:41 AM", or "10:42:07", and returns it on the
// 24-hour clock with two digits for the hour.
func (v *validation) timeOfDay(field string, in Input) string {
	return v.formatted(field, in, MaxLineLength, notTime, func(text string) string {
		text = plainHour.ReplaceAllString(plainTime.ReplaceAllString(text, "$1:$2"), "$1:00 $2")
		m := timeText.FindStringSubmatch(text)
		if m == nil {
			return ""
		}
		var hour int
		if _, err := fmt.Sscanf(m[1], "%d", &hour); err != nil || m[4] != "" && (hour == 0 || hour > 12) {
			return ""
		}
		switch {
		case strings.EqualFold(m[4], "p") && hour < 12:
			hour += 12
		case strings.EqualFold(m[4], "a") && hour == 12:
			hour = 0
		}
		at := fmt.Sprintf("%02d:%s", hour, m[2])
		if m[3] != "" {
			at += ":" + m[3]
		}
		return at
	})
}

// items returns the elements of a list, which can have up to limit.
func (v *validation) items(field string, in Input, limit int) []Input {
	switch {
	case in.IsBlank():
	case in.Kind != InputList:
		v.Add(field, errs.NotArray)
	case len(in.Items) > limit:
		v.Add(field, errs.TooMany, limit)
	default:
		return in.Items
	}
	return nil
}

// nameList validates a list of names or numbers. It omits empty ones. A value that isn't a list is a list of one.
func (v *validation) nameList(field string, in Input) (list []string) {
	if !in.IsBlank() && in.Kind != InputList {
		in = ListInput(in)
	}
	for _, item := range v.items(field, in, MaxListItems) {
		if name := v.line(field, item.asText(), MaxNameLength); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// objects iterates over the elements of a list, which must be objects. The key is what the names of their members
// start with in field errors, such as "documents.0.".
func (v *validation) objects(field string, items []Input) iter.Seq2[string, Inputs] {
	return func(yield func(string, Inputs) bool) {
		for n, item := range items {
			at := fmt.Sprintf("%s.%d", field, n)
			if item.Kind != InputObject {
				name := strings.ReplaceAll(field, "_", " ")
				v.AddProblem(at, errs.Problem{Code: "Each item of the {field} field must be an object.", Name: name})
			} else if !yield(at+".", item.Members) {
				return
			}
		}
	}
}

func (v *validation) parties(field string, in Input) (list []Party) {
	for at, members := range v.objects(field, v.items(field, in, MaxListItems)) {
		p := Party{
			Role: v.line(at+"role", members["role"].asText(), MaxNameLength),
			Name: v.line(at+"name", members["name"].asText(), MaxNameLength),
		}
		if p.Name == "" && p.Role != "" {
			v.Add(at+"name", errs.Required)
		}
		if p.Name != "" {
			list = append(list, p)
		}
	}
	return list
}

func (v *validation) relations(field string, in Input, self uint64, find func(uint64) (Instrument, bool)) (list []Relation) {
	seen := map[uint64]bool{}
	for at, members := range v.objects(field, v.items(field, in, MaxListItems)) {
		r := Relation{Kind: v.line(at+"kind", members["kind"].asText(), MaxLineLength)}
		switch {
		case r.Kind == "":
			v.Add(at+"kind", errs.Required)
		case !slices.Contains(RelationKinds(), r.Kind):
			v.Add(at+"kind", errs.InvalidChoice)
		}
		target := at + "instrument_id"
		r.Text = v.line(at+"text", members["text"].asText(), MaxLineLength)
		id, present, valid := members["instrument_id"].asID()
		switch {
		case !valid:
			v.Add(target, errs.NotInteger)
		case !present && r.Text == "":
			v.Add(target, noTarget)
		case present && id == self:
			v.Add(target, SelfRelation)
		case present:
			r.InstrumentID = id
			v.checkTarget(target, r, self, find, seen)
		}
		list = append(list, r)
	}
	return list
}

// checkTarget adds an error if the target of a relation doesn't exist or the relation closes a
// cycle of releases. seen are the instruments that other relations lead to, which it doesn't read again.
func (v *validation) checkTarget(field string, r Relation, self uint64, find func(uint64) (Instrument, bool), seen map[uint64]bool) {
	if _, known := find(r.InstrumentID); !known {
		v.Add(field, errs.InvalidChoice)
		return
	}
	if !r.Ends() || self == 0 {
		return
	}
	for queue := []uint64{r.InstrumentID}; len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		i, known := find(queue[0])
		if !known {
			continue
		}
		for _, next := range i.Relations {
			if next.Ends() && next.InstrumentID == self {
				v.Add(field, CyclicRelease)
				return
			}
			if next.Ends() && next.InstrumentID != 0 {
				queue = append(queue, next.InstrumentID)
			}
		}
	}
}

// documents validates links to documents. A link that the instrument already has stays valid even
// if its document was moved or is in the trash.
func (v *validation) documents(field string, in Input, old []DocumentLink, find func(uint64) (pages *int, ok bool),
) (list []DocumentLink) {
	for at, members := range v.objects(field, v.items(field, in, MaxListItems)) {
		id, present, valid := members["file_id"].asID()
		count, known := find(id)
		switch {
		case !present:
			v.Add(at+"file_id", errs.Required)
		case !valid:
			v.Add(at+"file_id", errs.NotInteger)
		case !known && !slices.ContainsFunc(old, func(d DocumentLink) bool { return d.FileID == id }):
			v.Add(at+"file_id", errs.InvalidChoice)
		}
		link := DocumentLink{FileID: id}
		if text := v.line(at+"pages", members["pages"].asText(), MaxLineLength); text != "" {
			link.Pages = v.pages(at+"pages", text, count, known)
		}
		if !slices.Contains(list, link) {
			list = append(list, link)
		}
	}
	return list
}

// pages validates a list of pages. known is false if the document isn't available, and then only
// the format is checked.
func (v *validation) pages(field, text string, count *int, known bool) string {
	pages, last, ok := ParsePages(text)
	switch {
	case !ok:
		v.Add(field, notPages)
	case known && count == nil:
		v.Add(field, pagesUnknown)
	case known && last > *count:
		v.Add(field, pagesTooHigh, *count)
	}
	return pages
}
