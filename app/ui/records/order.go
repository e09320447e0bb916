package records

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// orderView is the template data of an order's page.
type orderView struct {
	model.Order
	Path     string
	Statuses []string // configured statuses, plus the current one if it isn't among them
	Fields   []model.Field
	Groups   []fieldGroup
	Clash    string        // why the status was not changed
	Before   string        // status that Undo restores
	Missing  []page.Input  // required fields that are blank
	Same     []model.Order // other orders with the same number
	SameMore bool
	Related  search.FindResult // records of the same property
	History  []historyLine
	Earlier  bool // the history has earlier entries that are not shown
}

// Many reports whether there are too many statuses to show them next to each other.
func (s orderView) Many() bool { return len(s.Statuses) > 8 }

// MoreAbstracts reports whether the property has more abstracts than are shown.
func (s orderView) MoreAbstracts() bool {
	return slices.ContainsFunc(s.Related.Groups, func(g search.FindGroup) bool { return g.Kind == "abstract" && g.More })
}

// Placed reports whether the order identifies a property by parcel ID or address.
func (s orderView) Placed() bool { return s.ParcelID() != "" || s.LookupAddress() != "" }

// Group returns the field group with the given name, or the zero value if there is none.
func (s orderView) Group(name string) fieldGroup {
	for _, g := range s.Groups {
		if g.Name == name {
			return g
		}
	}
	return fieldGroup{}
}

// GroupOf returns the name of the group that contains the field.
func (s orderView) GroupOf(field string) string {
	for _, g := range s.Groups {
		if slices.ContainsFunc(g.Fields, func(in page.Input) bool { return in.Name == field }) {
			return g.Name
		}
	}
	return ""
}

// orderPage serves the page of an order, or one of its field groups.
func (p *Pages) orderPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	s, err := p.readOrder(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	if name := query.Get("group"); page.IsPartRequest(r) && name != "" {
		g := s.Group(name)
		if g.Name == "" {
			return page.NotFound(r)
		}
		g.openForm(visitor.MayWrite() && query.Get("edit") != "", query.Get("field"))
		g.Focus = !g.Editing
		return p.RenderPart(w, r, visitor, http.StatusOK, "order.html", "group", g)
	}
	for i := range s.Groups {
		s.Groups[i].openForm(visitor.MayWrite() && query.Get("edit") == s.Groups[i].Name, query.Get("field"))
	}
	return p.showOrder(w, r, visitor, http.StatusOK, s)
}

// showOrder renders the page of an order with its related records and recent history.
func (p *Pages) showOrder(w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, s orderView) (err error) {
	if s.Same, s.SameMore, err = p.Vault.Search.SameNumber(r.Context(), s.Order); err != nil {
		return err
	}
	if s.Related, err = p.Vault.Search.RelatedToOrder(r.Context(), s.Order); err != nil {
		return err
	}
	if err := p.addRecentHistory(r.Context(), &s); err != nil {
		return err
	}
	return p.RenderPage(w, r, visitor, status, "order.html", page.Page{
		Heading: "Order " + s.Number, Section: "orders", Data: s, Scripts: []string{"record.js"}, Styles: []string{"record.css"},
	})
}

// readOrder returns the requested order.
func (p *Pages) readOrder(r *http.Request) (s orderView, err error) {
	id, err := p.OrderID(r)
	if err != nil {
		return s, err
	}
	order, err := p.Vault.Orders.Get(r.Context(), id)
	if err != nil {
		return s, err
	}
	return p.newOrderView(r.Context(), order)
}

// newOrderView returns the template data that can be derived from the order and its field
// definitions.
func (p *Pages) newOrderView(ctx context.Context, o model.Order) (s orderView, err error) {
	s = orderView{Order: o, Path: p.OrderPath(o.ID)}
	if s.Fields, err = p.Vault.Orders.Fields(ctx); err != nil {
		return s, err
	}
	if s.Statuses, err = p.Vault.Orders.Statuses(ctx); err != nil {
		return s, err
	}
	if o.Status != "" && !slices.Contains(s.Statuses, o.Status) {
		s.Statuses = append(s.Statuses, o.Status)
	}
	s.Groups = orderGroups(o, s.Fields)
	s.setNumberLookup()
	for i := range s.Groups {
		g := &s.Groups[i]
		g.Path, g.Version = s.Path, o.Version
		g.setFingerprints(page.Fingerprint)
		for j := range g.Fields {
			if g.Fields[j].Missing() {
				s.Missing = append(s.Missing, g.Fields[j])
			}
		}
	}
	return s, nil
}

// orderInputs returns the inputs for the fields that all orders have, with their values and
// problems.
func orderInputs(value func(name string) string, rejected map[string]string) (list []page.Input) {
	for _, def := range model.CoreOrderFields() {
		in := page.Input{Name: def.Key, Label: page.OrderFieldLabel(def.Key, def.Label), Type: def.Type, Required: def.Required, Values: page.SubmittedValues(def.Type, []string{value(def.Key)})}
		in.Problem = page.ProblemText(def.Type, rejected[def.Key])
		list = append(list, in)
	}
	return list
}

