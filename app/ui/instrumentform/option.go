package instrumentform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// statusLabels are the labels of statuses for instruments of all types.
var statusLabels = map[string]string{model.InstrumentOpen: "Open or in effect", model.InstrumentReleased: "Released or satisfied",
	model.InstrumentExpired: "Expired", model.NotApplicable: "Not applicable"}

// addOptions adds the options of a field, which has the given value.
func (f *Form) addOptions(field *Field, value string) {
	switch field.Key() {
	case fieldType:
		field.Options = f.typeOptions(value)
	case "book_type":
		for _, i := range f.context.Sheet.Instruments {
			if i.BookType != "" && !slices.Contains(field.Books, i.BookType) {
				field.Books = append(field.Books, i.BookType)
			}
		}
	case "status":
		field.Options = []Options{{Choices: []Choice{{Label: "Automatic"}}}}
		for _, status := range model.InstrumentStatuses() {
			field.Options[0].Choices = append(field.Options[0].Choices, Choice{Value: status, Label: statusLabels[status]})
		}
	case "recording_system":
		field.Options = []Options{{Choices: append([]Choice{{}}, recordingSystems...)}}
	case fieldRelations:
		for _, kind := range model.RelationKinds() {
			label, _ := page.RelationWords(kind)
			field.Kinds = append(field.Kinds, Choice{Value: kind, Label: label})
		}
		field.Options = append([]Options{{Choices: []Choice{{Value: notHere, Label: "Not on this runsheet"}}}}, f.relationTargets()...)
	case fieldDocuments:
		field.Options = []Options{{Choices: f.context.Documents}}
	case fieldPosition:
		field.Hint = fmt.Sprintf("Row in the runsheet, from 1 to %d", len(f.context.Sheet.Instruments))
	}
}

var recordingSystems = []Choice{{Value: "recorded", Label: "Recorded"}, {Value: "registered", Label: "Registered (Torrens)"}}

// RecordingSystem returns the label of a recording system.
func RecordingSystem(value string) string {
	at := slices.IndexFunc(recordingSystems, func(c Choice) bool { return c.Value == value })
	if at < 0 {
		return value
	}
	return recordingSystems[at].Label
}

// relationTargets returns the instruments that a relation can refer to, open encumbrances first.
func (f *Form) relationTargets() []Options {
	open, others := Options{Label: "Open encumbrances"}, Options{Label: "Other instruments"}
	for _, i := range f.context.Sheet.Instruments {
		option := Choice{Value: formatID(i.ID), Label: i.Heading(i.Type)}
		switch {
		case i.ID == f.ID:
		case i.Status == model.InstrumentOpen:
			open.Choices = append(open.Choices, option)
		default:
			others.Choices = append(others.Choices, option)
		}
	}
	return slices.DeleteFunc([]Options{open, others}, func(o Options) bool { return len(o.Choices) == 0 })
}

// typeOptions returns the document types by category. A retired type is offered only if the instrument
// has it.
func (f *Form) typeOptions(value string) []Options {
	books := f.usualBooks()
	groups := []Options{{Choices: []Choice{{}}}}
	for _, category := range model.Categories() {
		group := Options{Label: category.Label()}
		for _, t := range f.context.Sheet.Types {
			if t.Category != category || t.Retired && formatID(t.ID) != value {
				continue
			}
			c := Choice{Value: formatID(t.ID), Label: t.Name, Amount: "Consideration", Relation: t.UsualRelation()}
			c.Book = cmp.Or(books[t.Name], books[string(category)])
			grantor, grantee := t.Parties()
			c.Grantor, c.Grantee, c.Recorded = grantor.Label, grantee.Label, t.RecordedLabel()
			if category == model.Security || category == model.Lien {
				c.Amount = "Amount"
			}
			group.Choices = append(group.Choices, c)
		}
		if len(group.Choices) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// usualBooks returns the book type of the last instrument of each type, and of each category, in the
// runsheet.
func (f *Form) usualBooks() map[string]string {
	books := map[string]string{}
	for _, i := range f.context.Sheet.Instruments {
		if i.BookType != "" {
			books[i.Type.Name], books[string(i.Type.Category)] = i.BookType, i.BookType
		}
	}
	return books
}

// applyType sets what depends on the selected type: the labels of the parties and the amount, and, for a new
// instrument without relations, the kind of the first one. web/static/script/instrument.js does the same when users select a type.
func (f *Form) applyType() {
	selected := f.Field(fieldType).option(f.Field(fieldType).Value())
	if selected == nil || selected.Value == "" {
		return
	}
	f.Field("grantors").Label, f.Field("grantees").Label = selected.Grantor, selected.Grantee
	f.Field("recorded").Label, f.Field("consideration").Label = selected.Recorded, selected.Amount
	if related := f.Field(fieldRelations); related != nil && f.ID == 0 && related.Rows[0].Blank {
		related.Rows[0].Kind = selected.Relation
	}
}

// documentType returns the type that is selected in the form.
func (f *Form) documentType() model.DocumentType {
	selected := f.Field(fieldType).Value()
	n := slices.IndexFunc(f.context.Sheet.Types, func(t model.DocumentType) bool { return formatID(t.ID) == selected })
	if n < 0 {
		return model.DocumentType{}
	}
	return f.context.Sheet.Types[n]
}

// NeedsTarget reports whether a relation has a kind and neither a target nor a text.
func (f *Form) NeedsTarget() bool {
	return slices.ContainsFunc(f.Field(fieldRelations).Rows,
		func(row Row) bool { return row.Kind != "" && row.Target == "" && row.Text == "" })
}

// describe returns a stored value of a field as text.
func (f *Field) describe(stored string) string {
	switch f.Control {
	case choice:
		if c := f.option(stored); c != nil {
			return c.Label
		}
	case relations, documents:
		var list []string
		for _, row := range splitRows(stored) {
			what := row.Text
			if c := f.option(row.Target); c != nil {
				what = strings.TrimSpace(c.Label + " " + what)
			}
			if f.Control == relations {
				words, _ := page.RelationWords(row.Kind)
				what = words + " " + what
			}
			list = append(list, what)
		}
		return strings.Join(list, "; ")
	}
	return strings.ReplaceAll(f.shown(stored), "\n", "; ")
}
