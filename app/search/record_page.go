package search

import (
	"context"
	"slices"
	"strconv"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// RecordPage are whole records of one kind that a text is found in, the best first; fewer
// than were asked for as Page tells, or where Query.Bytes ends.
type RecordPage[T any] struct {
	Items      []T
	Offset     int // Query.Offset of the first hit looked at
	NextOffset int // Query.Offset that goes on; 0: there is no more
	Bytes      int // of the records as they are stored, an abstract's with those of its files
	Truncated  bool
}

// Search looks for abstracts, each with its documents, as Vault.Search does.
func (s *Service) Abstracts(ctx context.Context, actor model.Actor, q Query) (RecordPage[vault.AbstractWithFiles], error) {
	q.Kind = vault.AbstractOps.Name
	asked := q
	return matches(ctx, s, actor, q, func(t *store.Tx, ids []uint64, q vault.Query) (page vault.Page[vault.AbstractWithFiles], gone int, err error) {
		found, gone, err := t.ListAbstractsByID(ids, q)
		if err != nil {
			return page, gone, err
		}
		found.Items = slices.DeleteFunc(found.Items, func(a model.Abstract) bool { return !asked.matchesPlace(a.Property) })
		page, err = vault.ReadAbstractFiles(ctx, t, found)
		return page, gone, err
	})
}

// Search looks for orders as Vault.Search does.
func (s *Service) Orders(ctx context.Context, actor model.Actor, q Query) (RecordPage[model.Order], error) {
	q.Kind = vault.OrderOps.Name
	asked := q
	return matches(ctx, s, actor, q, func(t *store.Tx, ids []uint64, q vault.Query) (vault.Page[model.Order], int, error) {
		page, gone, err := t.ListOrdersByID(ids, q)
		page.Items = slices.DeleteFunc(page.Items, func(o model.Order) bool { return !asked.matchesPlace(o.Property) })
		return page, gone, err
	})
}

// Search looks for documents as Vault.Search does.
func (s *Service) Files(ctx context.Context, actor model.Actor, q Query) (RecordPage[model.File], error) {
	q.Kind = vault.FileOps.Name
	return matches(ctx, s, actor, q, func(t *store.Tx, ids []uint64, q vault.Query) (vault.Page[model.File], int, error) {
		q.Filters = nil // they have none of these themselves, but through their abstracts
		return t.ListFilesByID(ids, q)
	})
}

func matches[T any](ctx context.Context, s *Service, actor model.Actor, q Query, read func(*store.Tx, []uint64, vault.Query) (vault.Page[T], int, error)) (m RecordPage[T], err error) {
	err = s.runSearch(ctx, actor, q, func(_ context.Context, f indexResult) error {
		ids := make([]uint64, 0, len(f.result.Hits))
		for _, hit := range f.result.Hits {
			ids = append(ids, hit.ID)
		}
		return s.Store.View(ctx, func(t *store.Tx) error {
			page, gone, err := read(t, ids, f.query.listQuery())
			m = RecordPage[T]{Items: page.Items, Offset: f.query.Offset, Bytes: page.Bytes, Truncated: page.Truncated}
			if gone < len(ids) || f.more() {
				m.NextOffset = f.query.Offset + gone
			}
			return err
		})
	})
	return m, err
}

// listQuery is the query with which live records are judged once more, but for their place:
// lists compare that letter by letter.
func (q *Query) listQuery() vault.Query {
	out := vault.Query{CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Limit: q.Limit, MaxBytes: q.Bytes}
	if q.Status != "" {
		out.Filters = append(out.Filters, vault.Filter{Column: vault.ColumnStatus, Value: q.Status})
	}
	if q.Template != 0 {
		out.Filters = append(out.Filters, vault.Filter{Column: vault.ColumnTemplate, Value: strconv.FormatUint(q.Template, 10)})
	}
	return out
}
