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

// FindHit is an order or abstract with a number, parcel, or address that matches a text.
type FindHit struct {
	Kind                string // "order" or "abstract"
	ID                  uint64
	Heading, Subheading string // how users identify the record, and a second line
	Status              string
	DueDate             string // of an order
	Documents           int    // of an abstract
	CreatedAt           time.Time
	Field               string // the matching field: "order_number", "file_number", "parcel", or "address"
	Value               string // value of Field
	MatchLen            int    // number of bytes at the start of Value that match
	Exact               bool   // the complete Value matches, not only a prefix
}

// FindGroup holds the hits of one record type. Exact hits come first.
type FindGroup struct {
	Kind string
	Hits []FindHit
	More bool // there may be more hits
}

// FindResult is the result of Find. Groups without hits are omitted.
type FindResult struct {
	Text   string // the searched text, trimmed
	Groups []FindGroup
}

// maxFindBytes is the maximum length of a text. No longer number or address can match.
const maxFindBytes = 512

// SingleExact returns the exact hit. ok is false unless there is exactly one.
func (f FindResult) SingleExact() (only FindHit, ok bool) {
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

// Find returns live orders and abstracts with an order number, file number, parcel, or address that
// starts with text. Punctuation is significant only in order numbers. limit applies to each record
// type. Its default and maximum are vault.MaxFound. The cost does not depend on the number of records.
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

func (f *FindResult) add(kind string, more bool, hits []FindHit, text string) {
	if len(hits) == 0 {
		return
	}
	for i := range hits {
		hits[i].MatchLen = matchLength(hits[i].Value, text, store.Sort(hits[i].Field))
	}
	f.Groups = append(f.Groups, FindGroup{kind, hits, more})
}

func toHits[T any](matches []store.Match[T], hit func(*T, store.Sort) FindHit) (list []FindHit) {
	for i := range matches {
		h := hit(&matches[i].Record, matches[i].By)
		h.Field, h.Exact = string(matches[i].By), matches[i].Exact
		list = append(list, h)
	}
	return list
}

func orderHit(o *model.Order, by store.Sort) FindHit {
	h := FindHit{Kind: vault.OrderOps.Name, ID: o.ID, Heading: o.Number, Subheading: o.Subheading(), Status: o.Status,
		DueDate: o.DueDate, CreatedAt: o.CreatedAt}
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
	h := FindHit{Kind: vault.AbstractOps.Name, ID: a.ID, Heading: s.vault.Heading(*a, model.Template{}), Subheading: a.Subheading(),
		Status: a.Status, Documents: len(a.Files), CreatedAt: a.CreatedAt}
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

// matchLength returns the number of bytes at the start of value that match text. Both are normalized in
// the same way as for the lookup.
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

// maxRelated is the maximum number of related records of each type.
const maxRelated = 10

// RelatedToOrder returns the other records of the same property as an order, newest first. They have
// the same parcel or address. Records in a different county or state are excluded, as are records with
// the same address in a different city.
func (s *Service) RelatedToOrder(ctx context.Context, order model.Order) (FindResult, error) {
	return s.related(ctx, vault.OrderOps.Name, order.ID, order.ParcelID(), order.Property)
}

// RelatedToAbstract returns the other records of the same property as an abstract, by the rules of
// RelatedToOrder.
func (s *Service) RelatedToAbstract(ctx context.Context, abstract model.Abstract) (FindResult, error) {
	return s.related(ctx, vault.AbstractOps.Name, abstract.ID, abstract.ParcelID(), abstract.Property)
}

func (s *Service) related(ctx context.Context, kind string, id uint64, parcel string, property model.Property) (FindResult, error) {
	var f FindResult
	var orders []store.Match[model.Order]
	var abstracts []store.Match[model.Abstract]
	err := s.Store.View(ctx, func(t *store.Tx) error {
		for _, key := range []struct {
			by   store.Sort
			text string
		}{{store.SortParcel, parcel}, {store.SortAddress, property.LookupAddress()}} {
			found, _, err := t.FindOrders(key.text, vault.MaxFound)
			if err != nil {
				return err
			}
			orders = appendSameProperty(orders, found, key.by, property, func(o *model.Order) (uint64, model.Property) { return o.ID, o.Property })
			foundAbstracts, _, err := t.FindAbstracts(key.text, vault.MaxFound)
			if err != nil {
				return err
			}
			abstracts = appendSameProperty(abstracts, foundAbstracts, key.by, property,
				func(a *model.Abstract) (uint64, model.Property) { return a.ID, a.Property })
		}
		return nil
	})
	for _, g := range []FindGroup{{Kind: vault.OrderOps.Name, Hits: toHits(orders, orderHit)},
		{Kind: vault.AbstractOps.Name, Hits: toHits(abstracts, s.abstractHit)}} {
		list := slices.DeleteFunc(g.Hits, func(h FindHit) bool { return g.Kind == kind && h.ID == id })
		slices.SortFunc(list, func(a, b FindHit) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
		f.add(g.Kind, len(list) > maxRelated, list[:min(len(list), maxRelated)], "")
	}
	return f, err
}

// appendSameProperty appends to list the exact matches in found that are not in list yet and that are
// not in a different county, state, or city.
func appendSameProperty[T any](list, found []store.Match[T], by store.Sort, property model.Property,
	idAndProperty func(*T) (uint64, model.Property)) []store.Match[T] {
	seen := map[uint64]bool{}
	for i := range list {
		id, _ := idAndProperty(&list[i].Record)
		seen[id] = true
	}
	differs := func(a, b string) bool { return a != "" && b != "" && model.NormalizeText(a) != model.NormalizeText(b) }
	for i := range found {
		id, p := idAndProperty(&found[i].Record)
		if found[i].Exact && found[i].By == by && !seen[id] && !differs(p.County, property.County) && !differs(p.State, property.State) &&
			(by == store.SortParcel || !differs(p.City, property.City)) {
			list = append(list, found[i])
		}
	}
	return list
}

// ByKind returns the hits of one record type.
func (f FindResult) ByKind(kind string) []FindHit {
	for _, g := range f.Groups {
		if g.Kind == kind {
			return g.Hits
		}
	}
	return nil
}

// SameNumber returns other live orders with the same order number, up to a limit. more reports whether
// there are others. Order numbers are not unique because corrections and updates reuse them.
func (s *Service) SameNumber(ctx context.Context, order model.Order) (list []model.Order, more bool, err error) {
	page, err := s.vault.Orders.List(ctx,
		vault.Query{Filters: []store.Filter{{Column: store.ColumnOrderNumber, Value: order.Number}}, Limit: vault.MaxFound + 1})
	for _, other := range page.Items {
		if other.ID != order.ID {
			list = append(list, other)
		}
	}
	return list[:min(len(list), vault.MaxFound)], len(list) > vault.MaxFound || page.Next != nil, err
}

// OrdersByNumber returns up to q.Limit orders that match the filters of q and whose number, parcel, or
// address starts with text. Exact matches come first. more reports whether there may be others. The
// other fields of q are ignored.
func (s *Service) OrdersByNumber(ctx context.Context, text string, q vault.Query) (list []model.Order, more bool, err error) {
	err = s.Store.View(ctx, func(t *store.Tx) error {
		found, hasMore, err := t.FindOrdersWhere(text, q)
		list, more = make([]model.Order, 0, len(found)), hasMore
		for _, f := range found {
			list = append(list, f.Record)
		}
		return err
	})
	return list, more, err
}
