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

// editOrder saves a field group of an order.
func (p *Pages) editOrder(r *page.Request) error {
	return p.saveGroup(r, "order", func() (recordEdit, error) {
		s, err := p.readOrder(r)
		return recordEdit{
			recordView: s.recordView,
			showForm: func(status int, g fieldGroup) error {
				for i := range s.Groups {
					if s.Groups[i].Name == g.Name {
						s.Groups[i] = g
					}
				}
				return p.showOrder(r, status, s)
			},
			save: func(ctx context.Context, sent map[string][]string) (version uint64, saved showSaved, err error) {
				now, err := p.Vault.Orders.Patch(ctx, r.Actor, r.PathID, orderPatch(s.Fields, sent, p.LocalNow()), vault.MatchVersion(s.Version))
				return now.Version, func(show func(*recordView)) error {
					s, err := p.newOrderView(ctx, now)
					if err == nil {
						err = p.addRecentHistory(ctx, &s)
					}
					if err != nil {
						return err
					}
					show(&s.recordView)
					return p.RenderPart(r, http.StatusOK, "order.html", "order-saved", s)
				}, err
			},
		}, err
	})
}

// orderPatch returns the patch for the submitted fields.
func orderPatch(defs []model.Field, sent map[string][]string, now time.Time) model.OrderPatch {
	custom := page.SubmittedCustom(defs, url.Values(sent), now)
	return model.OrderPatch{
		Fields: page.SubmittedFields(model.Order{}.FieldValues(), sent, now),
		Custom: model.Optional[model.Custom]{Present: len(custom.Values) > 0, Value: custom},
	}
}
