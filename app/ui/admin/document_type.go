package admin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

const typesPath = "/admin/types"

// typesPage is the template data of the page of document types.
type typesPage struct {
	Path          string
	Used, Retired model.DocumentTypes
	Categories    []model.Category
	Open          uint64 // type whose form is open
	Form          model.DocumentType
	Usual         struct{ Grantor, Grantee string } // usual labels of the parties of the open form
	Problems      map[string]string
}

func (p *Pages) documentTypesPage(r *page.Request) error {
	open, err := strconv.ParseUint(cmp.Or(r.URL.Query().Get("type"), "0"), 10, 63)
	if err != nil {
		return page.NotFound(r)
	}
	return p.showTypes(r, http.StatusOK, typesPage{Open: open})
}

// showTypes renders the page. If no problems are shown, the open form has the stored values.
func (p *Pages) showTypes(r *page.Request, status int, view typesPage) error {
	types, err := p.App.Instruments.Types(r.Context())
	if err != nil {
		return err
	}
	view.Path, view.Categories = typesPath, model.Categories()
	for _, t := range types {
		if t.Retired {
			view.Retired = append(view.Retired, t)
		} else {
			view.Used = append(view.Used, t)
		}
		if t.ID == view.Open && view.Problems == nil {
			view.Form = t
		}
	}
	view.Usual.Grantor, view.Usual.Grantee = view.Form.UsualLabels()
	return p.RenderPage(r, status, "document-types.html", page.Page{
		Heading: "Document types", Section: "admin", Data: view, Styles: adminStyles,
		Libraries: []string{"sortable.min.js"}, Scripts: []string{"definitions.js"},
	})
}

// changeTypes makes the change that the form field "do" requests.
func (p *Pages) changeTypes(r *page.Request) error {
	types, err := p.App.Instruments.Types(r.Context())
	if err != nil {
		return err
	}
	id, _ := strconv.ParseUint(r.PostForm.Get("type"), 10, 63) // 0: a new type
	changed, index, notice, err := applyTypeChange(types, id, r.PostForm)
	if err == nil {
		_, err = p.App.Instruments.SetTypes(r.Context(), r.Actor, changed, false)
	}
	if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
		view := typesPage{Open: id, Form: typeForm(r.PostForm),
			Problems: rowProblems(problem.Fields, fmt.Sprintf("types.%d.", index), "name", "category", "grantor_label", "grantee_label")}
		return p.showTypes(r, http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, typesPath, notice)
}

// rowProblems returns the problems of the row of a list that a form changes, by the name of its field. prefix is before these
// names in the API. Problems of other fields are those of the form, with the name "".
func rowProblems(fields errs.Fields, prefix string, names ...string) map[string]string {
	problems := map[string]string{}
	for field, sentence := range page.FieldProblems(fields) {
		name, _ := strings.CutPrefix(field, prefix)
		if !slices.Contains(names, name) {
			name = ""
		}
		problems[name] = sentence
	}
	return problems
}

// typeForm returns the values of the form for one type.
func typeForm(form url.Values) model.DocumentType {
	return model.DocumentType{Name: form.Get("name"), Category: model.Category(form.Get("category")),
		Encumbrance:  form.Get("encumbrance") != "",
		GrantorLabel: form.Get("grantor_label"), GranteeLabel: form.Get("grantee_label")}
}

// applyTypeChange returns the changed list, the index of the changed type, and a notice.
func applyTypeChange(types model.DocumentTypes, id uint64, form url.Values) (changed model.DocumentTypes, index int, notice string,
	err error) {
	changed = slices.Clone(types)
	index = slices.IndexFunc(changed, func(t model.DocumentType) bool { return t.ID == id })
	action := form.Get("do")
	switch {
	case action == "add":
		t := typeForm(form)
		if _, taken := changed.ByName(t.Name); taken {
			return nil, len(changed), "", errs.InvalidField(fmt.Sprintf("types.%d.name", len(changed)), errs.Taken)
		}
		return append(changed, t), len(changed), fmt.Sprintf("Document type %q added.", t.Name), nil
	case action == "order":
		changed, err = reorderedTypes(changed, form["order"])
		return changed, 0, "Document types reordered.", err
	case index < 0:
		return nil, 0, "", errDefinitionGone
	}
	t := &changed[index]
	switch action {
	case "save":
		was := *t
		*t = typeForm(form)
		t.ID, t.Retired = was.ID, was.Retired
		return changed, index, fmt.Sprintf("Document type %q saved.", t.Name), nil
	case "retire", "use":
		t.Retired = action == "retire"
		done := map[bool]string{true: "retired", false: "restored"}[t.Retired]
		return changed, index, fmt.Sprintf("Document type %q %s.", t.Name, done), nil
	case "up", "down":
		to := neighbor(changed, index, action == "up")
		changed[index], changed[to] = changed[to], changed[index]
		return changed, to, fmt.Sprintf("%s moved %s.", changed[to].Name, action), nil
	}
	return nil, 0, "", errDefinitionGone
}

// neighbor returns the index of the next type before or after a type that isn't retired, or the
// type's own.
func neighbor(types model.DocumentTypes, index int, before bool) int {
	step := 1
	if before {
		step = -1
	}
	for n := index + step; n >= 0 && n < len(types); n += step {
		if !types[n].Retired {
			return n
		}
	}
	return index
}

// reorderedTypes returns the types in the sequence of ids, which are those of all types that aren't
// retired. The retired types come last.
func reorderedTypes(types model.DocumentTypes, ids []string) (model.DocumentTypes, error) {
	var used, retired model.DocumentTypes
	for _, t := range types {
		if t.Retired {
			retired = append(retired, t)
		} else {
			used = append(used, t)
		}
	}
	used, err := reordered(used, ids, func(t model.DocumentType) string { return strconv.FormatUint(t.ID, 10) })
	return append(used, retired...), err
}
