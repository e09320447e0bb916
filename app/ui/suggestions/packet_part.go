package suggestions

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/ui/instrumentform"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// packetPart is an instrument of a document with several, and its form.
type packetPart struct {
	vault.Suggestion
	First, Last int
	Lines       []page.InstrumentLine // instruments that are recorded for these pages
	Form        *instrumentform.Form  // nil if the instrument is recorded
	Groups      []packetGroup
	Chosen      bool             // the instrument is added
	Choices     []page.RowChoice // what to do with it if the runsheet has it
	Related     []packetRelation
	Problem     string
	CheckAt     int               // confidence of a boundary to check; 0: none
	Focus       bool              // the boundary has the focus
	changed     map[string]string // values that a person entered, by field
	left        []string          // relations that aren't added
	invalid     errs.Fields
}

// packetGroup is a group of fields.
type packetGroup struct {
	Heading string
	Open    bool
	Fields  []packetField
}

// packetField is a field and where it was read.
type packetField struct {
	*instrumentform.Field
	Page     int // 0: not read in the text
	Line     string
	Doubtful bool
}

// packetRelation is a proposed relation to another instrument.
type packetRelation struct {
	Key, Text string
	Chosen    bool
}

// sureBoundary is the lowest confidence of a boundary that a person needn't check.
const sureBoundary = 90

// setUnsure restores the boundaries to check from a form. With starts from a form, suggestions have a confidence of 100.
func (pk *packet) setUnsure(list []string) {
	for _, text := range list[:min(len(list), maxParts)] {
		start, confidence, _ := strings.Cut(text, " ")
		for _, part := range pk.Parts[min(len(pk.Parts), 1):] {
			if strconv.Itoa(part.First) == start && part.Form != nil {
				part.CheckAt, _ = strconv.Atoi(confidence)
			}
		}
	}
}

// BoundaryName returns the name under which a form says that a person checked where the part starts.
func (part *packetPart) BoundaryName() string { return fmt.Sprintf("p%d.", part.First) }

// setParts sets the instruments of the document. list has those that its text describes.
func (pk *packet) setParts(list []vault.Suggestion, now time.Time) {
	starts := pk.startsOf(list)
	free := vault.SuggestionsFor(list, 0)
	lines := page.DocumentInstruments(pk.Sheet.Instruments)[pk.File.ID]
	for n, start := range starts {
		part := &packetPart{First: start, Last: pk.read}
		if n+1 < len(starts) {
			part.Last = starts[n+1] - 1
		}
		for _, line := range lines {
			if line.Pages != "" && part.has(line.Pages) {
				part.Lines = append(part.Lines, line)
			}
		}
		startsHere := func(g vault.Suggestion) bool { return model.FirstPage(g.Pages) == start }
		at, described := slices.IndexFunc(free, startsHere), slices.ContainsFunc(list, startsHere)
		if at >= 0 {
			part.Suggestion, part.Chosen = free[at], true
		}
		part.Row, part.Part, part.Parts = n+1, n+1, len(starts)
		if n > 0 && part.Boundary > 0 && part.Boundary < sureBoundary {
			part.CheckAt = part.Boundary
		}
		if at >= 0 || !described && len(part.Lines) == 0 {
			part.Lines = nil
			part.setForm(pk, now)
		}
		pk.Parts = append(pk.Parts, part)
	}
}

// startsOf returns the first pages of all parts, with those that the suggestions leave out because they have no text.
func (pk *packet) startsOf(list []vault.Suggestion) []int {
	starts := append([]int{1}, pk.Starts...)
	if len(pk.Starts) == 0 {
		for _, g := range list {
			if _, last, ok := model.ParsePages(g.Pages); ok {
				starts = append(starts, model.FirstPage(g.Pages), last+1)
			}
		}
	}
	starts = slices.DeleteFunc(starts, func(n int) bool { return n < 1 || n > pk.read })
	slices.Sort(starts)
	return slices.Compact(starts)
}

// has reports whether a list of pages has one of the part.
func (part *packetPart) has(pages string) bool {
	for n := part.First; n <= part.Last; n++ {
		if model.ContainsPage(pages, n) {
			return true
		}
	}
	return false
}

// setForm sets the form, with the fields that were read in the text.
func (part *packetPart) setForm(pk *packet, now time.Time) {
	if part.Fields == nil { // nothing was read
		part.Fields = model.Inputs{}
		part.Instrument = model.Instrument{AbstractID: pk.File.AbstractID, County: pk.Abstract.County, State: pk.Abstract.State}
	}
	part.Files = []model.File{pk.File}
	link := model.DocumentLink{FileID: pk.File.ID}
	if part.Parts > 1 || part.Last < *pk.File.Pages {
		link.Pages = model.PageRange(part.First, part.Last)
	}
	part.Fields["documents"] = model.RowsInput([]model.DocumentLink{link})
	part.Form = instrumentform.New(instrumentform.InPacket(part.First), vault.InstrumentView{Instrument: part.Instrument},
		instrumentform.Context{Sheet: pk.Sheet, File: pk.File.ID, Now: now})
}

