package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// gatherLimit is up to how many entries are gathered and sorted in memory.
const gatherLimit = 500

// ground is a part of an index, low included, high not. What follows lead in its
// keys are positions.
type ground struct {
	lead, low, high []byte
	narrow          bool // not all of the index
}

// within is the part of an index under a prefix after which keys go on with the
// time of creation.
func (j *judge) within(prefix []byte) ground {
	g := ground{lead: prefix, low: prefix, high: after(prefix)}
	if j.from > 0 {
		g.narrow = true
		g.low = binary.BigEndian.AppendUint64(slices.Clip(prefix), j.from)
	}
	if j.to < math.MaxUint64 {
		g.narrow = true
		g.high = after(binary.BigEndian.AppendUint64(slices.Clip(prefix), j.to))
	}
	return g
}

// after is the first key that does not begin with prefix; nil when there is none.
func after(prefix []byte) []byte {
	key := bytes.Clone(prefix)
	for i := len(key) - 1; i >= 0; i-- {
		if key[i]++; key[i] != 0 {
			return key[:i+1]
		}
	}
	return nil
}

// source chooses what a page is made of: the smallest part of the index, walked
// where its entries stand in the order that is asked for, gathered and sorted where
// they do not and are few; else the index of that order.
func (l *listing[T]) source(t *Tx, q Query, j *judge) (source, error) {
	b := t.bucket(l.bucket)
	parts := l.parts(j)
	few := cmp.Or(q.few, gatherLimit)
	number := slices.IndexFunc(l.columns, func(c column[T]) bool { return c.name == ColumnNumber })
	tag := map[Sort]byte{"": tagCreated, SortCreated: tagCreated, SortDue: tagDue, SortNumber: tagNumber}[q.Sort]
	switch {
	case tag == tagCreated:
		part := parts[0]
		if len(parts) > 1 {
			part, _ = smallest(b, parts, few)
		}
		return &strip{b, j, part}, nil
	case tag == 0 || tag == tagDue && !l.due || tag == tagNumber && number < 0:
		return nil, fmt.Errorf("list of %ss: it is not sorted by %q", l.noun, q.Sort)
	case tag == tagNumber && j.asked[number]:
		part := j.within(l.prefix(number, j))
		part.lead = []byte{tagNumber}
		return &strip{b, j, part}, nil
	}
	lead := []byte{tag}
	if len(parts) > 1 || parts[0].narrow {
		if part, n := smallest(b, parts, few); n <= few {
			return l.gather(t, &strip{b, j, part}, q.Sort)
		}
	}
	return &strip{b, j, ground{lead: lead, low: lead, high: after(lead)}}, nil
}

// parts are the parts of the index each of which holds all that is asked for.
func (l *listing[T]) parts(j *judge) (parts []ground) {
	for i := range l.columns {
		if j.asked[i] && (j.where[i] != value{} || l.tags[i] == tagNumber) {
			parts = append(parts, j.within(l.prefix(i, j)))
			parts[len(parts)-1].narrow = true
		}
	}
	if len(parts) == 0 {
		return []ground{j.within([]byte{tagCreated})}
	}
	return parts
}

// smallest gives the part with the fewest entries, and how many, or a number above
// few where it has more.
func smallest(b *bolt.Bucket, parts []ground, few int) (least ground, n int) {
	least, n = parts[0], math.MaxInt
	for _, g := range parts {
		if size := count(b, g, min(n, max(few, 0)+1)); size < n {
			least, n = g, size
		}
	}
	return least, n
}

// prefix is what the entries begin with that have the value asked for.
func (l *listing[T]) prefix(i int, j *judge) []byte {
	if l.tags[i] == tagNumber {
		return append(append([]byte{tagNumber}, j.where[i].String()...), 0)
	}
	return binary.BigEndian.AppendUint64([]byte{l.tags[i]}, uint64(j.words[i]))
}

