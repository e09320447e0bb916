package ui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// orderSheet is one order as its page shows it.
type orderSheet struct {
	model.Order
	Path     string
	Statuses []string // to choose from, and the one it has
	Fields   []model.Field
	Groups   []fieldGroup
	Clash    string        // why a click on a status changed nothing
	Before   string        // the status that Undo sets again
	Missing  []input       // required values that are not there
	Same     []model.Order // others with its number
	SameMore bool
	Related  vault.Found // of the same property
	History  []historyLine
	Earlier  bool // there is more of it
}

// Many reports more statuses than fit beside each other.
func (s orderSheet) Many() bool { return len(s.Statuses) > 8 }

// MoreAbstracts reports more abstracts of the property than the page shows.
func (s orderSheet) MoreAbstracts() bool {
	return slices.ContainsFunc(s.Related.Groups, func(g vault.HitGroup) bool { return g.Noun == "abstract" && g.More })
}

// Placed reports an order whose property can be recognized elsewhere.
func (s orderSheet) Placed() bool { return s.ParcelID() != "" || s.LookupAddress() != "" }

// Group is one of the groups by its name; the zero one where there is none.
func (s orderSheet) Group(name string) fieldGroup {
	for _, g := range s.Groups {
		if g.Name == name {
			return g
		}
	}
	return fieldGroup{}
}

// GroupOf is the name of the group that a field is in.
func (s orderSheet) GroupOf(field string) string {
	for _, g := range s.Groups {
		if slices.ContainsFunc(g.Fields, func(in input) bool { return in.Name == field }) {
			return g.Name
		}
	}
	return ""
}

// orderPage shows one, or a group of its fields.
func (p *pages) orderPage(w http.ResponseWriter, r *http.Request, who visitor) error {
	s, err := p.orderRead(r)
	if err != nil {
		return err
	}
	asked := r.URL.Query()
	if name := asked.Get("group"); isPart(r) && name != "" {
		g := s.Group(name)
		if g.Name == "" {
			return absentPath(r)
		}
		g.edit(who.MayWrite() && asked.Get("edit") != "", asked.Get("field"))
		g.Focus = !g.Editing
		return p.part(w, r, who, http.StatusOK, "order.html", "group", g)
	}
	for i := range s.Groups {
		s.Groups[i].edit(who.MayWrite() && asked.Get("edit") == s.Groups[i].Name, asked.Get("field"))
	}
	return p.orderShow(w, r, who, http.StatusOK, s)
}

// orderShow shows the page with what stands around the fields.
func (p *pages) orderShow(w http.ResponseWriter, r *http.Request, who visitor, status int, s orderSheet) (err error) {
	if s.Same, s.SameMore, err = p.Vault.Orders.SameNumber(r.Context(), s.Order); err != nil {
		return err
	}
	if s.Related, err = p.Vault.Orders.Related(r.Context(), s.Order); err != nil {
		return err
	}
	if err := p.orderRecent(r.Context(), &s); err != nil {
		return err
	}
	return p.show(w, r, who, status, "order.html", page{
		Heading: "Order " + s.Number, Section: "orders", Data: s, Scripts: []string{"record.js"}, Styles: []string{"record.css"},
	})
}

// orderRead reads the order of the address.
func (p *pages) orderRead(r *http.Request) (s orderSheet, err error) {
	id, err := p.orderID(r)
	if err != nil {
		return s, err
	}
	order, err := p.Vault.Orders.Get(r.Context(), id)
	if err != nil {
		return s, err
	}
	return p.orderSheet(r.Context(), order)
}

// orderSheet is what an order says by itself.
func (p *pages) orderSheet(ctx context.Context, o model.Order) (s orderSheet, err error) {
	s = orderSheet{Order: o, Path: p.orderPath(o.ID)}
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
	s.lookup()
	for i := range s.Groups {
		g := &s.Groups[i]
		g.Path, g.Version = s.Path, o.Version
		g.remember(fingerprint)
		for j := range g.Fields {
			if g.Fields[j].Missing() {
				s.Missing = append(s.Missing, g.Fields[j])
			}
		}
	}
	return s, nil
}

// orderInputs are the fields of every order, in the order of a form, with what they
// hold.
func orderInputs(value func(name string) string, refused map[string]string) (list []input) {
	for _, def := range model.CoreOrderFields() {
		in := input{Name: def.Key, Label: orderLabel(def.Key, def.Label), Type: def.Type, Required: def.Required, Values: sentTexts(def.Type, []string{value(def.Key)})}
		in.Problem = spokenProblem(def.Type, refused[def.Key])
		list = append(list, in)
	}
	return list
}

