package records

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// editOrder saves a field group of an order.
func (p *Pages) editOrder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return saveGroup(r, func() (recordEdit, error) {
		s, err := p.readOrder(r)
		return recordEdit{
			zone:  p.Zone,
			group: s.Group,
			events: func(ctx context.Context) ([]model.Event, error) {
				log, err := p.orderEvents(ctx, s.ID, vault.Query{Limit: eventsToInspect})
				return log.Items, err
			},
			showForm: func(status int, g fieldGroup) error { return p.showOrderForm(w, r, visitor, status, s, g) },
			save: func(ctx context.Context, sent map[string][]string) (saved func(group, notice string) error, err error) {
				now, err := p.Vault.Orders.Patch(ctx, visitor.Actor, s.ID, orderPatch(s.Fields, sent), matchVersion(s.Version))
				return func(group, notice string) error { return p.showSavedOrder(w, r, visitor, now, group, notice) }, err
			},
		}, err
	})
}

// orderPatch returns the patch for the submitted fields.
func orderPatch(defs []model.Field, sent map[string][]string) model.OrderPatch {
	line := func(name string) model.Optional[model.Input] { return submittedText(sent, name) }
	custom := page.SubmittedCustom(defs, url.Values(sent))
	return model.OrderPatch{
		Number: line("order_number"), DueDate: line("due_date"),
		PropertyPatch: model.PropertyPatch{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		Custom:        model.Optional[model.Custom]{Present: len(custom.Values) > 0, Value: custom},
	}
}

// showOrderForm shows the form of a field group with the submitted values.
func (p *Pages) showOrderForm(w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, s orderView, g fieldGroup) error {
	if page.IsPartRequest(r) {
		return p.RenderPart(w, r, visitor, status, "order.html", "group", g)
	}
	for i := range s.Groups {
		if s.Groups[i].Name == g.Name {
			s.Groups[i] = g
		}
	}
	return p.showOrder(w, r, visitor, status, s)
}

// showSavedOrder shows the saved field group and all other parts of the page that changed with it.
func (p *Pages) showSavedOrder(w http.ResponseWriter, r *http.Request, visitor page.Visitor, o model.Order, name, notice string) error {
	if !page.IsPartRequest(r) {
		return p.RedirectWithNotice(w, r, p.OrderPath(o.ID)+"#group-"+name, strings.TrimSpace("Saved. "+notice))
	}
	s, err := p.newOrderView(r.Context(), o)
	if err == nil {
		err = p.addRecentHistory(r.Context(), &s)
	}
	if err != nil {
		return err
	}
	for i := range s.Groups {
		s.Groups[i].Focus = s.Groups[i].Name == name
	}
	saved := s.Group(name)
	saved.Notice = notice
	return p.RenderPart(w, r, visitor, http.StatusOK, "order.html", "order-saved", struct {
		orderView
		Saved fieldGroup
	}{s, saved})
}
