package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/title"
)

// findSteps is how many entries of one kind are looked at to find out whether records
// are called by a text.
const findSteps = 200

// Known is a record that is called by a text: by all of it, or it begins so.
type Known[T any] struct {
	Record T
	By     Sort // SortNumber, SortFile, SortParcel or SortAddress
	Exact  bool
}

// FindAbstracts gives at most limit live abstracts whose file number, parcel or address
// is a text or begins with it, those that are it first, and whether there may be
// more. A text without a letter or digit finds nothing.
func (t *Tx) FindAbstracts(text string, limit int) (list []Known[title.Abstract], more bool, err error) {
	return abstracts.known(t, text, limit)
}

// FindOrders is FindAbstracts for order number, parcel and address of orders. An order
// number is compared with its punctuation.
func (t *Tx) FindOrders(text string, limit int) (list []Known[title.Order], more bool, err error) {
	return orders.known(t, text, limit)
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

func (l *listing[T]) known(t *Tx, text string, limit int) (list []Known[T], more bool, err error) {
	if t.rebuilding() {
		return nil, false, errRebuilding
	}
	g := gathering[T]{limit: limit, seen: map[uint64]bool{}}
	for _, way := range l.ways(t, text) {
		if err := g.walk(t, l, &way); err != nil {
			return nil, false, err
		}
	}
	g.begins = slices.DeleteFunc(g.begins, func(k Known[T]) bool { return g.seen[l.card(&k.Record).id] })
	list = slices.Concat(g.exact, g.begins)
	return list[:min(len(list), limit)], g.more || len(list) > limit, nil
}

// gathering is what was found so far.
type gathering[T any] struct {
	limit         int
	exact, begins []Known[T]
	seen          map[uint64]bool // true: among the exact ones
	more          bool
}

// walk looks at the entries whose text begins with the prefix, in their order. Those
// that are it come first, unless there are several ways to write it.
func (g *gathering[T]) walk(t *Tx, l *listing[T], w *called[T]) error {
	prefix := append([]byte{w.tag}, w.prefix...)
	c, found := w.bucket.Cursor(), 0
	k, _ := c.Seek(prefix)
	for steps := findSteps; bytes.HasPrefix(k, prefix); k, _ = c.Next() {
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
		found++
		exact, known := g.seen[id]
		switch {
		case whole && !exact:
			g.exact = append(g.exact, Known[T]{v, w.by, true})
		case !whole && !known:
			g.begins = append(g.begins, Known[T]{v, w.by, false})
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
		ways = append(ways, called[T]{SortNumber, t.bucket(l.bucket), tagNumber, want, func(v *T) (bool, bool) {
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
