package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// gatherLimit is up to how many entries are gathered and sorted in memory; dueLimit
// is of those within bounds of the due date or of the last change, which other entries
// do not tell: each that is out of them would be read for nothing. Of open orders, which they do tell,
// few are.
const (
	gatherLimit = 500
	dueLimit    = 4_000
)

// ground is a part of an index, low included, high not. What follows lead in its
// keys are positions.
type ground struct {
	bucket          *bolt.Bucket
	lead, low, high []byte
	narrow          bool // not all of the index
}

// within is the part of an index under a prefix after which keys go on with the
// time of creation.
func (j *judge) within(b *bolt.Bucket, prefix []byte) ground {
	g := ground{bucket: b, lead: prefix, low: prefix, high: after(prefix)}
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
	home, tag, err := l.home(t, q, j)
	if err != nil {
		return nil, err
	}
	few := cmp.Or(q.few, gatherLimit)
	parts := l.parts(t, j)
	if tag == tagCreated {
		if home = parts[0]; len(parts) > 1 {
			home, _ = smallest(parts, few)
		}
		parts = nil
	} else if tag == tagNumber && j.asked[strings.IndexByte(l.tags, tag)] {
		return &strip{j, home}, nil // nothing is smaller
	}
	due, bounded := l.dueGround(t, j)
	if bounded && tag != tagDue {
		parts = append(parts, due)
	}
	updated := l.updatedGround(t, j)
	if j.updated && tag != tagUpdated {
		parts = append(parts, updated)
	}
	parts = slices.DeleteFunc(parts, func(g ground) bool { return !g.narrow })
	if len(parts) == 0 {
		return &strip{j, home}, nil
	}
	if part, n := smallest(parts, few); n <= few && (!home.narrow || n < count(home, n+1)) {
		return l.gather(t, &strip{j, part}, tag)
	}
	if j.due && !j.open && tag != tagDue && !home.narrow && q.few == 0 && count(due, dueLimit+1) <= dueLimit {
		return l.gather(t, &strip{j, due}, tag)
	}
	if j.updated && tag != tagUpdated && !home.narrow && q.few == 0 && count(updated, dueLimit+1) <= dueLimit {
		return l.gather(t, &strip{j, updated}, tag)
	}
	return &strip{j, home}, nil
}

// home is where the entries stand in the order that is asked for, and their tag; of
// those in order of creation the caller knows more.
func (l *listing[T]) home(t *Tx, q Query, j *judge) (g ground, tag byte, err error) {
	main := t.bucket(l.bucket)
	if i := slices.IndexFunc(l.texts, func(x text[T]) bool { return x.sort == q.Sort }); i >= 0 {
		lead := []byte{l.sorts.sorts[i]}
		return ground{bucket: t.bucket(l.sorts.bucket), lead: lead, low: lead, high: after(lead)}, lead[0], nil
	}
	switch {
	case q.Sort == "" || q.Sort == SortCreated:
		return g, tagCreated, nil
	case q.Sort == SortUpdated && l.timed():
		return l.updatedGround(t, j), tagUpdated, nil
	case q.Sort == SortDue && l.due:
		g, _ = l.dueGround(t, j)
		return g, tagDue, nil
	case q.Sort == SortOrderNumber && strings.IndexByte(l.tags, tagNumber) >= 0:
		lead := []byte{tagNumber}
		g = ground{bucket: main, lead: lead, low: lead, high: after(lead)}
		if number := strings.IndexByte(l.tags, tagNumber); j.asked[number] {
			g = j.within(main, l.prefix(number, j))
			g.lead = lead
		}
		return g, tagNumber, nil
	}
	return g, 0, fmt.Errorf("list of %ss: it is not sorted by %q", l.noun, q.Sort)
}