// count counts entries up to a limit.
func count(b *bolt.Bucket, g ground, limit int) (n int) {
	c := b.Cursor()
	for k, _ := c.Seek(g.low); k != nil && n < limit && (g.high == nil || bytes.Compare(k, g.high) < 0); k, _ = c.Next() {
		n++
	}
	return n
}

// strip is a part of an index, walked.
type strip struct {
	b      *bolt.Bucket
	judge  *judge
	ground ground
}

func (w *strip) scan(from []byte, down bool, steps *int, fn func(id, created uint64, at []byte) bool) (last []byte, ended bool) {
	c := w.b.Cursor()
	k, columns := w.start(c, from, down)
	for ; k != nil; k, columns = w.turn(c, down) {
		if down && bytes.Compare(k, w.ground.low) < 0 || !down && w.ground.high != nil && bytes.Compare(k, w.ground.high) >= 0 {
			return last, true
		}
		if *steps <= 0 {
			return last, false
		}
		*steps--
		last = append(last[:0], k[len(w.ground.lead):]...)
		if len(k) < 1+indexTail {
			continue // Check reports it
		}
		created := binary.BigEndian.Uint64(k[len(k)-indexTail:])
		if w.judge.accepts(created, columns) && !fn(binary.BigEndian.Uint64(k[len(k)-8:]), created, k[len(w.ground.lead):]) {
			return last, false
		}
	}
	return last, true
}

// start moves to the first entry of a scan.
func (w *strip) start(c *bolt.Cursor, from []byte, down bool) (k, v []byte) {
	var at []byte
	if from != nil {
		at = append(bytes.Clone(w.ground.lead), from...)
	}
	if !down {
		if at == nil || bytes.Compare(at, w.ground.low) < 0 {
			return c.Seek(w.ground.low)
		}
		if k, v = c.Seek(at); bytes.Equal(k, at) {
			return c.Next()
		}
		return k, v
	}
	if at == nil || w.ground.high != nil && bytes.Compare(at, w.ground.high) > 0 {
		at = w.ground.high
	}
	if at == nil {
		return c.Last()
	}
	if k, _ = c.Seek(at); k == nil {
		return c.Last()
	}
	return c.Prev()
}

func (w *strip) turn(c *bolt.Cursor, down bool) (k, v []byte) {
	if down {
		return c.Prev()
	}
	return c.Next()
}

// gathered is a few candidates in the order that is asked for.
type gathered []candidate

type candidate struct {
	at          []byte
	id, created uint64
}

// gather reads a small part of an index to its end and sorts it.
func (l *listing[T]) gather(t *Tx, from *strip, sort Sort) (gathered, error) {
	var list gathered
	var err error
	bucket, steps := t.bucket(l.name), math.MaxInt
	from.scan(nil, false, &steps, func(id, created uint64, _ []byte) bool {
		key := number(id)
		raw := bucket.Get(key)
		due, text, e := l.sorting(key, raw)
		if errors.Is(e, ErrDamaged) {
			return true // Check reports it
		}
		err = e
		var at []byte
		if sort == SortDue {
			at = number(due)
		} else {
			at = append([]byte(text), 0)
		}
		at = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(at, created), id)
		list = append(list, candidate{at, id, created})
		return e == nil
	})
	slices.SortFunc(list, func(a, b candidate) int { return bytes.Compare(a.at, b.at) })
	return list, err
}

func (g gathered) scan(from []byte, down bool, steps *int, fn func(id, created uint64, at []byte) bool) (last []byte, ended bool) {
	i, met := 0, false
	if down {
		i = len(g)
	}
	if from != nil {
		i, met = slices.BinarySearchFunc(g, from, func(c candidate, at []byte) int { return bytes.Compare(c.at, at) })
	}
	by := 1
	switch {
	case down:
		i, by = i-1, -1
	case met:
		i++
	}
	for ; i >= 0 && i < len(g); i += by {
		if *steps <= 0 {
			return last, false
		}
		*steps--
		if last = g[i].at; !fn(g[i].id, g[i].created, last) {
			return last, false
		}
	}
	return last, true
}
