package admin

import (
	"context"
	"errors"
	"net/http"
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

func (p *Pages) templateListPage(r *page.Request) error {
	return p.showTemplates(r, http.StatusOK, templateListView{})
}

func (p *Pages) showTemplates(r *page.Request, status int, view templateListView) error {
	all, err := p.App.Templates.All(r.Context())
	if err != nil {
		return err
	}
	for _, t := range all {
		n, err := p.App.Templates.CountAbstracts(r.Context(), t.ID)
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
	return p.RenderPage(r, status, "templates.html", page.Page{Heading: "Templates", Section: "admin", Data: view})
}

// createTemplate creates a template, either empty or as a copy of another template.
func (p *Pages) createTemplate(r *page.Request) error {
	draft := model.TemplateDraft{Name: r.PostForm.Get("name")}
	from, err := strconv.ParseUint(r.PostForm.Get("from"), 10, 63)
	if err == nil && from != 0 {
		source, err := p.App.Templates.Get(r.Context(), from)
		if err != nil {
			return err
		}
		draft.Statuses, draft.Fields = &source.Statuses, &source.Fields
	}
	created, err := p.App.Templates.Create(r.Context(), r.Actor, draft)
	if domainErr, ok := errors.AsType[*errs.Error](err); ok && domainErr.Kind == errs.Invalid {
		view := templateListView{Name: draft.Name, From: from, Problems: map[string]string{}}
		for _, f := range domainErr.Fields {
			view.Problems["name"] += f.Problems[0].Sentence()
		}
		return p.showTemplates(r, http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, p.RecordPath("template", created.ID), "Template created. You can use it for new abstracts.")
}

func (p *Pages) templateEditor(r *page.Request) (definitionEditor, error) {
	now, err := p.App.Templates.Get(r.Context(), r.PathID)
	return definitionEditor{
		path: p.RecordPath("template", r.PathID), heading: now.Name, recordType: "abstract", hasName: true, hasStatuses: true, hasFields: true,
		template: now, seenMark: now.Fingerprint(), newKey: model.NewAbstractFieldKey,
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.App.Templates.Edit(ctx, actor, model.TemplateDraft{ID: now.ID, Name: now.Name, Statuses: &now.Statuses, Fields: &now.Fields}, seen, false)
			return err
		},
	}, err
}

// setTemplateUse makes a template the default, retires it, or reactivates it.
func (p *Pages) setTemplateUse(r *page.Request) (err error) {
	ctx, templates := r.Context(), p.App.Templates
	var t model.Template
	var notice string
	switch r.PathValue("use") {
	case "default":
		t, err = templates.SetDefault(ctx, r.Actor, r.PathID)
		notice = t.Name + " is now the default template."
	case "retire":
		t, err = templates.Retire(ctx, r.Actor, r.PathID)
		notice = t.Name + " is retired. Existing abstracts keep it."
	case "return":
		if t, err = templates.Get(ctx, r.PathID); err == nil {
			_, err = templates.Edit(ctx, r.Actor, model.TemplateDraft{ID: r.PathID, Name: t.Name, Retired: new(false)}, t.Fingerprint(), false)
		}
		notice = t.Name + " is restored."
	default:
		return page.NotFound(r)
	}
	if errs.KindOf(err) == errs.Invalid {
		return asConflict(err)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, page.ReturnAddress(r, p.RecordPath("template", r.PathID)), notice)
}