// PageText returns the pages as text, such as "Pages 3–7".
func (part *packetPart) PageText() string {
	if part.First == part.Last {
		return fmt.Sprintf("Page %d", part.First)
	}
	return fmt.Sprintf("Pages %d–%d", part.First, part.Last)
}

// PageNumbers returns the numbers of the pages.
func (part *packetPart) PageNumbers() (list []int) {
	for n := part.First; n <= part.Last; n++ {
		list = append(list, n)
	}
	return list
}

// merge enters the values of a form.
func (pk *packet) merge(form url.Values) {
	about := model.InstrumentContext{Types: pk.Sheet.Types,
		File: func(uint64) (*int, bool) { return pk.File.Pages, true },
		Instrument: func(id uint64) (model.Instrument, bool) {
			i, found := pk.Sheet.Find(id)
			return i.Instrument, found
		}}
	pk.Checked, pk.Kept = form["checked"][:min(len(form["checked"]), maxChecked)], readKept(form["kept"])
	for _, part := range pk.Parts {
		if part.Form != nil {
			part.merge(pk, form, about)
		}
	}
}

func (part *packetPart) merge(pk *packet, form url.Values, about model.InstrumentContext) {
	patch := part.Form.Merge(form)
	part.changed = map[string]string{}
	for name := range patch.Input {
		if field := part.Form.Field(name); field != nil {
			part.changed[name] = field.Value()
		}
	}
	part.Chosen = slices.Contains(form["row"], strconv.Itoa(part.First))
	for _, relation := range part.related(pk) {
		if !slices.Contains(form["relation"], relation.Key) {
			part.left = append(part.left, relation.Key)
		}
	}
	part.leaveRelations()
	if _, changed := patch.Input["type_id"]; changed {
		delete(part.Fields, "type")
	}
	maps.Copy(part.Fields, patch.Input)
	empty := model.Instrument{AbstractID: pk.File.AbstractID, County: pk.Abstract.County, State: pk.Abstract.State}
	part.Instrument, part.invalid = model.CheckInstrument(part.Fields, empty, about)
}

// leaveRelations removes the relations that aren't added.
func (part *packetPart) leaveRelations() {
	part.Relations = slices.DeleteFunc(slices.Clone(part.Relations), func(relation vault.RowRelation) bool {
		return slices.Contains(part.left, part.rowKey(relation))
	})
	if kept := slices.DeleteFunc(slices.Clone(part.Instrument.Relations), func(relation model.Relation) bool {
		return slices.Contains(part.left, part.relationKey(relation))
	}); len(kept) < len(part.Instrument.Relations) {
		part.Fields["relations"] = model.RowsInput(kept)
	}
}

// rowKey returns the value of the check box of a relation to another part.
func (part *packetPart) rowKey(r vault.RowRelation) string {
	return fmt.Sprintf("%d %s row %d", part.First, r.Kind, r.Row)
}

// relationKey returns the value of the check box of another relation.
func (part *packetPart) relationKey(r model.Relation) string {
	return fmt.Sprintf("%d %s %d %s", part.First, r.Kind, r.InstrumentID, r.Text)
}

// related returns the proposed relations to other instruments.
func (part *packetPart) related(pk *packet) (list []packetRelation) {
	add := func(key, kind, to string) {
		words, _ := page.RelationWords(kind)
		list = append(list, packetRelation{Key: key, Text: words + " " + to, Chosen: !slices.Contains(part.left, key)})
	}
	for _, r := range part.Relations {
		to := fmt.Sprintf("instrument %d", r.Row)
		if r.Row > 0 && r.Row <= len(pk.Parts) {
			target := pk.Parts[r.Row-1]
			to += ": " + target.Instrument.Title(target.Type)
		}
		add(part.rowKey(r), r.Kind, to)
	}
	for _, r := range part.Instrument.Relations {
		to := r.Text
		if i, found := pk.Sheet.Find(r.InstrumentID); found {
			to = fmt.Sprintf("No. %d: %s", i.Position, i.Title(i.Type))
		}
		add(part.relationKey(r), r.Kind, to)
	}
	return list
}

