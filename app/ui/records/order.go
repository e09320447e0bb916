package records

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

// orderView is the template data of an order's page.
type orderView struct {
	model.Order
	recordView
	Fields  []model.Field
	Same    []model.Order // other orders with the same number
	Earlier bool          // the history has earlier entries that are not shown
	Linked  []titlework.OrderAbstract
	Notes   titlework.Notes
	Prior   priorView
	Staff   titlework.Staff
}

// Assignee returns the name of the user who works on the order, or "" if there is none.
func (o orderView) Assignee() string { return o.Staff.Name(o.AssigneeID) }

// People returns the users who can work on the order.
func (o orderView) People() []titlework.Person { return o.Staff.Assignable(o.AssigneeID) }

// orderPage serves the page of an order, or one of its field groups.
func (p *Pages) orderPage(r *page.Request) error {
	s, err := p.readOrder(r)
	if err != nil {
		return err
	}
	if shown, err := p.showGroup(r, "order.html", &s.recordView); shown {
		return err
	}
	return p.showOrder(r, http.StatusOK, s)
}

// showOrder renders the page of an order with its related records and recent history.
func (p *Pages) showOrder(r *page.Request, status int, s orderView) (err error) {
	if s.Same, s.SameMore, err = p.App.Search.SameNumber(r.Context(), s.Order); err != nil {
		return err
	}
	s.Prior = priorView{Path: s.Path, Order: true, Partial: true}
	s.Prior.Missing = p.App.Derive(r.Context(), search.PartPriorSearches, func() (err error) {
		s.Related, err = p.App.Search.RelatedToOrder(r.Context(), s.Order)
		return err
	})
	if s.Linked, err = p.work.OrderAbstracts(r, s.ID); err != nil {
		return err
	}
	s.Prior.PriorSearches = s.Related.PriorSearches(abstractIDs(s.Linked)...)
	if s.Notes, err = p.work.OrderNotes(r, s.ID); err != nil {
		return err
	}
	if err := p.addRecentHistory(r.Context(), &s); err != nil {
		return err
	}
	return p.RenderPage(r, status, "order.html", page.Page{
		Heading: "Order " + s.Number, Section: "orders", Data: s, Scripts: []string{"record.js"}, Styles: []string{"record.css"},
		Follows: p.orderFollows(s),
	})
}

// orderFollows returns the records that the page of an order shows: the order and the abstracts that are linked to it.
func (p *Pages) orderFollows(s orderView) []string {
	records := []string{p.IDs.Encode(model.RecordRef(vault.OrderOps.Name, s.ID))}
	for _, id := range abstractIDs(s.Linked) {
		records = append(records, p.IDs.Encode(model.RecordRef(vault.AbstractOps.Name, id)))
	}
	return records
}

// readOrder returns the requested order.
func (p *Pages) readOrder(r *page.Request) (s orderView, err error) {
	order, err := p.App.Orders.Get(r.Context(), r.PathID)
	if err != nil {
		return s, err
	}
	return p.newOrderView(r.Context(), order)
}

// newOrderView returns the template data that can be derived from the order and its field
// definitions.
func (p *Pages) newOrderView(ctx context.Context, o model.Order) (s orderView, err error) {
	s.Order = o
	if s.Fields, err = p.App.Orders.Fields(ctx); err != nil {
		return s, err
	}
	if s.Staff, err = p.work.Staff(ctx); err != nil {
		return s, err
	}
	statuses, err := p.App.Orders.Statuses(ctx)
	if err != nil {
		return s, err
	}
	groups := orderGroups(o, s.Fields)
	groups[0].Fields[0].Lookup = numberLookupPath(p.IDs.Orders.Encode(o.ID))
	s.recordView = newRecordView(p.OrderPath(o.ID), o.Version, o.Status, statuses, groups)
	return s, nil
}

// orderGroups returns the field groups of an order. Its number is the first field of the first
// group.
func orderGroups(o model.Order, defs []model.Field) []fieldGroup {
	return newFieldGroups(fieldGroup{Name: "property", Heading: "Order and property",
		Fields: page.FieldInputs(o.FieldValues())},
		fieldGroup{Name: "details", Heading: "Details"}, fieldGroup{Name: "notes", Heading: "Notes"}, defs, nil, o.Custom)
}

// setOrderStatus changes the status of an order.
func (p *Pages) setOrderStatus(r *page.Request) error {
	o, change, err := changeStatus(p, r, "order", p.App.Orders.Get, func(o model.Order) (string, uint64) { return o.Status, o.Version },
		func(status model.Inputs, match vault.Match) (model.Order, error) {
			return p.App.Orders.Patch(r.Context(), r.Actor, r.PathID, model.OrderPatch{Fields: status}, match)
		})
	if err != nil {
		return err
	}
	s, err := p.newOrderView(r.Context(), o)
	if err != nil {
		return err
	}
	if !r.IsPart() {
		return p.RedirectWithUndo(r, s.Path, change.notice(s.Status), change.Undo)
	}
	p.showStatus(r, &s.recordView, change, s.Status)
	if err := p.addRecentHistory(r.Context(), &s); err != nil {
		return err
	}
	return p.RenderPart(r, http.StatusOK, "order.html", "order-turned", s)
}

// trashOrder moves an order to the trash.
func (p *Pages) trashOrder(r *page.Request) error {
	s, err := p.readOrder(r)
	if err != nil {
		return err
	}
	if err := p.App.Orders.Trash(r.Context(), r.Actor, s.ID, vault.Match{}); err != nil {
		return err
	}
	return p.RedirectWithUndo(r, "/orders", "Order “"+s.Number+"” is in the trash.", s.Path+"/restore")
}

// restoreOrder restores an order from the trash.
func (p *Pages) restoreOrder(r *page.Request) error {
	o, err := p.App.Orders.Restore(r.Context(), r.Actor, r.PathID, vault.Idempotency[model.Order]{})
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, p.OrderPath(r.PathID), "Order “"+o.Number+"” restored.")
}

// recentEvents is the number of history entries shown on an order's page.
const recentEvents = 8

// addRecentHistory adds the newest history entries to s.
func (p *Pages) addRecentHistory(ctx context.Context, s *orderView) error {
	log, err := p.RecordEvents(ctx, "order", s.ID, vault.Query{Limit: recentEvents})
	if err != nil {
		return err
	}
	s.Earlier = log.Next != nil
	s.History, err = p.historyLines(ctx, log.Items, s.Fields)
	return err
}

// orderHistoryPage serves the complete history of an order, one page at a time.
func (p *Pages) orderHistoryPage(r *page.Request) error {
	s, err := p.readOrder(r)
	if err != nil {
		return err
	}
	q := vault.Query{Limit: historyPerPage}
	p.ApplyCursor(r, url.Values{}, &q)
	log, err := p.RecordEvents(r.Context(), "order", s.ID, q)
	if err != nil {
		return err
	}
	view := struct {
		orderView
		Prev, Next string
	}{orderView: s}
	if view.History, err = p.historyLines(r.Context(), log.Items, s.Fields); err != nil {
		return err
	}
	view.Prev, view.Next = p.PageLinks(r, url.Values{}, log.Prev, log.Next)
	return p.RenderPage(r, http.StatusOK, "order-history.html", page.Page{
		Heading: "History of order " + s.Number, Section: "orders", Data: view, Styles: []string{"record.css"},
	})
}

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
				now, err := p.App.Orders.Patch(ctx, r.Actor, r.PathID, orderPatch(s.Fields, sent, p.LocalNow()), vault.MatchVersion(s.Version))
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