// orderGroups returns the field groups of an order: built-in fields, short custom fields, and long
// custom fields.
func orderGroups(o model.Order, defs []model.Field) []fieldGroup {
	core := map[string]string{"order_number": o.Number, "due_date": o.DueDate, "address": o.Address, "city": o.City, "county": o.County, "state": o.State}
	groups := []fieldGroup{
		{Name: "property", Heading: "Order and property", Fields: orderInputs(func(name string) string { return core[name] }, nil)},
		{Name: "details", Heading: "Details"}, {Name: "notes", Heading: "Notes"},
	}
	known := map[string]bool{}
	for i, in := range page.StoredInputs(defs, o.Custom) {
		known[defs[i].Key] = true
		group := &groups[1]
		if in.Type == model.Paragraph {
			group = &groups[2]
		}
		group.Fields = append(group.Fields, in)
	}
	for key, raw := range o.Custom {
		if !known[key] {
			groups[1].Kept = append(groups[1].Kept, page.NewInput(model.Field{Key: key, Label: key, Type: model.Text}, page.StoredTexts(raw)))
		}
	}
	slices.SortFunc(groups[1].Kept, func(a, b page.Input) int { return strings.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(groups, func(g fieldGroup) bool { return len(g.Fields)+len(g.Kept) == 0 })
}

// setOrderStatus changes the status of an order.
func (p *Pages) setOrderStatus(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	o, change, err := p.changeOrderStatus(r, visitor)
	if err != nil {
		return err
	}
	s, err := p.newOrderView(r.Context(), o)
	if err != nil {
		return err
	}
	if !page.IsPartRequest(r) {
		return p.RedirectWithUndo(w, r, s.Path, cmp.Or(change.Clash, "Status set to “"+page.FormatStatus(o.Status)+"”."), change.undoAddress(s.Path, o.Status, s.Statuses))
	}
	s.Clash, s.Before = change.Clash, change.undoStatus(o.Status, s.Statuses)
	if err := p.addRecentHistory(r.Context(), &s); err != nil {
		return err
	}
	return p.RenderPart(w, r, visitor, http.StatusOK, "order.html", "order-turned", s)
}

// trashOrder moves an order to the trash.
func (p *Pages) trashOrder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	s, err := p.readOrder(r)
	if err != nil {
		return err
	}
	if err := p.Vault.Orders.Trash(r.Context(), visitor.Actor, s.ID, vault.Match{}); err != nil {
		return err
	}
	return p.RedirectWithUndo(w, r, "/orders", "Order “"+s.Number+"” is in the trash.", s.Path+"/restore")
}

// restoreOrder restores an order from the trash.
func (p *Pages) restoreOrder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := p.OrderID(r)
	if err != nil {
		return err
	}
	o, err := p.Vault.Orders.Restore(r.Context(), visitor.Actor, id, vault.Idempotency[model.Order]{})
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, p.OrderPath(id), "Order “"+o.Number+"” is back.")
}

// recentEvents is the number of history entries shown on an order's page.
const recentEvents = 8

// addRecentHistory adds the newest history entries to s.
func (p *Pages) addRecentHistory(ctx context.Context, s *orderView) error {
	log, err := p.orderEvents(ctx, s.ID, vault.Query{Limit: recentEvents})
	s.History, s.Earlier = historyLines(vault.History{Events: log.Items}, s.Fields), log.Next != nil
	return err
}

func (p *Pages) orderEvents(ctx context.Context, id uint64, q vault.Query) (vault.Page[model.Event], error) {
	q.Filters, q.Descending = []vault.Filter{{Column: vault.ColumnRecord, Value: "order:" + strconv.FormatUint(id, 10)}}, true
	return p.Vault.Events.List(ctx, q)
}

// orderHistoryPage serves the complete history of an order, one page at a time.
func (p *Pages) orderHistoryPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	s, err := p.readOrder(r)
	if err != nil {
		return err
	}
	q := vault.Query{Limit: historyPerPage}
	p.ApplyCursor(r, url.Values{}, &q)
	log, err := p.orderEvents(r.Context(), s.ID, q)
	if err != nil {
		return err
	}
	view := struct {
		orderView
		Prev, Next string
	}{orderView: s}
	view.History = historyLines(vault.History{Events: log.Items}, s.Fields)
	view.Prev, view.Next = p.PageLinks(r, url.Values{}, log.Prev, log.Next)
	return p.RenderPage(w, r, visitor, http.StatusOK, "orderhistory.html", page.Page{
		Heading: "History of order " + s.Number, Section: "orders", Data: view, Styles: []string{"record.css"},
	})
}
