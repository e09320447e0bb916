package search

import (
	"context"
	"slices"
	"strconv"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// RecordPage is a page of complete records of one type, best match first. It may have fewer records
// than Query.Limit because deleted records are omitted and Query.Bytes limits the size.
type RecordPage[T any] struct {
	Items      []T
	Offset     int // Query.Offset of this page
	NextOffset int // Query.Offset of the next page; 0 if this is the last page
	Bytes      int // stored size of the records, including the files of abstracts
	Truncated  bool
}

// Abstracts searches abstracts and returns them with their documents. It returns the same errors as
// Records.
func (s *Service) Abstracts(ctx context.Context, actor model.Actor, q Query) (RecordPage[vault.AbstractWithFiles], error) {
	q.Kind = vault.AbstractOps.Name
	original := q
	return matches(ctx, s, actor, q, func(t *store.Tx, ids []uint64, q vault.Query) (page vault.Page[vault.AbstractWithFiles],
		consumed int, err error) {
		found, consumed, err := t.ListAbstractsByID(ids, q)
		if err != nil {
			return page, consumed, err
		}
		found.Items = slices.DeleteFunc(found.Items, func(a model.Abstract) bool { return !original.matchesCountyAndState(a.Property) })
		page, err = vault.ReadAbstractFiles(ctx, t, found)
		return page, consumed, err
	})
}

// Orders searches orders. It returns the same errors as Records.
func (s *Service) Orders(ctx context.Context, actor model.Actor, q Query) (RecordPage[model.Order], error) {
	q.Kind = vault.OrderOps.Name
	original := q
	return matches(ctx, s, actor, q, func(t *store.Tx, ids []uint64, q vault.Query) (vault.Page[model.Order], int, error) {
		page, consumed, err := t.ListOrdersByID(ids, q)
		page.Items = slices.DeleteFunc(page.Items, func(o model.Order) bool { return !original.matchesCountyAndState(o.Property) })
		return page, consumed, err
	})
}

// Files searches documents. It returns the same errors as Records.
func (s *Service) Files(ctx context.Context, actor model.Actor, q Query) (RecordPage[model.File], error) {
	q.Kind = vault.FileOps.Name
	return matches(ctx, s, actor, q, func(t *store.Tx, ids []uint64, q vault.Query) (vault.Page[model.File], int, error) {
		q.Filters = nil // the filters apply to the abstract of a file, and the index has already checked them
		return t.ListFilesByID(ids, q)
	})
}

func matches[T any](ctx context.Context, s *Service, actor model.Actor, q Query,
	read func(*store.Tx, []uint64, vault.Query) (vault.Page[T], int, error)) (m RecordPage[T], err error) {
	err = s.runSearch(ctx, actor, q, func(_ context.Context, f indexResult) error {
		ids := make([]uint64, 0, len(f.result.Hits))
		for _, hit := range f.result.Hits {
			ids = append(ids, hit.ID)
		}
		return s.Store.View(ctx, func(t *store.Tx) error {
			page, consumed, err := read(t, ids, f.query.listQuery())
			m = RecordPage[T]{Items: page.Items, Offset: f.query.Offset, Bytes: page.Bytes, Truncated: page.Truncated}
			if consumed < len(ids) || f.more() {
				m.NextOffset = f.query.Offset + consumed
			}
			return err
		})
	})
	return m, err
}

// listQuery returns the list query that reads the records of the hits and checks the filters again. It
// omits county and state because lists compare them exactly, whereas searches normalize them.
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
