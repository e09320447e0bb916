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

// FindHit is a record that people may have meant by a text.
type FindHit struct {
	Kind                string // "order" or "abstract"
	ID                  uint64
	Heading, Subheading string // what people know it by, and the line below
	Status              string
	DueDate             string // of an order
	Documents           int    // of an abstract
	CreatedAt           time.Time
	Field               string // what was compared: "order_number", "file_number", "parcel" or "address"
	Value               string // of that
	MatchLen            int    // bytes of Value, from its beginning, that are the text
	Exact               bool   // it is the text; else it begins so
}

// FindGroup is the hits among the records of one noun, exact ones first.
type FindGroup struct {
	Kind string
	Hits []FindHit
	More bool // there may be more than are here
}

// FindResult is what a text may mean; nouns without a hit are left out.
type FindResult struct {
	Text   string // trimmed
	Groups []FindGroup
}

// maxFindBytes is beyond what any number or address has that is looked up.
const maxFindBytes = 512

// SingleExact gives the one record that is exactly the text, where there is just one.
func (f FindResult) SingleExact() (only FindHit, is bool) {
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
func (s *Service) Find(ctx context.Context, text string, limit int) (FindResult, error) {
	f := FindResult{Text: strings.TrimSpace(text)}
	if f.Text == "" || len(f.Text) > maxFindBytes || !utf8.ValidString(f.Text) {
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
		f.add(vault.OrderOps.Name, more, toHits(orders, orderHit), f.Text)
		abstracts, more, err := t.FindAbstracts(f.Text, limit)
		f.add(vault.AbstractOps.Name, more, toHits(abstracts, s.abstractHit), f.Text)
		return err
	})
	return f, err
}

func (f *FindResult) add(noun string, more bool, hits []FindHit, text string) {
	if len(hits) == 0 {
		return
	}
	for i := range hits {
		hits[i].MatchLen = matchLength(hits[i].Value, text, store.Sort(hits[i].Field))
	}
	f.Groups = append(f.Groups, FindGroup{noun, hits, more})
}

func toHits[T any](known []store.Match[T], hit func(*T, store.Sort) FindHit) (list []FindHit) {
	for i := range known {
		h := hit(&known[i].Record, known[i].By)
		h.Field, h.Exact = string(known[i].By), known[i].Exact
		list = append(list, h)
	}
	return list
}

func orderHit(o *model.Order, by store.Sort) FindHit {
	h := FindHit{Kind: vault.OrderOps.Name, ID: o.ID, Heading: o.Number, Subheading: o.Subheading(), Status: o.Status, DueDate: o.DueDate, CreatedAt: o.CreatedAt}
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

func (s *Service) abstractHit(a *model.Abstract, by store.Sort) FindHit {
	h := FindHit{Kind: vault.AbstractOps.Name, ID: a.ID, Heading: s.vault.Heading(*a, model.Template{}), Subheading: a.Subheading(), Status: a.Status, Documents: len(a.Files), CreatedAt: a.CreatedAt}
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

// matchLength is how many bytes of a value are the text, as it is compared.
func matchLength(value, text string, by store.Sort) int {
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

// maxRelated bounds what is shown beside a record.
const maxRelated = 10

// Related gives the other records of the same property as an order, by parcel or
// address, the newest first; a county or state that differs parts two, and of addresses
// the city.
func (s *Service) RelatedToOrder(ctx context.Context, order model.Order) (FindResult, error) {
	return s.related(ctx, vault.OrderOps.Name, order.ID, order.ParcelID(), order.Property)
}

// Related gives the other records of the same property as an abstract, as
// Orders.Related does: a prior search of a parcel saves days.
func (s *Service) RelatedToAbstract(ctx context.Context, abstract model.Abstract) (FindResult, error) {
	return s.related(ctx, vault.AbstractOps.Name, abstract.ID, abstract.ParcelID(), abstract.Property)
}

func (s *Service) related(ctx context.Context, noun string, id uint64, parcel string, at model.Property) (FindResult, error) {
	var f FindResult
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
			orders = appendSameProperty(orders, found, way.by, at, func(o *model.Order) (uint64, model.Property) { return o.ID, o.Property })
			others, _, err := t.FindAbstracts(way.text, vault.MaxFound)
			if err != nil {
				return err
			}
			abstracts = appendSameProperty(abstracts, others, way.by, at, func(a *model.Abstract) (uint64, model.Property) { return a.ID, a.Property })
		}
		return nil
	})
	for _, g := range []FindGroup{{Kind: vault.OrderOps.Name, Hits: toHits(orders, orderHit)}, {Kind: vault.AbstractOps.Name, Hits: toHits(abstracts, s.abstractHit)}} {
		list := slices.DeleteFunc(g.Hits, func(h FindHit) bool { return g.Kind == noun && h.ID == id })
		slices.SortFunc(list, func(a, b FindHit) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
		f.add(g.Kind, len(list) > maxRelated, list[:min(len(list), maxRelated)], "")
	}
	return f, err
}

// appendSameProperty adds those that are exactly what was asked for, in no other county.
func appendSameProperty[T any](list, found []store.Match[T], by store.Sort, at model.Property, of func(*T) (uint64, model.Property)) []store.Match[T] {
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

// ByKind are the hits of a noun.
func (f FindResult) ByKind(noun string) []FindHit {
	for _, g := range f.Groups {
		if g.Kind == noun {
			return g.Hits
		}
	}
	return nil
}

// SameNumber gives other live orders with the order's number, at most MostFound, and
// whether there are more: corrections and updates reuse numbers (API.md, "Orders").
func (s *Service) SameNumber(ctx context.Context, order model.Order) (list []model.Order, more bool, err error) {
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
func (s *Service) OrdersByNumber(ctx context.Context, text string, q vault.Query) (list []model.Order, more bool, err error) {
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
