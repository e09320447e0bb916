package instrumentform

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Context is what the form needs to know besides its instrument.
type Context struct {
	Sheet     vault.Runsheet
	File      uint64   // the document beside the form; 0 on a page of its own
	Documents []Choice // documents that can contain the instrument
	Now       time.Time
}

// Form is the template data of the form of an instrument.
type Form struct {
	ID        uint64 // 0 for a new instrument
	Prefix    string // of the names of fields
	Once      string // token of a form for a new instrument, so that submitting it twice creates one
	Groups    []Group
	Wrong     []page.Input // inputs with problems
	Duplicate *Duplicate   // nil if there is no question about a duplicate
	Conflict  bool         // another user changed a field that this user changed, too
	Problem   string       // a problem with the entire form
	context   Context
	stored    vault.InstrumentView
	layout    Layout
}

// Group is a group of fields with a common heading.
type Group struct {
	Heading string
	Folded  bool
	Fields  []*Field
}

// Key returns the name of the field in the API.
func (f Field) Key() string { return f.definition.Name }

// OnlyRelations reports whether the relations are the only field of the group.
func (g Group) OnlyRelations() bool { return len(g.Fields) == 1 && g.Fields[0].Control == relations }

// Field is a field of the form.
type Field struct {
	page.Input
	Control Control
	Lines   int       // height of a text of several lines; 0 for one line
	Options []Options // of a select, or those of relations and documents
	Kinds   []Choice  // of relations
	Rows    []Row     // relations or documents
	Books   []string  // suggestions for the book type
	definition
}

// Options is a group of options of a select. The label "" stands for options without a group.
type Options struct {
	Label   string
	Choices []Choice
}

// Choice is an option of a select. The other values are for document types: what the parties and the
// amount are called, the usual book type, and the usual kind of relation.
type Choice struct {
	Value, Label                                       string
	Grantor, Grantee, Recorded, Amount, Book, Relation string
}

// Row is a relation or a document of the instrument.
type Row struct {
	Number     int    // starting with 1
	ID, Prefix string // HTML ID, and start of the names of its controls
	cells
	Blank bool
	Wrong string // the member with a problem, such as instrument_id
}

// New returns the form for an instrument with its stored values.
func New(layout Layout, i vault.InstrumentView, c Context) *Form {
	f := &Form{ID: i.ID, Prefix: layout.prefix, context: c, stored: i, layout: layout}
	if i.ID == 0 {
		f.Once = rand.Text()
	}
	for _, s := range layout.sections {
		group := Group{Heading: s.heading, Folded: s.folded}
		for _, name := range s.fields {
			if name == fieldPosition && i.ID == 0 {
				continue
			}
			group.Fields = append(group.Fields, f.newField(definitionOf(name), s.folded))
		}
		if len(group.Fields) > 0 {
			f.Groups = append(f.Groups, group)
		}
	}
	f.applyType()
	return f
}

func (f *Form) newField(d definition, folded bool) *Field {
	field := &Field{Control: d.control, definition: d, Input: page.Input{
		Name: f.Prefix + d.Name, Label: d.Label, Hint: d.Hint, Wide: d.control == relations || d.control == documents}}
	switch {
	case d.control != names && d.control != parties && d.control != text:
	case f.layout.compact:
		field.Lines = 1
	default:
		field.Lines = 3
	}
	if f.layout.compact && !folded {
		field.Hint = ""
	}
	stored := d.stored(f.stored, f.context.File)
	if f.ID != 0 {
		field.Was = d.fingerprint(stored)
	}
	f.addOptions(field, stored)
	f.set(field, stored)
	return field
}

// set shows a normalized text in a field.
func (f *Form) set(field *Field, value string) {
	field.Values = []string{field.shown(value)}
	if field.Control != relations && field.Control != documents {
		return
	}
	field.Rows = nil
	for n, row := range append(splitRows(value), make([]cells, f.layout.blankRows)...) {
		field.Rows = append(field.Rows, Row{Number: n + 1, ID: fmt.Sprintf("%s-%d", field.ID(), n),
			Prefix: fmt.Sprintf("%s.%d", field.Name, n), cells: row, Blank: row == cells{}})
		field.addTarget(row.Target)
	}
}

// addTarget adds an instrument or a document that a row refers to and that isn't in the abstract, such as
// one in the trash.
func (f *Field) addTarget(id string) {
	if id == "" || f.option(id) != nil {
		return
	}
	what := "Instrument " + id + " (not in this runsheet)"
	if f.Control == documents {
		what = "Document " + id + " (not in this abstract)"
	}
	f.Options = append(f.Options, Options{Choices: []Choice{{Value: id, Label: what}}})
}

// option returns an option of the field by its value, or nil.
func (f *Field) option(value string) *Choice {
	for _, group := range f.Options {
		for n := range group.Choices {
			if group.Choices[n].Value == value {
				return &group.Choices[n]
			}
		}
	}
	return nil
}

// Stored returns the instrument as it is stored.
func (f *Form) Stored() model.Instrument { return f.stored.Instrument }

// Field returns a field of the form by its name in the API, or nil.
func (f *Form) Field(name string) *Field {
	for _, field := range f.fields() {
		if field.Key() == name {
			return field
		}
	}
	return nil
}

// fields returns all fields in tab order.
func (f *Form) fields() (list []*Field) {
	for _, group := range f.Groups {
		list = append(list, group.Fields...)
	}
	return list
}

// Remove removes a field from the form.
func (f *Form) Remove(name string) {
	for n := range f.Groups {
		f.Groups[n].Fields = slices.DeleteFunc(f.Groups[n].Fields, func(field *Field) bool { return field.Key() == name })
	}
}

// Fill shows a text in a field, as if the user had entered it.
func (f *Form) Fill(name, value string) {
	if field := f.Field(name); field != nil {
		f.set(field, value)
		f.applyType()
	}
}