// dueGround is the part in order of due dates that holds all that is asked for.
func (l *listing[T]) dueGround(t *Tx, j *judge) (g ground, bounded bool) {
	lead := []byte{tagDue}
	g = ground{lead: lead, low: lead, high: after(lead), narrow: j.due || j.open}
	if g.bucket = t.bucket(l.bucket); j.open {
		lead[0] = tagOpen
		g.bucket, g.high = t.bucket(l.sorts.bucket), after(lead)
	}
	if j.due {
		g.low = binary.BigEndian.AppendUint64(slices.Clip(lead), j.dueFrom)
		g.high = after(binary.BigEndian.AppendUint64(slices.Clip(lead), j.dueTo))
	}
	return g, g.narrow
}

// timed says whether the list is sorted by the last change.
func (l *listing[T]) timed() bool { return strings.IndexByte(l.sorts.sorts, tagUpdated) >= 0 }

// updatedGround is the part in order of the last changes that holds all that is asked for.
func (l *listing[T]) updatedGround(t *Tx, j *judge) ground {
	if !l.timed() {
		return ground{}
	}
	lead := []byte{tagUpdated}
	g := ground{bucket: t.bucket(l.sorts.bucket), lead: lead, low: lead, high: after(lead), narrow: j.updated}
	if j.updated {
		g.low = binary.BigEndian.AppendUint64(slices.Clip(lead), j.since)
		g.high = after(binary.BigEndian.AppendUint64(slices.Clip(lead), j.until))
	}
	return g
}

// parts are the parts of the index in order of creation each of which holds all that
// is asked for.
func (l *listing[T]) parts(t *Tx, j *judge) (parts []ground) {
	b := t.bucket(l.bucket)
	for i := range l.columns {
		if j.asked[i] && (j.where[i] != value{} || l.tags[i] == tagNumber) {
			parts = append(parts, j.within(b, l.prefix(i, j)))
			parts[len(parts)-1].narrow = true
		}
	}
	if len(parts) == 0 {
		return []ground{j.within(b, []byte{tagCreated})}
	}
	return parts
}

// smallest gives the part with the fewest entries, and how many, or a number above
// few where it has more.
func smallest(parts []ground, few int) (least ground, n int) {
	least, n = parts[0], math.MaxInt
	for _, g := range parts {
		if size := count(g, min(n, max(few, 0)+1)); size < n {
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
func count(g ground, limit int) (n int) {
	c := g.bucket.Cursor()
	for k, _ := c.Seek(g.low); k != nil && n < limit && (g.high == nil || bytes.Compare(k, g.high) < 0); k, _ = c.Next() {
		n++
	}
	return n
}

// strip is a part of an index, walked.
type strip struct {
	judge  *judge
	ground ground
}

func (w *strip) scan(from []byte, down bool, steps *int, fn func(id, created uint64, at []byte) bool) (last []byte, ended bool) {
	c := w.ground.bucket.Cursor()
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
func (l *listing[T]) gather(t *Tx, from *strip, tag byte) (gathered, error) {
	var list gathered
	var err error
	steps := math.MaxInt
	from.scan(nil, false, &steps, func(id, created uint64, _ []byte) bool {
		v, ok, e := l.find(t, id)
		if !ok || errors.Is(e, ErrDamaged) {
			return true // Check reports it
		}
		err = e
		list = append(list, candidate{l.position(&v, tag), id, created})
		return e == nil
	})
	slices.SortFunc(list, func(a, b candidate) int { return bytes.Compare(a.at, b.at) })
	return list, err
}

// position is what follows the tag in a record's entry of that tag.
func (l *listing[T]) position(v *T, tag byte) []byte {
	c := l.card(v)
	var at []byte
	switch i := strings.IndexByte(l.sorts.sorts, tag); {
	case tag == tagDue:
		at = number(c.due)
	case tag == tagUpdated:
		at = number(c.updated)
	case tag == tagNumber:
		at = append([]byte(c.number), 0)
	case i >= 0:
		at = append([]byte(textKey(l.texts[i].form(l.texts[i].of(v)))), 0)
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(at, c.created), c.id)
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
