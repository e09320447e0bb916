package ui

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// bench is where a set of definitions is edited: those of a template, the fields of
// orders, or the statuses of orders. One editor serves them all.
type bench struct {
	path, heading, noun           string // noun: whose records have values
	named, hasStatuses, hasFields bool
	now                           model.Template
	seen                          string
	save                          func(ctx context.Context, actor model.Actor, now model.Template, seen string) error
	key                           func(label string, defs []model.Field) string
}

// adminStyles are of the pages about running the service.
var adminStyles = []string{"admin.css"}

// editor is what the page of a bench shows.
type editor struct {
	Path, Noun, Seen              string
	Named, HasStatuses, HasFields bool
	Of                            model.Template
	Types                         []fieldKind
	Open                          string // the field or status whose form is open; "+": of a new one
	Form                          fieldForm
	Name                          string            // of the template, as it was typed
	Status                        string            // a status, as it was typed
	Problems                      map[string]string // by the input that they stand beside
	Refused                       []string          // why a change cannot be made
	Said                          string            // what a change came to, where only a part is shown
}

// Preview is the form that the fields make, empty.
func (ed editor) Preview() []input { return stored(ed.Of.Fields, nil) }

// fieldForm is the form of one field. Key is "" for a new one that takes its key from
// its label; Options has one in each line.
type fieldForm struct {
	Was, Key, Label, Type, Options string
	Required                       bool
}

// fieldKind is a type of fields as people call it.
type fieldKind struct {
	Type    model.FieldType
	Label   string
	Chooses bool
}

var fieldKinds = []fieldKind{
	{model.Text, "Text, one line", false}, {model.Paragraph, "Paragraph, many lines", false}, {model.Date, "Date", false},
	{model.Dropdown, "Dropdown, one of a list", true}, {model.Multiselect, "Several of a list", true}, {model.Number, "Number", false}, {model.Checkbox, "Checkbox, yes or no", false},
	{model.Money, "Money, dollars and cents", false}, {model.Email, "Email address", false}, {model.Phone, "Phone number", false}, {model.URL, "Web address (URL)", false},
}

// kindLabel is the short word for a type.
func kindLabel(kind model.FieldType) string {
	for _, k := range fieldKinds {
		if k.Type == kind {
			label, _, _ := strings.Cut(k.Label, ",")
			return label
		}
	}
	return string(kind)
}

func (b *bench) editor() editor {
	return editor{
		Path: b.path, Noun: b.noun, Seen: b.seen, Named: b.named, HasStatuses: b.hasStatuses, HasFields: b.hasFields,
		Of: b.now, Types: fieldKinds, Name: b.now.Name,
	}
}

// showBench answers GET: the editor, with the form of one field open where the address asks.
func (p *pages) showBench(w http.ResponseWriter, r *http.Request, who visitor, b bench) error {
	ed, asked := b.editor(), r.URL.Query()
	ed.Open = asked.Get("field") + asked.Get("status")
	for _, f := range b.now.Fields {
		if ed.Open == f.Key {
			ed.Form = fieldForm{f.Key, f.Key, f.Label, string(f.Type), strings.Join(f.Options, "\n"), f.Required}
		}
	}
	if slices.Contains(b.now.Statuses, asked.Get("status")) {
		ed.Status = asked.Get("status")
	}
	return p.showEditor(w, r, who, http.StatusOK, b, ed)
}

func (p *pages) showEditor(w http.ResponseWriter, r *http.Request, who visitor, status int, b bench, ed editor) error {
	if !isPart(r) {
		return p.show(w, r, who, status, "definitions.html", page{
			Heading: b.heading, Section: "admin", Data: ed, Scripts: []string{"sortable.min.js", "definitions.js"}, Styles: adminStyles,
		})
	}
	if status != http.StatusOK {
		status = http.StatusUnprocessableEntity // which a script puts into place
	}
	return p.part(w, r, who, status, "definitions.html", "editor", ed)
}

// changeBench answers POST: one change, or the editor again with why it was not made.
// again reads the definitions anew.
func (p *pages) changeBench(w http.ResponseWriter, r *http.Request, who visitor, again func() (bench, error)) error {
	b, err := again()
	if err != nil {
		return err
	}
	b.seen = r.PostForm.Get("seen")
	said, err := b.change(r.PostForm)
	if err == nil {
		err = b.save(r.Context(), who.Actor, b.now, b.seen)
	}
	if err == nil {
		if !isPart(r) {
			return p.see(w, r, b.path, said)
		}
		if b, err = again(); err != nil {
			return err
		}
		ed := b.editor()
		ed.Said = said
		return p.showEditor(w, r, who, http.StatusOK, b, ed)
	}
	return p.refuseChange(w, r, who, again, err)
}

// refuseChange shows the definitions as they are, what was typed, and what stands
// against it.
func (p *pages) refuseChange(w http.ResponseWriter, r *http.Request, who visitor, again func() (bench, error), cause error) error {
	var named *errs.Error
	if !errors.As(cause, &named) || !slices.Contains([]errs.Kind{errs.Invalid, errs.Conflict, errs.PreconditionFailed}, named.Kind) {
		return cause
	}
	b, err := again()
	if err != nil {
		return err
	}
	ed := b.editor()
	ed.typed(r.PostForm)
	status := headings[named.Kind].status
	switch named.Kind {
	case errs.Invalid:
		ed.Problems = map[string]string{}
		for _, f := range named.Fields {
			ed.misplaced(problemPlace(f.Field), strings.Join(f.Sentences, " "))
		}
	case errs.Conflict:
		for _, f := range named.Fields {
			ed.Refused = append(ed.Refused, f.Sentences...)
		}
		if len(ed.Refused) == 0 {
			ed.Refused = []string{named.Message}
		}
	default:
		ed.Refused = []string{"Somebody else changed this meanwhile. Here is how it is now; look at it, then change it again."}
	}
	return p.showEditor(w, r, who, status, b, ed)
}

// typed keeps what was sent, so that nobody has to type it twice.
func (ed *editor) typed(form map[string][]string) {
	get := func(name string) string { return strings.Join(form[name][:min(1, len(form[name]))], "") }
	switch get("do") {
	case "name":
		ed.Name = get("name")
	case "status-add", "status-rename":
		ed.Status, ed.Open = get("name"), get("status")
		if get("do") == "status-add" {
			ed.Open = "+status"
		}
	case "field-save":
		ed.Form = fieldForm{get("was"), get("key"), get("label"), get("type"), get("options"), get("required") != ""}
		if ed.Open = get("was"); ed.Open == "" {
			ed.Open = "+"
		}
	}
}

// misplaced puts a sentence beside its input, or above all where none is open.
func (ed *editor) misplaced(place, sentence string) {
	switch {
	case place == "name" || place == "status" || ed.Open != "" && place != "":
		ed.Problems[place] = strings.TrimSpace(ed.Problems[place] + " " + sentence)
	default:
		ed.Refused = append(ed.Refused, sentence)
	}
}

// problemPlace is the input that a refusal of the vault belongs to:
//
//	templates.0.name → name   …statuses.3 → status   …custom_fields.2.options.7 → options
func problemPlace(field string) string {
	field = strings.TrimPrefix(field, "templates.0.")
	parts := strings.Split(field, ".")
	switch {
	case parts[0] == "statuses":
		return "status"
	case parts[0] == "custom_fields" && len(parts) > 2:
		return parts[2]
	case parts[0] == "name":
		return "name"
	}
	return ""
}
