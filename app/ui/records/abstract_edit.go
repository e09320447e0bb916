package records

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// editAbstract saves a field group of an abstract.
func (p *Pages) editAbstract(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return saveGroup(r, func() (recordEdit, error) {
		filed, template, err := p.readAbstract(r)
		if err != nil {
			return recordEdit{}, err
		}
		view := p.newAbstractView(filed.Abstract, template)
		return recordEdit{
			zone:  p.Zone,
			group: view.Group,
			events: func(ctx context.Context) ([]model.Event, error) {
				own := "abstract:" + strconv.FormatUint(filed.Abstract.ID, 10)
				log, err := p.Vault.Events.List(ctx, vault.Query{Filters: []vault.Filter{{Column: vault.ColumnRecord, Value: own}}, Descending: true, Limit: eventsToInspect})
				return log.Items, err
			},
			showForm: func(status int, g fieldGroup) error { return p.showAbstractForm(w, r, visitor, status, view, g) },
			save: func(ctx context.Context, sent map[string][]string) (saved func(group, notice string) error, err error) {
				now, err := p.Vault.Abstracts.Patch(ctx, visitor.Actor, filed.Abstract.ID, abstractPatch(template.Fields, sent), matchVersion(filed.Abstract.Version))
				return func(group, notice string) error { return p.showSavedGroup(w, r, visitor, now, template, group, notice) }, err
			},
		}, nil
	})
}

// abstractPatch returns the patch for the submitted fields.
func abstractPatch(defs []model.Field, sent map[string][]string) model.AbstractPatch {
	line := func(name string) model.Optional[model.Input] { return submittedText(sent, name) }
	custom := page.SubmittedCustom(defs, url.Values(sent))
	return model.AbstractPatch{
		PropertyPatch: model.PropertyPatch{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		TaxMap:        line("tax_map"),
		Custom:        model.Optional[model.Custom]{Present: len(custom.Values) > 0, Value: custom},
	}
}

// showAbstractForm shows the form of a field group with the submitted values.
func (p *Pages) showAbstractForm(
	w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, view abstractView, g fieldGroup,
) error {
	if page.IsPartRequest(r) {
		return p.RenderPart(w, r, visitor, status, "abstract.html", "group", g)
	}
	return p.RenderPage(w, r, visitor, status, "abstractedit.html", page.Page{
		Heading: view.Heading, Section: "abstracts", Data: g, Scripts: []string{"record.js"}, Styles: []string{"record.css"},
	})
}

// showSavedGroup shows the saved field group and all other parts of the page that changed with it.
func (p *Pages) showSavedGroup(
	w http.ResponseWriter, r *http.Request, visitor page.Visitor, filed vault.AbstractWithFiles, template model.Template, name, notice string,
) error {
	if !page.IsPartRequest(r) {
		return p.RedirectWithNotice(w, r, p.AbstractPath(filed.Abstract.ID)+"#group-"+name, strings.TrimSpace("Saved. "+notice))
	}
	view := p.newAbstractView(filed.Abstract, template)
	for i := range view.Groups {
		view.Groups[i].Focus = view.Groups[i].Name == name
	}
	saved := view.Group(name)
	saved.Notice = notice
	w.Header().Set("HX-Trigger", abstractChangedEvent)
	return p.RenderPart(w, r, visitor, http.StatusOK, "abstract.html", "saved", struct {
		abstractView
		Saved fieldGroup
	}{view, saved})
}
