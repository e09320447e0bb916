package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// definitionEditor edits the field and status definitions of a template, the custom fields of
// orders, or the statuses of orders.
type definitionEditor struct {
	path, heading, recordType       string // recordType is the type of records that have these fields
	hasName, hasStatuses, hasFields bool
	template                        model.Template
	seenMark                        string
	save                            func(ctx context.Context, actor model.Actor, now model.Template, seen string) error
	newKey                          func(label string, defs []model.Field) string
}

// adminStyles lists the style sheets of the administration pages.
var adminStyles = []string{"admin.css"}

// definitionPage is the template data of the editor's page.
type definitionPage struct {
	Path, RecordType, Seen        string
	Named, HasStatuses, HasFields bool
	Of                            model.Template
	Types                         []page.FieldType
	Open                          string // field or status whose form is open; "+" is a new field, "+status" a new status
	Form                          fieldForm
	Name                          string            // submitted template name
	Status                        string            // submitted status
	Problems                      map[string]string // problems by input name
	Errors                        []string          // why the change was rejected
	Said                          string            // result of the change, if only a part of the page is rendered
}

// Preview returns a blank form with the defined fields.
func (d definitionPage) Preview() []page.Input { return page.StoredInputs(d.Of.Fields, nil) }

// fieldForm contains the values of the form for one field. If Key is "", the field is new and its
// key is derived from its label. Options contains one option per line.
type fieldForm struct {
	Was, Key, Label, Type, Options string
	Required                       bool
}

func (d *definitionEditor) newPage() definitionPage {
	return definitionPage{
		Path: d.path, RecordType: d.recordType, Seen: d.seenMark, Named: d.hasName, HasStatuses: d.hasStatuses, HasFields: d.hasFields,
		Of: d.template, Types: page.FieldTypes, Name: d.template.Name,
	}
}

// loadEditor reads the current definitions that an editor edits.
type loadEditor func(r *page.Request) (definitionEditor, error)

// showDefinitions returns the handler that shows an editor. The query may specify which form is open.
func (p *Pages) showDefinitions(load loadEditor) page.HandlerFunc {
	return func(r *page.Request) error {
		b, err := load(r)
		if err != nil {
			return err
		}
		ed, asked := b.newPage(), r.URL.Query()
		ed.Open = asked.Get("field") + asked.Get("status")
		for _, f := range b.template.Fields {
			if ed.Open == f.Key {
				ed.Form = fieldForm{f.Key, f.Key, f.Label, string(f.Type), strings.Join(f.Options, "\n"), f.Required}
			}
		}
		if slices.Contains(b.template.Statuses, asked.Get("status")) {
			ed.Status = asked.Get("status")
		}
		return p.renderDefinitions(r, http.StatusOK, b, ed)
	}
}

func (p *Pages) renderDefinitions(r *page.Request, status int, b definitionEditor, ed definitionPage,
) error {
	if !r.IsPart() {
		return p.RenderPage(r, status, "definitions.html", page.Page{
			Heading: b.heading, Section: "admin", Data: ed, Styles: adminStyles,
			Libraries: []string{"sortable.min.js"}, Scripts: []string{"definitions.js"},
		})
	}
	if status != http.StatusOK {
		status = http.StatusUnprocessableEntity // the only error status for which htmx inserts the response
	}
	return p.RenderPart(r, status, "definitions.html", "editor", ed)
}

// changeDefinitions returns the handler that applies a change or shows the editor with the problems.
func (p *Pages) changeDefinitions(load loadEditor) page.HandlerFunc {
	return func(r *page.Request) error {
		b, err := load(r)
		if err != nil {
			return err
		}
		b.seenMark = r.PostForm.Get("seen")
		said, err := b.apply(r.PostForm)
		if err == nil {
			err = b.save(r.Context(), r.Actor, b.template, b.seenMark)
		}
		if err != nil {
			return p.showDefinitionErrors(r, load, err)
		}
		if !r.IsPart() {
			return p.RedirectWithNotice(r, b.path, said)
		}
		if b, err = load(r); err != nil {
			return err
		}
		ed := b.newPage()
		ed.Said = said
		return p.renderDefinitions(r, http.StatusOK, b, ed)
	}
}

// showDefinitionErrors shows the editor with the current definitions, the submitted values, and the
// problems.
func (p *Pages) showDefinitionErrors(r *page.Request, load loadEditor, cause error) error {
	domainErr, _ := errors.AsType[*errs.Error](cause)
	if !slices.Contains([]errs.Kind{errs.Invalid, errs.Conflict, errs.PreconditionFailed}, errs.KindOf(cause)) {
		return cause
	}
	b, err := load(r)
	if err != nil {
		return err
	}
	ed := b.newPage()
	ed.restoreInput(r.PostForm)
	switch domainErr.Kind {
	case errs.Invalid:
		ed.Problems = map[string]string{}
		for _, f := range domainErr.Fields {
			ed.addProblem(problemInput(f.Field), strings.Join(f.Sentences(), " "))
		}
	case errs.Conflict:
		for _, f := range domainErr.Fields {
			ed.Errors = append(ed.Errors, f.Sentences()...)
		}
		if len(ed.Errors) == 0 {
			ed.Errors = []string{domainErr.Message}
		}
	default:
		ed.Errors = []string{"Someone else changed this while you were editing. This is the latest version. Make your change again."}
	}
	return p.renderDefinitions(r, httpx.StatusByKind[domainErr.Kind], b, ed)
}

// restoreInput fills the forms with the submitted values, so that the user doesn't have to enter
// them again.
func (d *definitionPage) restoreInput(form map[string][]string) {
	get := func(name string) string { return strings.Join(form[name][:min(1, len(form[name]))], "") }
	switch get("do") {
	case "name":
		d.Name = get("name")
	case "status-add", "status-rename":
		d.Status, d.Open = get("name"), get("status")
		if get("do") == "status-add" {
			d.Open = "+status"
		}
	case "field-save":
		d.Form = fieldForm{get("was"), get("key"), get("label"), get("type"), get("options"), get("required") != ""}
		if d.Open = get("was"); d.Open == "" {
			d.Open = "+"
		}
	}
}

// addProblem shows a problem next to its input. If that input isn't visible, the problem is shown
// at the top.
func (d *definitionPage) addProblem(place, sentence string) {
	switch {
	case place == "name" || place == "status" || d.Open != "" && place != "":
		d.Problems[place] = strings.TrimSpace(d.Problems[place] + " " + sentence)
	default:
		d.Errors = append(d.Errors, sentence)
	}
}

// problemInput returns the input that a field of a validation error belongs to:
//
//	templates.0.name → name   …statuses.3 → status   …custom_fields.2.options.7 → options
func problemInput(field string) string {
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
