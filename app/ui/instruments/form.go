package instruments

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// instrumentForm is the template data of the form of an instrument.
type instrumentForm struct {
	Path     string // address that the form is sent to
	Sheet    string // address of the runsheet
	Abstract string // heading of the abstract
	Once     string // identifies the form for a new instrument, so that submitting it twice creates one
	ID       uint64 // 0 for a new instrument
	Groups   []formGroup
	Wrong    []page.Input // inputs with invalid values, for the list of problems
	Conflict bool         // another user changed a field that this user changed, too
}

// formGroup is a group of fields with a common heading.
type formGroup struct {
	Heading string
	Fields  []formField
}

// formField is a field of the form. Choices are those of a select, and Rows those of a field with
// several controls per row.
type formField struct {
	page.Input
	Choices []choiceGroup
	Rows    []formRow
}

// IsSelect reports whether the field is a select whose options have labels of their own.
func (f formField) IsSelect() bool { return len(f.Choices) > 0 }

// formRow is a relation or a document of the instrument. Its selects have the name of the field, the
// number of the row, and a name of their own.
type formRow struct {
	Number  int // starting with 1
	Prefix  string
	Kinds   []choice
	Targets []choice
	Text    string
}

// choiceGroup is a group of options. The label "" stands for options without a group.
type choiceGroup struct {
	Label   string
	Choices []choice
}

// choice is an option of a select.
type choice struct {
	Value, Label     string
	Chosen           bool
	Grantor, Grantee string // what the parties of a document type are called
}

// blankRows is the number of empty rows for further relations and documents.
const blankRows = 2

// formData is what the form of an instrument needs to know about its abstract.
type formData struct {
	filed    vault.AbstractWithFiles
	heading  string
	sheet    vault.Runsheet
	types    model.DocumentTypes
	fileName map[uint64]string // names of documents that are not in the abstract
}

func (p *Pages) readFormData(ctx context.Context, abstract uint64, documents []model.DocumentLink) (d formData, err error) {
	if d.filed, err = p.Vault.Abstracts.Get(ctx, abstract); err != nil {
		return d, err
	}
	headings, err := p.Vault.Abstracts.Headings(ctx, d.filed.Abstract)
	if err != nil {
		return d, err
	}
	d.heading = headings[0]
	if d.sheet, err = p.Vault.Instruments.Runsheet(ctx, abstract); err != nil {
		return d, err
	}
	if d.types, err = p.Vault.Instruments.Types(ctx); err != nil {
		return d, err
	}
	reader, err := p.newDocumentReader(ctx, abstract)
	if err != nil {
		return d, err
	}
	d.fileName = map[uint64]string{}
	for _, link := range documents {
		if slices.ContainsFunc(d.filed.Files, func(f model.File) bool { return f.ID == link.FileID }) {
			continue
		}
		other, err := reader.read(ctx, link.FileID)
		if err != nil {
			return d, err
		}
		d.fileName[link.FileID] = other.Name + " (not in this abstract)"
	}
	return d, nil
}

// newForm returns the form with the values of the fields and the problems of rejected ones.
func (d formData) newForm(id uint64, values map[string]string, rejected map[string]string) instrumentForm {
	view := instrumentForm{ID: id, Abstract: d.heading}
	t, _ := d.types.ByID(parseID(values[fieldType]))
	for _, group := range fieldGroups {
		shown := formGroup{Heading: group.heading}
		for _, spec := range group.fields {
			if spec.name == fieldPosition && id == 0 {
				continue
			}
			shown.Fields = append(shown.Fields, d.newField(spec, id, t, values[spec.name], rejected))
		}
		if len(shown.Fields) > 0 {
			view.Groups = append(view.Groups, shown)
		}
	}
	return view
}

func (d formData) newField(spec fieldSpec, id uint64, t model.DocumentType, value string, rejected map[string]string) formField {
	f := formField{Input: page.Input{Name: spec.name, Label: spec.label, Type: cmp.Or(spec.kind, model.Text), Values: []string{value},
		Hint: spec.hint}}
	switch grantor, grantee := t.PartyLabels(); spec.name {
	case fieldType:
		f.Choices = d.typeChoices(value)
	case fieldStatus:
		f.Choices = []choiceGroup{{Choices: choose(value, choice{Label: "Automatic"}, choice{Value: model.InstrumentOpen, Label: "Open"},
			choice{Value: model.InstrumentReleased, Label: "Released"}, choice{Value: model.InstrumentExpired, Label: "Expired"},
			choice{Value: model.NotApplicable, Label: "Not applicable"})}}
		f.Hint = "Automatic: open until an instrument releases it or it expires"
	case fieldSystem:
		f.Choices = []choiceGroup{{Choices: choose(value, choice{}, choice{Value: "recorded", Label: "Recorded land"},
			choice{Value: "registered", Label: "Registered land (Torrens)"})}}
	case fieldRelations:
		f.Rows, f.Wide = d.relationRows(id, value), true
	case fieldDocuments:
		f.Rows, f.Wide = d.documentRows(value), true
	case "grantors":
		f.Label = grantor
	case "grantees":
		f.Label = grantee
	case fieldPosition:
		f.Hint = fmt.Sprintf("Row in the runsheet, from 1 to %d", len(d.sheet.Instruments))
	}
	f.Problem = fieldProblem(spec, rejected)
	return f
}

