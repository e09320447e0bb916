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

// findSteps is how many entries of one kind are looked at to find out whether records
// are called by a text.
const findSteps = 200

// siftSteps is findSteps where filters may leave few of them.
const siftSteps = 2_000

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
	return abstracts.known(t, text, Query{Limit: limit})
}

// FindAbstractsWhere is FindAbstracts among those that a query leaves, at most its Limit:
// of a query only the filters of ListAbstracts count.
func (t *Tx) FindAbstractsWhere(text string, q Query) (list []Match[model.Abstract], more bool, err error) {
	return abstracts.known(t, text, q)
}

// FindOrders is FindAbstracts for order number, parcel and address of orders. An order
// number is compared with its punctuation.
func (t *Tx) FindOrders(text string, limit int) (list []Match[model.Order], more bool, err error) {
	return orders.known(t, text, Query{Limit: limit})
}

// FindOrdersWhere is FindAbstractsWhere for FindOrders, with the filters of ListOrders.
func (t *Tx) FindOrdersWhere(text string, q Query) (list []Match[model.Order], more bool, err error) {
	return orders.known(t, text, q)
}

// called is one way to call records of a list.
type called[T any] struct {
	by      Sort
	bucket  *bolt.Bucket
	tag     byte
	prefix  string // of the key's text: all of want, or as much of it as keys have
	begins  func(*T) (begins, exact bool)
	several bool // ways to write all of it
}

func (l *listing[T]) known(t *Tx, text string, q Query) (list []Match[T], more bool, err error) {
	if t.rebuilding() {
		return nil, false, errRebuilding
	}
	j, possible, err := l.judgeOf(t, q)
	if err != nil || !possible {
		return nil, false, err
	}
	g := gathering[T]{limit: q.Limit, steps: findSteps, judge: &j, seen: map[uint64]bool{}}
	if len(q.Filters) > 0 || j.due || j.open || !q.CreatedFrom.IsZero() || !q.CreatedTo.IsZero() {
		g.steps = siftSteps
	}
	for _, way := range l.ways(t, text) {
		if err := g.walk(t, l, &way); err != nil {
			return nil, false, err
		}
	}
	g.begins = slices.DeleteFunc(g.begins, func(k Match[T]) bool { return g.seen[l.card(&k.Record).id] })
	list = slices.Concat(g.exact, g.begins)
	return list[:min(len(list), q.Limit)], g.more || len(list) > q.Limit, nil
}

// gathering is what was found so far.
type gathering[T any] struct {
	limit, steps  int
	judge         *judge
	exact, begins []Match[T]
	seen          map[uint64]bool // true: among the exact ones
	more          bool
}

// walk looks at the entries whose text begins with the prefix, in their order. Those
// that are it come first, unless there are several ways to write it.
func (g *gathering[T]) walk(t *Tx, l *listing[T], w *called[T]) error {
	prefix := append([]byte{w.tag}, w.prefix...)
	c, found := w.bucket.Cursor(), 0
	k, _ := c.Seek(prefix)
	for steps := g.steps; bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		if steps--; steps < 0 || !w.several && found > g.limit {
			g.more = true
			return nil
		}
		if len(k) <= indexTail {
			continue // Check reports it
		}
		id := binary.BigEndian.Uint64(k[len(k)-8:])
		v, ok, err := l.find(t, id)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		starts, whole := w.begins(&v)
		if !ok || !starts {
			continue // Check reports it, or the key is only as long as it is
		}
		if at := l.card(&v).created; at < g.judge.from || at > g.judge.to || !l.holds(&v, g.judge) {
			continue
		}
		found++
		exact, known := g.seen[id]
		switch {
		case whole && !exact:
			g.exact = append(g.exact, Match[T]{v, w.by, true})
		case !whole && !known:
			g.begins = append(g.begins, Match[T]{v, w.by, false})
		}
		g.seen[id] = exact || whole
		if err := t.ended(); err != nil {
			return err
		}
	}
	return nil
}

// ways are those that the text can be meant in.
func (l *listing[T]) ways(t *Tx, text string) (ways []called[T]) {
	if want := fold(text); want != "" && strings.IndexByte(l.tags, tagNumber) >= 0 {
		ways = append(ways, called[T]{SortOrderNumber, t.bucket(l.bucket), tagNumber, want, func(v *T) (bool, bool) {
			have := l.card(v).number
			return strings.HasPrefix(have, want), have == want
		}, false})
	}
	for i, x := range l.texts {
		want := x.form(text)
		if want == "" {
			continue
		}
		ways = append(ways, called[T]{x.sort, t.bucket(l.sorts.bucket), l.sorts.sorts[i], want[:min(len(want), mostText)], func(v *T) (bool, bool) {
			exact := x.form(x.of(v)) == want
			if x.whole != nil {
				exact = slices.ContainsFunc(x.whole(v), func(s string) bool { return x.form(s) == want })
			}
			return strings.HasPrefix(x.form(x.of(v)), want), exact
		}, x.whole != nil})
	}
	return ways
}
