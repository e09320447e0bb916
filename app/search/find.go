package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Hit is a record that people may have meant by a text.
type Hit struct {
	Noun           string // "order" or "abstract"
	ID             uint64
	Heading, Under string // what people know it by, and the line below
	Status         string
	DueDate        string // of an order
	Documents      int    // of an abstract
	CreatedAt      time.Time
	By             string // what was compared: "order_number", "file_number", "parcel" or "address"
	Value          string // of that
	Marked         int    // bytes of Value, from its beginning, that are the text
	Exact          bool   // it is the text; else it begins so
}

// HitGroup is the hits among the records of one noun, exact ones first.
type HitGroup struct {
	Noun string
	Hits []Hit
	More bool // there may be more than are here
}

// Found is what a text may mean; nouns without a hit are left out.
type Found struct {
	Text   string // trimmed
	Groups []HitGroup
}

// longestFind is beyond what any number or address has that is looked up.
const longestFind = 512

// Only gives the one record that is exactly the text, where there is just one.
func (f Found) Only() (only Hit, is bool) {
	n := 0
	for _, g := range f.Groups {
		for _, h := range g.Hits {
			if h.Exact {
				only = h
				n++
			}
		}
	}
	return only, n == 1
}

// Find looks for live orders and abstracts whose order number, file number, parcel or
// address is the text or begins with it; punctuation counts in order numbers alone. At
// most limit of each noun are given (MostFound where it is 0 or above). What it costs
// does not depend on how much is stored.
func (s *SearchService) Find(ctx context.Context, text string, limit int) (Found, error) {
	f := Found{Text: strings.TrimSpace(text)}
	if f.Text == "" || len(f.Text) > longestFind || !utf8.ValidString(f.Text) {
		return f, nil
	}
	if limit <= 0 || limit > vault.MaxFound {
		limit = vault.MaxFound
	}
	err := s.Store.View(ctx, func(t *store.Tx) error {
		orders, more, err := t.FindOrders(f.Text, limit)
		if err != nil {
			return err
		}
		f.add(vault.OrderOps.Name, more, hits(orders, orderHit), f.Text)
		abstracts, more, err := t.FindAbstracts(f.Text, limit)
		f.add(vault.AbstractOps.Name, more, hits(abstracts, s.abstractHit), f.Text)
		return err
	})
	return f, err
}

func (f *Found) add(noun string, more bool, hits []Hit, text string) {
	if len(hits) == 0 {
		return
	}
	for i := range hits {
		hits[i].Marked = marked(hits[i].Value, text, store.Sort(hits[i].By))
	}
	f.Groups = append(f.Groups, HitGroup{noun, hits, more})
}

func hits[T any](known []store.Match[T], hit func(*T, store.Sort) Hit) (list []Hit) {
	for i := range known {
		h := hit(&known[i].Record, known[i].By)
		h.By, h.Exact = string(known[i].By), known[i].Exact
		list = append(list, h)
	}
	return list
}

func orderHit(o *model.Order, by store.Sort) Hit {
	h := Hit{Noun: vault.OrderOps.Name, ID: o.ID, Heading: o.Number, Under: o.Subheading(), Status: o.Status, DueDate: o.DueDate, CreatedAt: o.CreatedAt}
	switch by {
	case store.SortOrderNumber:
		h.Value = o.Number
	case store.SortParcel:
		h.Value = o.ParcelID()
	default:
		h.Value = o.ShortAddress()
	}
	return h
}

func (s *SearchService) abstractHit(a *model.Abstract, by store.Sort) Hit {
	h := Hit{Noun: vault.AbstractOps.Name, ID: a.ID, Heading: s.vault.Heading(*a, model.Template{}), Under: a.Subheading(), Status: a.Status, Documents: len(a.Files), CreatedAt: a.CreatedAt}
	switch by {
	case store.SortFileNumber:
		h.Value = a.FileNumber()
	case store.SortParcel:
		h.Value = a.ParcelID()
	default:
		h.Value = a.ShortAddress()
	}
	return h
}

// marked is how many bytes of a value are the text, as it is compared.
func marked(value, text string, by store.Sort) int {
	form := model.NormalizeNumber
	switch by {
	case store.SortOrderNumber:
		form = model.Fold
	case store.SortAddress:
		form = model.NormalizeText
	}
	want := form(text)
	for end := range value {
		if form(value[:end]) == want {
			return end
		}
	}
	return len(value)
}

// mostRelated bounds what is shown beside a record.
const mostRelated = 10