// setProblems shows the problems of the instruments that would be stored. It reports whether there are any.
func (pk *packet) setProblems(inputs []vault.NewInstrument) (wrong bool) {
	for _, input := range inputs {
		part := pk.Parts[input.Row-1]
		if len(input.InstrumentPatch.Input) == 0 { // stands for an instrument of the runsheet
			continue
		}
		if part.isBlank() {
			part.Problem = "Nothing is filled in. Enter at least the document type, or clear “Add”."
		}
		part.Form.SetProblems(page.FieldProblems(part.invalid))
		wrong = wrong || part.Problem != "" || len(part.invalid) > 0 || part.Form.Asks()
	}
	return wrong
}

// isBlank reports whether the form has no values besides the place of the abstract.
func (part *packetPart) isBlank() bool {
	for name, in := range part.Fields {
		if !slices.Contains([]string{"documents", "county", "state", "position"}, name) && !in.IsBlank() {
			return false
		}
	}
	return true
}

// Number returns the number of the instrument in the document.
func (part *packetPart) Number() int { return part.Row }

// prepare sets what the page shows. choices are those of a form for instruments that the runsheet has already.
func (pk *packet) prepare(choices url.Values) {
	var first *instrumentform.Form
	name, focused := "", false
	for _, part := range pk.Parts {
		if part.Form == nil {
			continue
		}
		part.Choices, part.Related = page.RowChoices(part.Suggestion, choices), part.related(pk)
		if part.CheckAt > 0 && slices.Contains(pk.Checked, part.BoundaryName()) {
			part.CheckAt = 0
		}
		if part.CheckAt > 0 {
			pk.Doubtful++
			if first == nil && pk.Problem == "" && !focused {
				focused, part.Focus, pk.Shown = true, pk.At == 0, part.First
			}
		}
		part.setGroups(pk.Checked)
		for _, group := range part.Groups {
			for _, field := range group.Fields {
				wanted := field.Invalid() || field.Doubtful && pk.Problem == ""
				if field.Doubtful {
					pk.Doubtful++
				}
				if wanted && first == nil && !focused {
					first, name = part.Form, field.Key()
					pk.Shown = max(field.Page, part.First)
				}
			}
		}
		part.Form.FocusField("")
	}
	switch {
	case pk.At > 0 || focused:
	case first != nil:
		first.FocusField(name)
	default:
		pk.FocusButton = true
	}
}

// Repeats says which instrument the part repeats.
func (part *packetPart) Repeats() string {
	return strings.Replace(page.RepeatText(part.Repeat), " row ", " instrument ", 1)
}

// Title returns the selected type of the instrument.
func (part *packetPart) Title(types model.DocumentTypes) string {
	if part.Form == nil {
		if len(part.Lines) > 0 {
			return part.Lines[0].Type
		}
		return "Instrument"
	}
	id, _ := strconv.ParseUint(part.Form.Field("type_id").Value(), 10, 64)
	kind, _ := types.ByID(id)
	return kind.Label()
}

// setGroups sets the fields with what was read for them. Folded fields that were read are among the first ones.
func (part *packetPart) setGroups(checked []string) {
	part.Groups = []packetGroup{{}}
	for n := range part.Form.Groups {
		group := &part.Form.Groups[n]
		var rest []packetField
		for _, field := range group.Fields {
			if read := part.read(field, checked); !group.Folded || read.Page > 0 {
				part.Groups[0].Fields = append(part.Groups[0].Fields, read)
			} else {
				rest = append(rest, read)
			}
		}
		if len(rest) > 0 {
			part.Groups = append(part.Groups, packetGroup{Heading: group.Heading, Open: isOpen(rest), Fields: rest})
		}
	}
}

// isOpen reports whether a group of folded fields is open.
func isOpen(fields []packetField) bool {
	return slices.ContainsFunc(fields, func(f packetField) bool { return f.Invalid() })
}

// read returns a field with the line where it was read. A doubtful one has a warning, unless a person compared it with
// the page or changed it.
func (part *packetPart) read(field *instrumentform.Field, checked []string) packetField {
	name := field.Key()
	if name == "type_id" {
		name = extract.Type
	}
	e, found := part.Evidence[name]
	if !found && name == extract.Consideration { // what the instrument says has no amount
		e, found = part.Evidence[extract.ConsiderationText]
	}
	_, changed := part.changed[field.Key()]
	if !found || changed || field.Empty() {
		return packetField{Field: field}
	}
	field.Hint = fmt.Sprintf("Page %d: “%s”", e.Page, page.Truncate(e.Line, 200))
	read := packetField{Field: field, Page: e.Page, Line: e.Line, Doubtful: e.Doubtful && !slices.Contains(checked, field.Name)}
	if read.Doubtful {
		field.Warning = fmt.Sprintf("Doubtful. Compare it with page %d.", e.Page)
		if len(e.Readings) > 0 {
			field.Warning += " Other reading: " + strings.Join(e.Readings, "; ") + "."
		}
	}
	return read
}
