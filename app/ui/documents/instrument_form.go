package documents

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// instrumentForm is the form for an instrument of a document.
type instrumentForm struct {
	ID           uint64 // 0 for a new instrument
	Heading      string
	Once         string // token of a form for a new instrument
	Fields, More []panelField
	Relations    []relationRow
	Links        panelField // Relations as a field: its problem and conflict
	Conflict     bool
	Suggested    bool   // fields are filled in from the document's name
	Problem      string // a problem with the entire form
	MoreOpen     bool
	LinksOpen    bool
	Start        int // first page of a new instrument of a packet
	Kinds        []choice
	Open, Others []choice // instruments that relations can refer to
}

// panelField is a field of the form with its value.
type panelField struct {
	page.Input
	Control fieldControl
	Groups  []choiceGroup
	Books   []string // suggestions for the book type
}

// choiceGroup is a group of options.
type choiceGroup struct {
	Label   string
	Choices []choice
}

// choice is an option of a list. The other values are for types of instruments: what the parties
// and the amount are called, the usual book type, and the usual kind of relation.
type choice struct {
	Value, Label                             string
	Grantor, Grantee, Amount, Book, Relation string
}

// relationRow is a relation in the form.
type relationRow struct{ Kind, Target, Text string }

// Linked reports whether relations are usual for the type.
func (c choice) Linked() bool { return c.Relation != "" }

// newInstrumentForm returns the form for an instrument with its stored values.
func newInstrumentForm(i model.Instrument, types model.DocumentTypes, sheet vault.Runsheet, file uint64) *instrumentForm {
	form := &instrumentForm{ID: i.ID, Heading: "New instrument"}
	docType, _ := types.ByID(i.TypeID)
	if i.ID == 0 {
		form.Once = rand.Text()
	} else {
		form.Heading = cmp.Or(docType.Name, "Instrument")
	}
	for _, f := range instrumentFields {
		text := f.stored(i, file)
		in := panelField{Control: f.control, Input: page.Input{
			Name: fieldPrefix + f.name, Label: f.label, Hint: f.hint, Values: []string{f.shown(text)},
		}}
		if i.ID != 0 {
			in.Was = f.fingerprint(text)
		}
		form.add(f, in)
	}
	form.Relations = relationRows(relationsText(i, file))
	form.LinksOpen = len(i.Relations) > 0
	form.fillChoices(i, types, sheet)
	return form
}

// add adds a field to its part of the form.
func (form *instrumentForm) add(f instrumentField, in panelField) {
	switch {
	case f.control == linksField:
		form.Links = in
	case f.more:
		form.More = append(form.More, in)
	default:
		form.Fields = append(form.Fields, in)
	}
}

// needsTarget reports whether the name of the document says all but the instrument that a release, an
// assignment, or the like refers to.
func (form *instrumentForm) needsTarget() bool {
	return form.Suggested && form.Relations[0].Kind != "" && form.Relations[0].Target == "" && form.Relations[0].Text == ""
}

// field returns a field of the form.
func (form *instrumentForm) field(name string) *panelField {
	for _, list := range [][]panelField{form.Fields, form.More} {
		for n := range list {
			if list[n].Name == fieldPrefix+name {
				return &list[n]
			}
		}
	}
	return &form.Links
}

// removePages removes the field with the pages of a document that has only one page, or no pages.
func (form *instrumentForm) removePages() {
	form.Fields = slices.DeleteFunc(form.Fields, func(in panelField) bool { return in.Name == fieldPrefix+pagesName && in.Empty() })
}

// fingerprint returns a short hash of a normalized text.
func (f instrumentField) fingerprint(text string) string {
	return page.Fingerprint(f.fieldType(), []string{strings.TrimSpace(text)})
}

// relationRows returns the rows for relations, and a blank one.
func relationRows(text string) (rows []relationRow) {
	for _, r := range parseRelations(text) {
		rows = append(rows, relationRow{r.Kind, relationTarget(r), r.Text})
	}
	return append(rows, relationRow{})
}