// fieldProblem returns the problems of a field and of its rows.
func fieldProblem(spec fieldSpec, rejected map[string]string) string {
	texts := []string{page.ProblemText(spec.inputKind(), rejected[spec.name])}
	for n := range maxFormRows {
		for key, text := range rejected {
			if strings.HasPrefix(key, fmt.Sprintf("%s.%d.", spec.name, n)) {
				texts = append(texts, fmt.Sprintf("Row %d: %s", n+1, text))
			}
		}
	}
	return strings.TrimSpace(strings.Join(texts, " "))
}

// choose marks the choice with the given value.
func choose(value string, choices ...choice) []choice {
	for n := range choices {
		choices[n].Chosen = choices[n].Value == value
	}
	return choices
}

// typeChoices returns the document types by category. A retired type is offered only if the instrument
// has it.
func (d formData) typeChoices(value string) []choiceGroup {
	groups := []choiceGroup{{Choices: choose(value, choice{Grantor: "Grantor", Grantee: "Grantee"})}}
	for _, category := range model.Categories() {
		group := choiceGroup{Label: string(category)}
		for _, t := range d.types {
			if t.Category != category || t.Retired && formatID(t.ID) != value {
				continue
			}
			grantor, grantee := t.PartyLabels()
			group.Choices = append(group.Choices, choose(value, choice{Value: formatID(t.ID), Label: t.Name, Grantor: grantor, Grantee: grantee})...)
		}
		if len(group.Choices) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// relationRows returns the rows of the relations of the instrument with the given ID.
func (d formData) relationRows(id uint64, value string) (rows []formRow) {
	for n, line := range append(nonEmptyLines(value), make([]string, blankRows)...) {
		cells := splitCells(line, 3)
		kinds, targets := []choice{{}}, []choice{{}}
		for _, kind := range model.RelationKinds() {
			kinds = append(kinds, choice{Value: kind, Label: relationWords[kind][0]})
		}
		for _, i := range d.sheet.Instruments {
			if i.ID != id {
				targets = append(targets, choice{Value: formatID(i.ID), Label: fmt.Sprintf("%d. %s", i.Position, i.Heading(i.Type))})
			}
		}
		if !slices.ContainsFunc(targets, func(c choice) bool { return c.Value == cells[1] }) {
			targets = append(targets, choice{Value: cells[1], Label: "Instrument " + cells[1]}) // of the prior abstract, or deleted
		}
		rows = append(rows, formRow{n + 1, fmt.Sprintf("%s.%d", fieldRelations, n), choose(cells[0], kinds...), choose(cells[1],
			targets...), cells[2]})
	}
	return rows
}

// documentRows returns the rows of the documents that contain the instrument.
func (d formData) documentRows(value string) (rows []formRow) {
	for n, line := range append(nonEmptyLines(value), make([]string, blankRows)...) {
		cells := splitCells(line, 2)
		targets := []choice{{}}
		for _, f := range d.filed.Files {
			targets = append(targets, choice{Value: formatID(f.ID), Label: f.Filename})
		}
		if !slices.ContainsFunc(targets, func(c choice) bool { return c.Value == cells[0] }) {
			targets = append(targets, choice{Value: cells[0], Label: cmp.Or(d.fileName[parseID(cells[0])], "Document "+cells[0])})
		}
		rows = append(rows, formRow{Number: n + 1, Prefix: fmt.Sprintf("%s.%d", fieldDocuments, n), Targets: choose(cells[0], targets...),
			Text: cells[1]})
	}
	return rows
}

// inputs returns all fields of the form.
func (f *instrumentForm) inputs() (list []*page.Input) {
	for g := range f.Groups {
		for n := range f.Groups[g].Fields {
			list = append(list, &f.Groups[g].Fields[n].Input)
		}
	}
	return list
}

// markWrong fills the list of problems. The first field with a problem or a conflict gets the focus,
// or else the first field.
func (f *instrumentForm) markWrong() {
	var first *page.Input
	list := f.inputs()
	for _, in := range list {
		if in.Problem != "" {
			f.Wrong = append(f.Wrong, *in)
		}
		if first == nil && (in.Problem != "" || in.Clash) {
			first = in
		}
	}
	if first == nil {
		first = list[0]
	}
	first.Focus = true
}
