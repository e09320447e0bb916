package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/model"
)

// maxFindScan is how many entries of one kind are looked at to find out whether records
// are called by a text.
const maxFindScan = 200

// maxFilteredFindScan is maxFindScan where filters may leave few of them.
const maxFilteredFindScan = 2_000

// Match is a record that is called by a text: by all of it, or it begins so.
type Match[T any] struct {
	Record T
	By     Sort // SortOrderNumber, SortFileNumber, SortParcel or SortAddress
	Exact  bool
}

// FindAbstracts gives at most limit live abstracts whose file number, parcel or address
// is a text or begins with it, those that are it first, and whether there may be
// more. A text without a letter or digit finds nothing.
func (t *Tx) FindAbstracts(text string, limit int) (list []Match[model.Abstract], more bool, err error) {
	return abstracts.findMatches(t, text, Query{Limit: limit})
}

// FindAbstractsWhere is FindAbstracts among those that a query leaves, at most its Limit:
// of a query only the filters of ListAbstracts count.
func (t *Tx) FindAbstractsWhere(text string, q Query) (list []Match[model.Abstract], more bool, err error) {
	return abstracts.findMatches(t, text, q)
}

// FindOrders is FindAbstracts for order number, parcel and address of orders. An order
// number is compared with its punctuation.
func (t *Tx) FindOrders(text string, limit int) (list []Match[model.Order], more bool, err error) {
	return orders.findMatches(t, text, Query{Limit: limit})
}

// FindOrdersWhere is FindAbstractsWhere for FindOrders, with the filters of ListOrders.
func (t *Tx) FindOrdersWhere(text string, q Query) (list []Match[model.Order], more bool, err error) {
	return orders.findMatches(t, text, q)
}

// matchSource is one way to call records of a list.
type matchSource[T any] struct {
	by            Sort
	bucket        *bolt.Bucket
	tag           byte
	prefix        string // of the key's text: all of want, or as much of it as keys have
	matches       func(*T) (begins, exact bool)
	hasExactForms bool // ways to write all of it
}

func (l *indexedTable[T]) findMatches(t *Tx, text string, q Query) (list []Match[T], more bool, err error) {
	if t.isRebuilding() {
		return nil, false, errRebuilding
	}
	j, possible, err := l.newPredicate(t, q)
	if err != nil || !possible {
		return nil, false, err
	}
	g := matchCollector[T]{limit: q.Limit, maxScan: maxFindScan, predicate: &j, seen: map[uint64]bool{}}
	if len(q.Filters) > 0 || j.hasDue || j.openOnly || !q.CreatedFrom.IsZero() || !q.CreatedTo.IsZero() {
		g.maxScan = maxFilteredFindScan
	}
	for _, way := range l.matchSources(t, text) {
		if err := g.collect(t, l, &way); err != nil {
			return nil, false, err
		}
	}
	g.prefixed = slices.DeleteFunc(g.prefixed, func(k Match[T]) bool { return g.seen[l.fields(&k.Record).id] })
	list = slices.Concat(g.exact, g.prefixed)
	return list[:min(len(list), q.Limit)], g.more || len(list) > q.Limit, nil
}

// matchCollector is what was found so far.
type matchCollector[T any] struct {
	limit, maxScan  int
	predicate       *predicate
	exact, prefixed []Match[T]
	seen            map[uint64]bool // true: among the exact ones
	more            bool
}

// collect looks at the entries whose text begins with the prefix, in their order. Those
// that are it come first, unless there are several ways to write it.
func (g *matchCollector[T]) collect(t *Tx, l *indexedTable[T], w *matchSource[T]) error {
	prefix := append([]byte{w.tag}, w.prefix...)
	c, found := w.bucket.Cursor(), 0
	k, _ := c.Seek(prefix)
	for steps := g.maxScan; bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		if steps--; steps < 0 || !w.hasExactForms && found > g.limit {
			g.more = true
			return nil
		}
		if len(k) <= keySuffixSize {
			continue // Check reports it
		}
		id := binary.BigEndian.Uint64(k[len(k)-8:])
		v, ok, err := l.find(t, id)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		starts, whole := w.matches(&v)
		if !ok || !starts {
			continue // Check reports it, or the key is only as long as it is
		}
		if at := l.fields(&v).created; at < g.predicate.createdFrom || at > g.predicate.createdTo || !l.matches(&v, g.predicate) {
			continue
		}
		found++
		exact, known := g.seen[id]
		switch {
		case whole && !exact:
			g.exact = append(g.exact, Match[T]{v, w.by, true})
		case !whole && !known:
			g.prefixed = append(g.prefixed, Match[T]{v, w.by, false})
		}
		g.seen[id] = exact || whole
		if err := t.canceled(); err != nil {
			return err
		}
	}
	return nil
}

// matchSources are those that the text can be meant in.
func (l *indexedTable[T]) matchSources(t *Tx, text string) (ways []matchSource[T]) {
	if want := fold(text); want != "" && strings.IndexByte(l.columnTags, tagNumber) >= 0 {
		ways = append(ways, matchSource[T]{SortOrderNumber, t.bucket(l.indexBucket), tagNumber, want, func(v *T) (bool, bool) {
			have := l.fields(v).orderNumber
			return strings.HasPrefix(have, want), have == want
		}, false})
	}
	for i, x := range l.textSorts {
		want := x.normalize(text)
		if want == "" {
			continue
		}
		ways = append(ways, matchSource[T]{x.sort, t.bucket(l.sortLayout.indexBucket), l.sortLayout.sortTags[i], want[:min(len(want), maxTextKey)], func(v *T) (bool, bool) {
			exact := x.normalize(x.text(v)) == want
			if x.exactForms != nil {
				exact = slices.ContainsFunc(x.exactForms(v), func(s string) bool { return x.normalize(s) == want })
			}
			return strings.HasPrefix(x.normalize(x.text(v)), want), exact
		}, x.exactForms != nil})
	}
	return ways
}
