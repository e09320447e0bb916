package store

import "deedkeep/app/model"

// ListAbstractsByID gives those of some records that a query leaves, in the order of their
// numbers here, and how many numbers it has gone through: fewer than all where the page
// is full. Of the query only the filters, bounds of creation, Limit and Bytes count; the
// page has no positions.
func (t *Tx) ListAbstractsByID(ids []uint64, q Query) (Page[model.Abstract], int, error) {
	return abstracts.among(t, ids, q)
}

// ListOrdersByID is ListAbstractsByID for orders.
func (t *Tx) ListOrdersByID(ids []uint64, q Query) (Page[model.Order], int, error) {
	return orders.among(t, ids, q)
}

// ListFilesByID is ListAbstractsByID for files.
func (t *Tx) ListFilesByID(ids []uint64, q Query) (Page[model.File], int, error) {
	return files.among(t, ids, q)
}

func (l *listing[T]) among(t *Tx, ids []uint64, q Query) (page Page[T], gone int, err error) {
	j, possible, err := l.judgeOf(t, q)
	if err != nil || !possible {
		return page, len(ids), err
	}
	p := pager[T]{l: l, t: t, q: q, judge: &j}
	for _, id := range ids {
		v, ok := p.fetch(id, 0)
		if p.err != nil {
			return page, gone, p.err
		}
		if at := l.card(&v).created; ok && (l.trashed(&v) != nil || at < j.from || at > j.to) {
			ok = false
		}
		if ok && p.full(len(page.Items), id, &v) {
			break
		}
		if gone++; ok {
			page.Items = append(page.Items, v)
		}
	}
	page.Bytes, page.Truncated = p.bytes, p.cut
	return page, gone, nil
}