// fillChoices adds the options of lists, and the labels that depend on the type of the instrument.
func (form *instrumentForm) fillChoices(i model.Instrument, types model.DocumentTypes, sheet vault.Runsheet) {
	books := usualBooks(sheet)
	for _, t := range types {
		if !t.Retired || t.ID == i.TypeID {
			form.addType(t, books)
		}
	}
	for _, book := range sheet.Instruments {
		if field := form.field("book_type"); book.BookType != "" && !slices.Contains(field.Books, book.BookType) {
			field.Books = append(field.Books, book.BookType)
		}
	}
	form.field("status").Groups = []choiceGroup{{Choices: []choice{{Label: "Automatic"}, {Value: model.InstrumentOpen, Label: "Open"},
		{Value: model.InstrumentReleased, Label: "Released"}, {Value: model.InstrumentExpired, Label: "Expired"},
		{Value: model.NotApplicable, Label: "Not applicable"}}}}
	form.field("recording_system").Groups = []choiceGroup{{Choices: []choice{{}, {Value: "recorded", Label: "Recorded"},
		{Value: "registered", Label: "Registered (Torrens)"}}}}
	for _, kind := range model.RelationKinds() {
		form.Kinds = append(form.Kinds, choice{Value: kind, Label: page.RelationLabel(kind)})
	}
	for _, other := range sheet.Instruments {
		option := choice{Value: strconv.FormatUint(other.ID, 10), Label: other.Heading(other.Type)}
		switch {
		case other.ID == i.ID:
		case other.Status == model.InstrumentOpen:
			form.Open = append(form.Open, option)
		default:
			form.Others = append(form.Others, option)
		}
	}
	form.addMissingTargets()
	form.applyType()
}

// addMissingTargets adds the targets that aren't in the runsheet, such as those in the trash.
func (form *instrumentForm) addMissingTargets() {
	for _, row := range form.Relations {
		known := func(c choice) bool { return c.Value == row.Target }
		if row.Target != "" && !slices.ContainsFunc(form.Open, known) && !slices.ContainsFunc(form.Others, known) {
			form.Others = append(form.Others, choice{Value: row.Target, Label: "Instrument " + row.Target + " (not in this runsheet)"})
		}
	}
}

// usualBooks returns the book type of the last instrument of each type, and of each category, in
// the runsheet.
func usualBooks(sheet vault.Runsheet) map[string]string {
	books := map[string]string{}
	for _, i := range sheet.Instruments {
		if i.BookType != "" {
			books[i.Type.Name], books[string(i.Type.Category)] = i.BookType, i.BookType
		}
	}
	return books
}

// addType adds a type to the list of types.
func (form *instrumentForm) addType(t model.DocumentType, books map[string]string) {
	field := form.field("type_id")
	if len(field.Groups) == 0 {
		field.Groups = []choiceGroup{{Choices: []choice{{}}}}
	}
	c := choice{Value: strconv.FormatUint(t.ID, 10), Label: t.Name, Amount: "Consideration"}
	c.Book = cmp.Or(books[t.Name], books[string(t.Category)])
	c.Grantor, c.Grantee = t.PartyLabels()
	if t.Category == model.Security || t.Category == model.Lien {
		c.Amount = "Amount"
	}
	c.Relation = usualRelation(t)
	last := len(field.Groups) - 1
	if field.Groups[last].Label != string(t.Category) {
		field.Groups = append(field.Groups, choiceGroup{Label: string(t.Category)})
		last++
	}
	field.Groups[last].Choices = append(field.Groups[last].Choices, c)
}

// usualRelation returns the kind of relation that instruments of a type usually have, or "".
func usualRelation(t model.DocumentType) string {
	switch {
	case t.Name == "Partial Release":
		return "partially_releases"
	case t.Category == model.Release:
		return model.Releases
	case t.Name == "Assignment":
		return "assigns"
	case t.Name == "Modification":
		return "modifies"
	case t.Name == "Subordination":
		return "subordinates"
	case t.Name == "Corrective Deed":
		return "corrects"
	}
	return ""
}

// applyType sets the labels that depend on the selected type.
func (form *instrumentForm) applyType() {
	selected := form.field("type_id")
	for _, group := range selected.Groups {
		for _, c := range group.Choices {
			if c.Value == "" || c.Value != selected.Value() {
				continue
			}
			form.field("grantors").Label, form.field("grantees").Label, form.field("consideration").Label = c.Grantor, c.Grantee, c.Amount
			form.LinksOpen = form.LinksOpen || c.Linked()
			if last := &form.Relations[len(form.Relations)-1]; *last == (relationRow{}) {
				last.Kind = c.Relation
			}
		}
	}
}

