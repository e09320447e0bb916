package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Group holds the hits of one record type.
type Group struct {
	Kind string
	Hits []Hit
	More bool // there may be more hits
}

// Groups are orders and abstracts found by number, parcel, or address. Groups without hits are omitted.
type Groups []Group

// maxFindBytes is the maximum length of a text. No longer number or address can match.
const maxFindBytes = 512

// SingleExact returns the exact hit. ok is false unless there is exactly one.
func (gr Groups) SingleExact() (only Hit, ok bool) {
	n := 0
	for _, g := range gr {
		for _, h := range g.Hits {
			if h.Exact {
				only = h
				n++
			}
		}
	}
	return only, n == 1
}

// ByKind returns the group of one record type, or the zero value if it has no hits.
func (gr Groups) ByKind(kind string) Group {
	for _, g := range gr {
		if g.Kind == kind {
			return g
		}
	}
	return Group{}
}

// Find returns live orders and abstracts with an order number, file number, parcel, or address that
// starts with text. Punctuation is significant only in order numbers. Exact hits come first. limit
// applies to each record type. Its default and maximum are vault.MaxFound. The cost does not depend on
// the number of records. Unlike Records, Find reads the database, so it also works without a search
// index and finds a record as soon as it is stored.
func (s *Service) Find(ctx context.Context, text string, limit int) (found Groups, err error) {
	if text = strings.TrimSpace(text); text == "" || len(text) > maxFindBytes || !utf8.ValidString(text) {
		return nil, nil
	}
	if limit <= 0 || limit > vault.MaxFound {
		limit = vault.MaxFound
	}
	found, err = store.Read(ctx, s.Store, func(t *store.Tx) (Groups, error) { return s.findIn(t, text, limit) })
	return slices.DeleteFunc(found, func(g Group) bool { return len(g.Hits) == 0 }), err
}

// findIn returns a group of orders and a group of abstracts, either of which may be empty.
func (s *Service) findIn(t *store.Tx, text string, limit int) (Groups, error) {
	orders, moreOrders, err := t.FindOrders(text, store.Query{Limit: limit})
	if err != nil {
		return nil, err
	}
	abstracts, moreAbstracts, err := t.FindAbstracts(text, store.Query{Limit: limit})
	found := Groups{{Kind: vault.OrderOps.Name, More: moreOrders}, {Kind: vault.AbstractOps.Name, More: moreAbstracts}}
	for i := range orders {
		m := &orders[i]
		h := orderHit(&m.Record)
		h.setMatch(m.By, m.Exact, m.Record.ParcelID(), m.Record.ShortAddress())
		found[0].Hits = append(found[0].Hits, h)
	}
	for i := range abstracts {
		m := &abstracts[i]
		h := s.abstractHit(t, &m.Record)
		h.setMatch(m.By, m.Exact, m.Record.ParcelID(), m.Record.ShortAddress())
		found[1].Hits = append(found[1].Hits, h)
	}
	return found, err
}

// setMatch sets the field by which Find found the record.
func (h *Hit) setMatch(by model.Sort, exact bool, parcel, address string) {
	h.Field, h.Exact = string(by), exact
	switch by {
	case model.SortParcel:
		h.Value = parcel
	case model.SortAddress:
		h.Value = address
	default:
		h.Value = h.Heading // the order number or file number
	}
}

// maxRelated is the maximum number of related records of each type.
const maxRelated = 10

// RelatedToOrder returns the other records of the same property as an order, newest first. They have
// the same parcel or address. Records in a different county or state are excluded, as are records with
// the same address in a different city.
func (s *Service) RelatedToOrder(ctx context.Context, order model.Order) (Groups, error) {
	return s.related(ctx, vault.OrderOps.Name, order.ID, order.ParcelID(), order.Property)
}

// RelatedToAbstract returns the other records of the same property as an abstract, by the rules of
// RelatedToOrder.
func (s *Service) RelatedToAbstract(ctx context.Context, abstract model.Abstract) (Groups, error) {
	return s.related(ctx, vault.AbstractOps.Name, abstract.ID, abstract.ParcelID(), abstract.Property)
}

func (s *Service) related(ctx context.Context, kind string, id uint64, parcel string, property model.Property) (related Groups, err error) {
	err = s.Store.View(ctx, func(t *store.Tx) error {
		related = Groups{{Kind: vault.OrderOps.Name}, {Kind: vault.AbstractOps.Name}}
		for _, key := range []struct {
			by   model.Sort
			text string
		}{{model.SortParcel, parcel}, {model.SortAddress, property.LookupAddress()}} {
			found, err := s.findIn(t, key.text, vault.MaxFound)
			if err != nil {
				return err
			}
			for i := range found {
				for _, h := range found[i].Hits {
					known := func(other Hit) bool { return other.ID == h.ID }
					if h.Exact && h.Field == string(key.by) && (h.Kind != kind || h.ID != id) && mayBeSameProperty(h.property, property, key.by) &&
						!slices.ContainsFunc(related[i].Hits, known) {
						related[i].Hits = append(related[i].Hits, h)
					}
				}
			}
		}
		return nil
	})
	for i := range related {
		g := &related[i]
		slices.SortFunc(g.Hits, func(a, b Hit) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
		g.More, g.Hits = len(g.Hits) > maxRelated, g.Hits[:min(len(g.Hits), maxRelated)]
	}
	return slices.DeleteFunc(related, func(g Group) bool { return len(g.Hits) == 0 }), err
}

// mayBeSameProperty reports whether two properties with the same parcel or address are not in a
// different county or state, or, for the same address, in a different city.
func mayBeSameProperty(a, b model.Property, by model.Sort) bool {
	differs := func(a, b string, fold func(string) string) bool {
		a, b = fold(a), fold(b)
		return a != "" && b != "" && a != b
	}
	return !differs(a.County, b.County, model.FoldCounty) && !differs(a.State, b.State, model.FoldState) &&
		(by == model.SortParcel || !differs(a.City, b.City, model.NormalizeText))
}

// SameNumber returns other live orders with the same order number, up to a limit. more reports whether
// there are others. Order numbers are not unique because corrections and updates reuse them.
func (s *Service) SameNumber(ctx context.Context, order model.Order) (list []model.Order, more bool, err error) {
	page, err := s.vault.Orders.List(ctx,
		vault.Query{Filters: []store.Filter{{Column: model.ColumnOrderNumber, Value: order.Number}}, Limit: vault.MaxFound + 1})
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
	return byNumber(ctx, s, text, q, (*store.Tx).FindOrders)
}

// AbstractsByNumber is the same as OrdersByNumber for abstracts and their file numbers.
func (s *Service) AbstractsByNumber(ctx context.Context, text string, q vault.Query) (list []model.Abstract, more bool, err error) {
	return byNumber(ctx, s, text, q, (*store.Tx).FindAbstracts)
}

func byNumber[T any](ctx context.Context, s *Service, text string, q vault.Query,
	find func(*store.Tx, string, store.Query) ([]store.Match[T], bool, error)) (list []T, more bool, err error) {
	err = s.Store.View(ctx, func(t *store.Tx) error {
		found, hasMore, err := find(t, text, q)
		list, more = make([]T, 0, len(found)), hasMore
		for _, f := range found {
			list = append(list, f.Record)
		}
		return err
	})
	return list, more, err
}
