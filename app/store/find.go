package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"deedkeep/app/model"
)

// maxFindScan is the maximum number of entries that are read from each source to find
// matches.
const maxFindScan = 200

// maxFilteredFindScan is used instead of maxFindScan if there are filters, which may
// exclude most records.
const maxFilteredFindScan = 2_000

// Match is a record whose number, parcel, or address equals the search text or starts with
// it.
type Match[T any] struct {
	Record T
	By     model.Sort // model.SortOrderNumber, model.SortFileNumber, model.SortParcel, or model.SortAddress
	Exact  bool
}

// FindAbstracts returns up to q.Limit live abstracts whose file number, parcel, or address
// equals text or starts with it. Exact matches come first. more reports whether there may
// be more matches. If text doesn't contain a letter or digit, there are no matches. Only
// the filters, date ranges, and Limit of q are used.
func (t *Tx) FindAbstracts(text string, q Query) (list []Match[model.Abstract], more bool, err error) {
	return abstracts.findMatches(t, text, q)
}

// FindOrders is like FindAbstracts but searches for the order number, parcel, or address of
// an order. The punctuation of an order number must match. It supports the filters of
// ListOrders.
func (t *Tx) FindOrders(text string, q Query) (list []Match[model.Order], more bool, err error) {
	return orders.findMatches(t, text, q)
}

// matchSource is a range of an index that may contain matches for a text.
type matchSource[T any] struct {
	by            model.Sort
	bucket        *bucket
	tag           byte
	prefix        string // normalized text, cut to the maximum length of a text in a key
	matches       func(*T) (hasPrefix, exact bool)
	hasExactForms bool // a record has several texts that count as exact matches, so exact matches don't always come first in the index
}

// findMatches implements FindAbstracts for any type.
func (it *indexedTable[T]) findMatches(t *Tx, text string, q Query) (list []Match[T], more bool, err error) {
	if t.isRebuilding() {
		return nil, false, errRebuilding
	}
	pred, possible, err := it.newPredicate(t, q)
	if err != nil || !possible {
		return nil, false, err
	}
	c := matchCollector[T]{limit: q.Limit, maxScan: maxFindScan, predicate: &pred, exactByID: map[uint64]bool{}}
	if len(q.Filters) > 0 || pred.hasDue || pred.openOnly || !q.CreatedFrom.IsZero() || !q.CreatedTo.IsZero() {
		c.maxScan = maxFilteredFindScan
	}
	for _, source := range it.matchSources(t, text) {
		if err := c.collect(t, it, &source); err != nil {
			return nil, false, err
		}
	}
	c.prefixed = slices.DeleteFunc(c.prefixed, func(k Match[T]) bool { return c.exactByID[it.fields(&k.Record).id] })
	list = slices.Concat(c.exact, c.prefixed)
	return list[:min(len(list), q.Limit)], c.more || len(list) > q.Limit, nil
}

// matchCollector collects the matches from several sources.
type matchCollector[T any] struct {
	limit, maxScan  int
	predicate       *predicate
	exact, prefixed []Match[T]
	exactByID       map[uint64]bool // IDs of the records found; the value is true if the match is exact
	more            bool
}

// collect adds the records whose text in the source's index starts with the prefix, in
// index order. Exact matches come first in the index unless the source has exact forms.
func (m *matchCollector[T]) collect(t *Tx, l *indexedTable[T], source *matchSource[T]) error {
	prefix := append([]byte{source.tag}, source.prefix...)
	cursor, found := source.bucket.Cursor(), 0
	k, _ := cursor.Seek(prefix)
	for budget := m.maxScan; bytes.HasPrefix(k, prefix); k, _ = cursor.Next() {
		if budget--; budget < 0 || !source.hasExactForms && found > m.limit {
			m.more = true
			return nil
		}
		if len(k) <= keySuffixSize {
			continue // invalid key; Check reports it
		}
		id := binary.BigEndian.Uint64(k[len(k)-8:])
		v, ok, err := l.find(t, id)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		hasPrefix, isExact := source.matches(&v)
		if !ok || !hasPrefix {
			continue // the record is missing (Check reports it) or matches only in the part that is in the key
		}
		if created := l.fields(&v).created; created < m.predicate.createdFrom || created > m.predicate.createdTo || !l.matches(&v, m.predicate) {
			continue
		}
		found++
		wasExact, wasFound := m.exactByID[id]
		switch {
		case isExact && !wasExact:
			m.exact = append(m.exact, Match[T]{v, source.by, true})
		case !isExact && !wasFound:
			m.prefixed = append(m.prefixed, Match[T]{v, source.by, false})
		}
		m.exactByID[id] = wasExact || isExact
		if err := t.canceled(); err != nil {
			return err
		}
	}
	return nil
}

// matchSources returns the index ranges that may contain matches for text.
func (it *indexedTable[T]) matchSources(t *Tx, text string) (sources []matchSource[T]) {
	if want := fold(text); want != "" && strings.IndexByte(it.columnTags, tagNumber) >= 0 {
		sources = append(sources, matchSource[T]{model.SortOrderNumber, t.bucket(it.indexBucket), tagNumber, want,
			func(v *T) (bool, bool) {
				have := it.fields(v).orderNumber
				return strings.HasPrefix(have, want), have == want
			}, false})
	}
	for i, sort := range it.textSorts {
		want := sort.normalize(text)
		if want == "" {
			continue
		}
		sources = append(sources, matchSource[T]{sort.sort, t.bucket(it.sortLayout.indexBucket), it.sortLayout.sortTags[i],
			want[:min(len(want), maxTextKey)], func(v *T) (bool, bool) {
				exact := sort.normalize(sort.text(v)) == want
				if sort.exactForms != nil {
					exact = slices.ContainsFunc(sort.exactForms(v), func(s string) bool { return sort.normalize(s) == want })
				}
				return strings.HasPrefix(sort.normalize(sort.text(v)), want), exact
			}, sort.exactForms != nil})
	}
	return sources
}