// merge fills the form with the submitted values and returns the changes. A field that another user
// changed and this user didn't keeps its stored value. If both changed it, the form has a conflict.
func (form *instrumentForm) merge(old model.Instrument, file uint64, sent url.Values, now time.Time) model.InstrumentInput {
	changes := model.InstrumentInput{}
	for _, f := range instrumentFields {
		in, stored := form.field(f.name), f.stored(old, file)
		mine, there := f.submitted(sent, now)
		was, edited := sent.Get("was."+fieldPrefix+f.name), true
		if was != "" {
			edited = was != f.fingerprint(mine)
		}
		switch {
		case !there || f.fingerprint(mine) == f.fingerprint(stored) || !edited:
			continue
		case old.ID != 0 && sent.Get("pick."+fieldPrefix+f.name) == "theirs":
			continue
		case old.ID != 0 && was != "" && was != in.Was:
			form.Conflict, in.Clash, in.Theirs = true, true, page.Truncate(strings.ReplaceAll(f.display(form, stored), "\n", "; "), 300)
		default:
			f.encode(changes, mine, file, old.Documents)
		}
		in.Values = []string{f.shown(mine)}
		if f.control == linksField {
			form.Relations, form.LinksOpen = relationRows(mine), true
		}
	}
	form.applyType()
	return changes
}

// display returns a stored value as text.
func (f instrumentField) display(form *instrumentForm, stored string) string {
	switch f.control {
	case choiceField:
		for _, group := range form.field(f.name).Groups {
			for _, c := range group.Choices {
				if c.Value == stored {
					return c.Label
				}
			}
		}
	case linksField:
		return form.describeRelations(stored)
	}
	return f.shown(stored)
}

// describeRelations returns relations as text.
func (form *instrumentForm) describeRelations(text string) string {
	var list []string
	for _, r := range parseRelations(text) {
		target := r.Text
		for _, c := range slices.Concat(form.Open, form.Others) {
			if c.Value == relationTarget(r) {
				target = c.Label
			}
		}
		list = append(list, page.RelationLabel(r.Kind)+" "+target)
	}
	return strings.Join(list, "; ")
}

// setProblems sets the problems of the fields. The first field with a problem gets the focus.
func (form *instrumentForm) setProblems(rejected map[string]string) {
	for _, f := range instrumentFields {
		in := form.field(f.name)
		for name, problem := range rejected {
			if field, _, _ := strings.Cut(name, "."); field == f.apiName() {
				in.Problem = strings.TrimSpace(in.Problem + " " + problem)
			}
		}
		if in.Problem == "" {
			continue
		}
		if f.control == pastField || f.control == futureField {
			in.Problem = page.ProblemText(model.Date, in.Problem)
		}
		form.MoreOpen = form.MoreOpen || f.more
		form.LinksOpen = form.LinksOpen || f.control == linksField
	}
	form.focusFirst(func(in *panelField) bool { return in.Problem != "" })
}

// focusFirst sets the focus to the first field for which wanted returns true.
func (form *instrumentForm) focusFirst(wanted func(*panelField) bool) {
	for _, f := range instrumentFields {
		if in := form.field(f.name); wanted(in) {
			in.Focus = true
			form.MoreOpen = form.MoreOpen || f.more
			form.LinksOpen = form.LinksOpen || f.control == linksField
			return
		}
	}
}

// describeConflicts sets who changed each field in conflict, and when.
func (form *instrumentForm) describeConflicts(log []model.Event, zone *time.Location) {
	for _, f := range instrumentFields {
		in := form.field(f.name)
		if !in.Clash {
			continue
		}
		by, on := "This was changed", " while you were editing"
		for _, event := range log { // the newest first
			if slices.ContainsFunc(event.Changes, func(c model.Change) bool { return c.Field == f.apiName() }) {
				by, on = page.ActorText(event.Actor)+" changed this", " on "+page.ClockTime(event.At.In(zone))
				break
			}
		}
		value := "blank"
		if in.Theirs != "" {
			value = fmt.Sprintf("“%s”", in.Theirs)
		}
		in.Others = by + " to " + value + on + "."
	}
	form.focusFirst(func(in *panelField) bool { return in.Clash })
}
