package search

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Abstracts searches abstracts and returns them with their documents. list has the filters of the list page. Those that the
// search index doesn't support are applied to the results, so a page can be short. list.MaxBytes is the maximum stored size
// of the page. Abstracts returns the same errors as Records.
func (s *Service) Abstracts(ctx context.Context, actor model.Actor, q Query, list vault.Query) (Page[vault.AbstractWithFiles], error) {
	q.Kind = vault.AbstractOps.Name
	return readPage(ctx, s, actor, q, func(t *store.Tx, ids []uint64) (page vault.Page[vault.AbstractWithFiles], consumed int, err error) {
		found, consumed, err := t.ListAbstractsByID(ids, unindexed(list), func(a *model.Abstract) bool {
			return q.Matches(filterValues(a.TemplateID, a.Property, a.Status), a.CreatedAt)
		})
		if err == nil {
			page, err = vault.ReadAbstractFiles(ctx, t, found)
		}
		return page, consumed, err
	})
}

// Orders searches orders. It is like Abstracts.
func (s *Service) Orders(ctx context.Context, actor model.Actor, q Query, list vault.Query) (Page[model.Order], error) {
	q.Kind = vault.OrderOps.Name
	return readPage(ctx, s, actor, q, func(t *store.Tx, ids []uint64) (vault.Page[model.Order], int, error) {
		return t.ListOrdersByID(ids, unindexed(list), func(o *model.Order) bool {
			return q.Matches(filterValues(0, o.Property, o.Status), o.CreatedAt)
		})
	})
}

// Files is the same as Abstracts for documents.
func (s *Service) Files(ctx context.Context, actor model.Actor, q Query, list vault.Query) (Page[model.File], error) {
	q.Kind = vault.FileOps.Name
	return readPage(ctx, s, actor, q, func(t *store.Tx, ids []uint64) (vault.Page[model.File], int, error) {
		// The other filters apply to the abstract of a file, and the index has already checked them.
		dates := Query{CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo}
		return t.ListFilesByID(ids, unindexed(list), func(f *model.File) bool { return dates.Matches(query.Document{}, f.CreatedAt) })
	})
}

// Instruments is the same as Abstracts for instruments. It finds them by Query.Text, Query.Party, or
// both.
func (s *Service) Instruments(ctx context.Context, actor model.Actor, q Query, list vault.Query) (Page[vault.InstrumentView], error) {
	q.Kind, q.Status = query.Instrument, "" // the index doesn't have the effective status
	list = s.vault.Instruments.StoreQuery(ctx, list)
	return readPage(ctx, s, actor, q, func(t *store.Tx, ids []uint64) (page vault.Page[vault.InstrumentView], consumed int, err error) {
		found, consumed, err := t.ListInstrumentsByID(ids, unindexed(list), func(i *model.Instrument) bool {
			return q.Matches(instrumentValues(i), i.CreatedAt)
		})
		if err == nil {
			page, err = s.vault.Instruments.Views(ctx, t, found)
		}
		return page, consumed, err
	})
}

// instrumentValues returns the values of an instrument that queries are filtered by.
func instrumentValues(i *model.Instrument) query.Document {
	return query.Document{DocumentType: i.TypeID, County: i.County, State: i.State}
}

// filterValues returns the values of a record that queries are filtered by.
func filterValues(template uint64, p model.Property, status string) query.Document {
	return query.Document{Template: template, County: p.County, State: p.State, Status: status}
}

// unindexed returns list with only the filters that the search index doesn't support.
func unindexed(list vault.Query) store.Query {
	filters := list.Filters
	list.Filters = nil
	for _, f := range filters {
		switch f.Column {
		case model.ColumnParty, model.ColumnCounty, model.ColumnState, model.ColumnStatus, model.ColumnTemplate, model.ColumnDocumentType:
		default:
			list.Filters = append(list.Filters, f)
		}
	}
	return list
}

// readPage searches records and reads them with read, which returns how many of the IDs it processed.
func readPage[T any](ctx context.Context, s *Service, actor model.Actor, q Query,
	read func(t *store.Tx, ids []uint64) (page vault.Page[T], consumed int, err error)) (m Page[T], err error) {
	q.SkipCounts = true
	err = s.runSearch(ctx, actor, q, func(_ context.Context, f indexResult) error {
		ids := make([]uint64, 0, len(f.result.Hits))
		for _, hit := range f.result.Hits {
			ids = append(ids, hit.ID)
		}
		return s.Store.View(ctx, func(t *store.Tx) error {
			page, consumed, err := read(t, ids)
			m = Page[T]{Items: page.Items, Offset: f.query.Offset, Bytes: page.Bytes, Truncated: page.Truncated}
			if consumed < len(ids) || f.more() {
				m.Next = f.query.Offset + consumed
			}
			m.Capped = m.Next == 0 && f.result.More
			return err
		})
	})
	return m, err
}
