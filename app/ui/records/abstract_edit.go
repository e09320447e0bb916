package records

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// editAbstract saves a field group of an abstract.
func (p *Pages) editAbstract(r *page.Request) error {
	return p.saveGroup(r, "abstract", func() (recordEdit, error) {
		filed, template, err := p.readAbstract(r)
		if err != nil {
			return recordEdit{}, err
		}
		view, err := p.newAbstractView(r.Context(), filed.Abstract, template)
		return recordEdit{
			recordView: view.recordView,
			showForm: func(status int, g fieldGroup) error {
				return p.RenderPage(r, status, "abstract-edit.html", page.Page{
					Heading: view.Heading, Section: "abstracts", Data: g, Scripts: []string{"record.js"}, Styles: []string{"record.css"},
				})
			},
			save: func(ctx context.Context, sent map[string][]string) (version uint64, saved showSaved, err error) {
				now, err := p.Vault.Abstracts.Patch(ctx, r.Actor, r.PathID, abstractPatch(template.Fields, sent, p.LocalNow()),
					vault.MatchVersion(filed.Abstract.Version))
				return now.Abstract.Version, func(show func(*recordView)) error {
					view, err := p.newAbstractView(ctx, now.Abstract, template)
					if err != nil {
						return err
					}
					if view.Work, err = p.work.LoadPeople(r, now.Abstract); err != nil {
						return err
					}
					show(&view.recordView)
					r.W.Header().Set("HX-Trigger", abstractChangedEvent)
					return p.RenderPart(r, http.StatusOK, "abstract.html", "saved", view)
				}, err
			},
		}, err
	})
}

// abstractPatch returns the patch for the submitted fields.
func abstractPatch(defs []model.Field, sent map[string][]string, now time.Time) model.AbstractPatch {
	custom := page.SubmittedCustom(defs, url.Values(sent), now)
	return model.AbstractPatch{
		Fields: page.SubmittedFields(model.Abstract{}.FieldValues(), sent, now),
		Custom: model.Optional[model.Custom]{Present: len(custom.Values) > 0, Value: custom},
	}
}
