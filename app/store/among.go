package store

import "deedkeep/app/model"

// ListAbstractsByID gives those of some records that a query leaves, in the order of their
// numbers here, and how many numbers it has gone through: fewer than all where the page
// is full. Of the query only the filters, bounds of creation, Limit and Bytes count; the
// page has no positions.
func (t *Tx) ListAbstractsByID(ids []uint64, q Query) (Page[model.Abstract], int, error) {
	return abstracts.listByIDs(t, ids, q)
}

// ListOrdersByID is ListAbstractsByID for orders.
func (t *Tx) ListOrdersByID(ids []uint64, q Query) (Page[model.Order], int, error) {
	return orders.listByIDs(t, ids, q)
}

// ListFilesByID is ListAbstractsByID for files.
func (t *Tx) ListFilesByID(ids []uint64, q Query) (Page[model.File], int, error) {
	return files.listByIDs(t, ids, q)
}

func (l *indexedTable[T]) listByIDs(t *Tx, ids []uint64, q Query) (page Page[T], gone int, err error) {
	j, possible, err := l.newPredicate(t, q)
	if err != nil || !possible {
		return page, len(ids), err
	}
	p := pageBuilder[T]{table: l, tx: t, query: q, predicate: &j}
	for _, id := range ids {
		v, ok := p.load(id, 0)
		if p.err != nil {
			return page, gone, p.err
		}
		if at := l.fields(&v).created; ok && (l.trashed(&v) != nil || at < j.createdFrom || at > j.createdTo) {
			ok = false
		}
		if ok && p.isFull(len(page.Items), id, &v) {
			break
		}
		if gone++; ok {
			page.Items = append(page.Items, v)
		}
	}
	page.Bytes, page.Truncated = p.bytes, p.truncated
	return page, gone, nil
}