// orderLabel is a core field's label in the words of the pages.
func orderLabel(key, label string) string {
	switch key {
	case "order_number":
		return "Order number"
	case "due_date":
		return "Due date"
	case "address":
		return "Street address"
	}
	return label
}

// orderGroups are the fields that every order has, the short ones of the firm, and
// its long ones.
func orderGroups(o model.Order, defs []model.Field) []fieldGroup {
	core := map[string]string{"order_number": o.Number, "due_date": o.DueDate, "address": o.Address, "city": o.City, "county": o.County, "state": o.State}
	groups := []fieldGroup{
		{Name: "property", Heading: "Order and property", Fields: orderInputs(func(name string) string { return core[name] }, nil)},
		{Name: "details", Heading: "Details"}, {Name: "notes", Heading: "Notes"},
	}
	known := map[string]bool{}
	for i, in := range stored(defs, o.Custom) {
		known[defs[i].Key] = true
		at := &groups[1]
		if in.Type == model.Paragraph {
			at = &groups[2]
		}
		at.Fields = append(at.Fields, in)
	}
	for key, raw := range o.Custom {
		if !known[key] {
			groups[1].Kept = append(groups[1].Kept, newInput(model.Field{Key: key, Label: key, Type: model.Text}, texts(raw)))
		}
	}
	slices.SortFunc(groups[1].Kept, func(a, b input) int { return strings.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(groups, func(g fieldGroup) bool { return len(g.Fields)+len(g.Kept) == 0 })
}

// orderStatus gives it another status.
func (p *pages) orderStatus(w http.ResponseWriter, r *http.Request, who visitor) error {
	o, turn, err := p.turnOrder(r, who)
	if err != nil {
		return err
	}
	s, err := p.orderSheet(r.Context(), o)
	if err != nil {
		return err
	}
	if !isPart(r) {
		return p.seeUndo(w, r, s.Path, cmp.Or(turn.Clash, "Status set to “"+humane(o.Status)+"”."), turn.undo(s.Path, o.Status, s.Statuses))
	}
	s.Clash, s.Before = turn.Clash, turn.back(o.Status, s.Statuses)
	if err := p.orderRecent(r.Context(), &s); err != nil {
		return err
	}
	return p.part(w, r, who, http.StatusOK, "order.html", "order-turned", s)
}

// trashOrder moves it to the trash.
func (p *pages) trashOrder(w http.ResponseWriter, r *http.Request, who visitor) error {
	s, err := p.orderRead(r)
	if err != nil {
		return err
	}
	if err := p.Vault.Orders.Trash(r.Context(), who.Actor, s.ID, vault.Match{}); err != nil {
		return err
	}
	return p.seeUndo(w, r, "/orders", "Order “"+s.Number+"” is in the trash.", s.Path+"/restore")
}

// restoreOrder takes it out of the trash, as it was.
func (p *pages) restoreOrder(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := p.orderID(r)
	if err != nil {
		return err
	}
	o, err := p.Vault.Orders.Restore(r.Context(), who.Actor, id, vault.Keep[model.Order]{})
	if err != nil {
		return err
	}
	return p.see(w, r, p.orderPath(id), "Order “"+o.Number+"” is back.")
}

// mostRecent is how much of an order's history its page shows.
const mostRecent = 8

// orderRecent adds the newest of the history.
func (p *pages) orderRecent(ctx context.Context, s *orderSheet) error {
	log, err := p.orderEvents(ctx, s.ID, vault.Query{Limit: mostRecent})
	s.History, s.Earlier = linesOf(vault.History{Events: log.Items}, s.Fields), log.Next != nil
	return err
}

func (p *pages) orderEvents(ctx context.Context, id uint64, q vault.Query) (vault.Page[model.Event], error) {
	q.Filters, q.Descending = []vault.Filter{{Column: vault.ColumnRecord, Value: "order:" + strconv.FormatUint(id, 10)}}, true
	return p.Vault.Events.List(ctx, q)
}

// orderHistory shows all that was done to an order, a page at a time.
func (p *pages) orderHistory(w http.ResponseWriter, r *http.Request, who visitor) error {
	s, err := p.orderRead(r)
	if err != nil {
		return err
	}
	q := vault.Query{Limit: historyAPage}
	p.placed(r, url.Values{}, &q)
	log, err := p.orderEvents(r.Context(), s.ID, q)
	if err != nil {
		return err
	}
	view := struct {
		orderSheet
		Prev, Next string
	}{orderSheet: s}
	view.History = linesOf(vault.History{Events: log.Items}, s.Fields)
	view.Prev, view.Next = p.beside(r, url.Values{}, log.Prev, log.Next)
	return p.show(w, r, who, http.StatusOK, "orderhistory.html", page{Heading: "History of order " + s.Number, Section: "orders", Data: view, Styles: []string{"record.css"}})
}
