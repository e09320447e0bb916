package ui

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// changeOrder saves one group of fields.
func (p *pages) changeOrder(w http.ResponseWriter, r *http.Request, who visitor) error {
	return changeGroup(r, func() (recordEdit, error) {
		s, err := p.orderRead(r)
		return recordEdit{
			zone:  p.Zone,
			group: s.Group,
			log: func(ctx context.Context) ([]model.Event, error) {
				log, err := p.orderEvents(ctx, s.ID, vault.Query{Limit: logLook})
				return log.Items, err
			},
			again: func(status int, g fieldGroup) error { return p.orderAgain(w, r, who, status, s, g) },
			save: func(ctx context.Context, sent map[string][]string) (saved func(group, notice string) error, err error) {
				now, err := p.Vault.Orders.Patch(ctx, who.Actor, s.ID, orderPatch(s.Fields, sent), onlyOf(s.Version))
				return func(group, notice string) error { return p.savedOrder(w, r, who, now, group, notice) }, err
			},
		}, err
	})
}

// orderPatch is the change that was sent.
func orderPatch(defs []model.Field, sent map[string][]string) model.OrderPatch {
	line := func(name string) model.Optional[model.Input] { return sentLine(sent, name) }
	custom := sentCustom(defs, url.Values(sent))
	return model.OrderPatch{
		Number: line("order_number"), DueDate: line("due_date"),
		PropertyPatch: model.PropertyPatch{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		Custom:        model.Optional[model.Custom]{Present: len(custom.Values) > 0, Value: custom},
	}
}

// orderAgain shows the form once more, as it was filled in.
func (p *pages) orderAgain(w http.ResponseWriter, r *http.Request, who visitor, status int, s orderSheet, g fieldGroup) error {
	if isPart(r) {
		return p.part(w, r, who, status, "order.html", "group", g)
	}
	for i := range s.Groups {
		if s.Groups[i].Name == g.Name {
			s.Groups[i] = g
		}
	}
	return p.orderShow(w, r, who, status, s)
}

// savedOrder shows the group as it is now, and what else of the page it changes.
func (p *pages) savedOrder(w http.ResponseWriter, r *http.Request, who visitor, o model.Order, name, notice string) error {
	if !isPart(r) {
		return p.see(w, r, p.orderPath(o.ID)+"#group-"+name, strings.TrimSpace("Saved. "+notice))
	}
	s, err := p.orderSheet(r.Context(), o)
	if err == nil {
		err = p.orderRecent(r.Context(), &s)
	}
	if err != nil {
		return err
	}
	for i := range s.Groups {
		s.Groups[i].Focus = s.Groups[i].Name == name
	}
	saved := s.Group(name)
	saved.Notice = notice
	return p.part(w, r, who, http.StatusOK, "order.html", "order-saved", struct {
		orderSheet
		Saved fieldGroup
	}{s, saved})
}
