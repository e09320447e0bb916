package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// templateRow is a template in the list.
type templateRow struct {
	model.Template
	Abstracts string // how many, without those in the trash
}

// templateListView is the data of the list of templates and of the form that creates one.
type templateListView struct {
	Used, Retired []templateRow
	Name          string
	From          uint64
	Problems      map[string]string
}

func (p *Pages) templateListPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.showTemplates(w, r, who, http.StatusOK, templateListView{})
}

func (p *Pages) showTemplates(w http.ResponseWriter, r *http.Request, who page.Visitor, status int, shown templateListView) error {
	all, err := p.Vault.Templates.All(r.Context())
	if err != nil {
		return err
	}
	for _, t := range all {
		n, err := p.Vault.Templates.Abstracts(r.Context(), t.ID)
		if err != nil {
			return err
		}
		row := templateRow{t, page.FormatCount(n)}
		if n >= vault.MostAbstracts {
			row.Abstracts += "+"
		}
		if t.Retired {
			shown.Retired = append(shown.Retired, row)
		} else {
			shown.Used = append(shown.Used, row)
		}
	}
	return p.RenderPage(w, r, who, status, "templates.html", page.Page{Heading: "Templates", Section: "admin", Data: shown})
}

// createTemplate creates a template that is empty or a copy of another.
func (p *Pages) createTemplate(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	draft := model.TemplateDraft{Name: r.PostForm.Get("name")}
	from, err := strconv.ParseUint(r.PostForm.Get("from"), 10, 63)
	if err == nil && from != 0 {
		other, err := p.Vault.Templates.Get(r.Context(), from)
		if err != nil {
			return err
		}
		draft.Statuses, draft.Fields = &other.Statuses, &other.Fields
	}
	made, err := p.Vault.Templates.Create(r.Context(), who.Actor, draft)
	var named *errs.Error
	if errors.As(err, &named) && named.Kind == errs.Invalid {
		shown := templateListView{Name: draft.Name, From: from, Problems: map[string]string{}}
		for _, f := range named.Fields {
			shown.Problems["name"] += f.Sentences[0]
		}
		return p.showTemplates(w, r, who, http.StatusUnprocessableEntity, shown)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, page.TemplatePath(made.ID), "The template was made. Abstracts can be made from it at once.")
}

func (p *Pages) templateEditor(r *http.Request) (definitionEditor, error) {
	id, err := page.PathNumber(r)
	if err != nil {
		return definitionEditor{}, err
	}
	now, err := p.Vault.Templates.Get(r.Context(), id)
	return definitionEditor{
		path: page.TemplatePath(id), heading: now.Name, noun: "abstract", hasName: true, hasStatuses: true, hasFields: true, template: now, seenMark: now.Fingerprint(), newKey: model.NewAbstractFieldKey,
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.Vault.Templates.Edit(ctx, actor, model.TemplateDraft{ID: now.ID, Name: now.Name, Statuses: &now.Statuses, Fields: &now.Fields}, seen, false)
			return err
		},
	}, err
}

func (p *Pages) templatePage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	b, err := p.templateEditor(r)
	if err != nil {
		return err
	}
	return p.showDefinitions(w, r, who, b)
}

func (p *Pages) changeTemplate(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.changeDefinitions(w, r, who, func() (definitionEditor, error) { return p.templateEditor(r) })
}

// setTemplateUse makes a template the default, retires it, or reactivates it.
func (p *Pages) setTemplateUse(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	ctx, verbs := r.Context(), p.Vault.Templates
	var t model.Template
	var said string
	switch r.PathValue("use") {
	case "default":
		t, err = verbs.SetDefault(ctx, who.Actor, id)
		said = t.Name + " is the default now: it is chosen where none is named."
	case "retire":
		t, err = verbs.Retire(ctx, who.Actor, id)
		said = t.Name + " is retired: no new abstracts are made from it, and those that are there stay."
	case "return":
		if t, err = verbs.Get(ctx, id); err == nil {
			_, err = verbs.Edit(ctx, who.Actor, model.TemplateDraft{ID: id, Name: t.Name, Retired: new(false)}, t.Fingerprint(), false)
		}
		said = t.Name + " is in use again."
	default:
		return page.NotFound(r)
	}
	var named *errs.Error
	if errors.As(err, &named) && slices.Contains([]errs.Kind{errs.Invalid, errs.Conflict}, named.Kind) {
		return &errs.Error{Kind: errs.Conflict, Message: named.Message, Err: err}
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, page.ReturnAddress(r, page.TemplatePath(id)), said)
}
