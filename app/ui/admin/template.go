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

// templateRow is a template in the list of templates.
type templateRow struct {
	model.Template
	Abstracts string // number of abstracts that use the template, except those in the trash
}

// templateListView is the template data of the page that lists templates and creates new ones.
type templateListView struct {
	Used, Retired []templateRow
	Name          string
	From          uint64
	Problems      map[string]string
}

func (p *Pages) templateListPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.showTemplates(w, r, visitor, http.StatusOK, templateListView{})
}

func (p *Pages) showTemplates(w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, view templateListView) error {
	all, err := p.Vault.Templates.All(r.Context())
	if err != nil {
		return err
	}
	for _, t := range all {
		n, err := p.Vault.Templates.CountAbstracts(r.Context(), t.ID)
		if err != nil {
			return err
		}
		row := templateRow{t, page.FormatCount(n)}
		if n >= vault.MaxAbstractCount {
			row.Abstracts += "+"
		}
		if t.Retired {
			view.Retired = append(view.Retired, row)
		} else {
			view.Used = append(view.Used, row)
		}
	}
	return p.RenderPage(w, r, visitor, status, "templates.html", page.Page{Heading: "Templates", Section: "admin", Data: view})
}

// createTemplate creates a template, either empty or as a copy of another template.
func (p *Pages) createTemplate(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	draft := model.TemplateDraft{Name: r.PostForm.Get("name")}
	from, err := strconv.ParseUint(r.PostForm.Get("from"), 10, 63)
	if err == nil && from != 0 {
		source, err := p.Vault.Templates.Get(r.Context(), from)
		if err != nil {
			return err
		}
		draft.Statuses, draft.Fields = &source.Statuses, &source.Fields
	}
	created, err := p.Vault.Templates.Create(r.Context(), visitor.Actor, draft)
	var domainErr *errs.Error
	if errors.As(err, &domainErr) && domainErr.Kind == errs.Invalid {
		view := templateListView{Name: draft.Name, From: from, Problems: map[string]string{}}
		for _, f := range domainErr.Fields {
			view.Problems["name"] += f.Problems[0].Sentence()
		}
		return p.showTemplates(w, r, visitor, http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, page.TemplatePath(created.ID), "The template was made. Abstracts can be made from it at once.")
}

func (p *Pages) templateEditor(r *http.Request) (definitionEditor, error) {
	id, err := page.PathNumber(r)
	if err != nil {
		return definitionEditor{}, err
	}
	now, err := p.Vault.Templates.Get(r.Context(), id)
	return definitionEditor{
		path: page.TemplatePath(id), heading: now.Name, recordType: "abstract", hasName: true, hasStatuses: true, hasFields: true, template: now, seenMark: now.Fingerprint(), newKey: model.NewAbstractFieldKey,
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.Vault.Templates.Edit(ctx, actor, model.TemplateDraft{ID: now.ID, Name: now.Name, Statuses: &now.Statuses, Fields: &now.Fields}, seen, false)
			return err
		},
	}, err
}

func (p *Pages) templatePage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	b, err := p.templateEditor(r)
	if err != nil {
		return err
	}
	return p.showDefinitions(w, r, visitor, b)
}

func (p *Pages) changeTemplate(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.changeDefinitions(w, r, visitor, func() (definitionEditor, error) { return p.templateEditor(r) })
}

// setTemplateUse makes a template the default, retires it, or reactivates it.
func (p *Pages) setTemplateUse(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	ctx, templates := r.Context(), p.Vault.Templates
	var t model.Template
	var notice string
	switch r.PathValue("use") {
	case "default":
		t, err = templates.SetDefault(ctx, visitor.Actor, id)
		notice = t.Name + " is the default now: it is chosen where none is named."
	case "retire":
		t, err = templates.Retire(ctx, visitor.Actor, id)
		notice = t.Name + " is retired: no new abstracts are made from it, and those that are there stay."
	case "return":
		if t, err = templates.Get(ctx, id); err == nil {
			_, err = templates.Edit(ctx, visitor.Actor, model.TemplateDraft{ID: id, Name: t.Name, Retired: new(false)}, t.Fingerprint(), false)
		}
		notice = t.Name + " is in use again."
	default:
		return page.NotFound(r)
	}
	var domainErr *errs.Error
	if errors.As(err, &domainErr) && slices.Contains([]errs.Kind{errs.Invalid, errs.Conflict}, domainErr.Kind) {
		return &errs.Error{Kind: errs.Conflict, Message: domainErr.Message, Err: err}
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, page.ReturnAddress(r, page.TemplatePath(id)), notice)
}