// Related gives the other records of the same property as an order, by parcel or
// address, the newest first; a county or state that differs parts two, and of addresses
// the city.
func (s *SearchService) RelatedToOrder(ctx context.Context, order model.Order) (Found, error) {
	return s.related(ctx, vault.OrderOps.Name, order.ID, order.ParcelID(), order.Property)
}

// Related gives the other records of the same property as an abstract, as
// Orders.Related does: a prior search of a parcel saves days.
func (s *SearchService) RelatedToAbstract(ctx context.Context, abstract model.Abstract) (Found, error) {
	return s.related(ctx, vault.AbstractOps.Name, abstract.ID, abstract.ParcelID(), abstract.Property)
}

func (s *SearchService) related(ctx context.Context, noun string, id uint64, parcel string, at model.Property) (Found, error) {
	var f Found
	var orders []store.Match[model.Order]
	var abstracts []store.Match[model.Abstract]
	err := s.Store.View(ctx, func(t *store.Tx) error {
		for _, way := range []struct {
			by   store.Sort
			text string
		}{{store.SortParcel, parcel}, {store.SortAddress, at.LookupAddress()}} {
			found, _, err := t.FindOrders(way.text, vault.MaxFound)
			if err != nil {
				return err
			}
			orders = alike(orders, found, way.by, at, func(o *model.Order) (uint64, model.Property) { return o.ID, o.Property })
			others, _, err := t.FindAbstracts(way.text, vault.MaxFound)
			if err != nil {
				return err
			}
			abstracts = alike(abstracts, others, way.by, at, func(a *model.Abstract) (uint64, model.Property) { return a.ID, a.Property })
		}
		return nil
	})
	for _, g := range []HitGroup{{Noun: vault.OrderOps.Name, Hits: hits(orders, orderHit)}, {Noun: vault.AbstractOps.Name, Hits: hits(abstracts, s.abstractHit)}} {
		list := slices.DeleteFunc(g.Hits, func(h Hit) bool { return g.Noun == noun && h.ID == id })
		slices.SortFunc(list, func(a, b Hit) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
		f.add(g.Noun, len(list) > mostRelated, list[:min(len(list), mostRelated)], "")
	}
	return f, err
}

// alike adds those that are exactly what was asked for, in no other county.
func alike[T any](list, found []store.Match[T], by store.Sort, at model.Property, of func(*T) (uint64, model.Property)) []store.Match[T] {
	seen := map[uint64]bool{}
	for i := range list {
		id, _ := of(&list[i].Record)
		seen[id] = true
	}
	differs := func(a, b string) bool { return a != "" && b != "" && model.NormalizeText(a) != model.NormalizeText(b) }
	for i := range found {
		id, p := of(&found[i].Record)
		if found[i].Exact && found[i].By == by && !seen[id] && !differs(p.County, at.County) && !differs(p.State, at.State) &&
			(by == store.SortParcel || !differs(p.City, at.City)) {
			list = append(list, found[i])
		}
	}
	return list
}

// Of are the hits of a noun.
func (f Found) Of(noun string) []Hit {
	for _, g := range f.Groups {
		if g.Noun == noun {
			return g.Hits
		}
	}
	return nil
}

// SameNumber gives other live orders with the order's number, at most MostFound, and
// whether there are more: corrections and updates reuse numbers (API.md, "Orders").
func (s *SearchService) SameNumber(ctx context.Context, order model.Order) (list []model.Order, more bool, err error) {
	page, err := s.vault.Orders.List(ctx, vault.Query{Filters: []store.Filter{{Column: store.ColumnOrderNumber, Value: order.Number}}, Limit: vault.MaxFound + 1})
	for _, other := range page.Items {
		if other.ID != order.ID {
			list = append(list, other)
		}
	}
	return list[:min(len(list), vault.MaxFound)], len(list) > vault.MaxFound || page.Next != nil, err
}

// Called gives the orders that a query leaves, at most its Limit, and whose number,
// parcel or address is a text or begins with it, those that are it first; and whether
// there may be more. Of the query only its filters count.
func (s *SearchService) OrdersByNumber(ctx context.Context, text string, q vault.Query) (list []model.Order, more bool, err error) {
	err = s.Store.View(ctx, func(t *store.Tx) error {
		found, beyond, err := t.FindOrdersWhere(text, q)
		list, more = make([]model.Order, 0, len(found)), beyond
		for _, f := range found {
			list = append(list, f.Record)
		}
		return err
	})
	return list, more, err
}
