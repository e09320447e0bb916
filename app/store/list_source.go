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

// maxSorted is up to how many entries are gathered and sorted in memory; maxSortedByDate
// is of those within bounds of the due date or of the last change, which other entries
// do not tell: each that is out of them would be read for nothing. Of open orders, which they do tell,
// few are.
const (
	maxSorted       = 500
	maxSortedByDate = 4_000
)

// keyRange is a part of an index, low included, high not. What follows lead in its
// keys are positions.
type keyRange struct {
	bucket            *bolt.Bucket
	prefix, low, high []byte
	restricted        bool // not all of the index
}

// rangeUnder is the part of an index under a prefix after which keys go on with the
// time of creation.
func (j *predicate) rangeUnder(b *bolt.Bucket, prefix []byte) keyRange {
	g := keyRange{bucket: b, prefix: prefix, low: prefix, high: prefixEnd(prefix)}
	if j.createdFrom > 0 {
		g.restricted = true
		g.low = binary.BigEndian.AppendUint64(slices.Clip(prefix), j.createdFrom)
	}
	if j.createdTo < math.MaxUint64 {
		g.restricted = true
		g.high = prefixEnd(binary.BigEndian.AppendUint64(slices.Clip(prefix), j.createdTo))
	}
	return g
}

// prefixEnd is the first key that does not begin with prefix; nil when there is none.
func prefixEnd(prefix []byte) []byte {
	key := bytes.Clone(prefix)
	for i := len(key) - 1; i >= 0; i-- {
		if key[i]++; key[i] != 0 {
			return key[:i+1]
		}
	}
	return nil
}

// chooseSource chooses what a page is made of: the smallest part of the index, walked
// where its entries stand in the order that is asked for, gathered and sorted where
// they do not and are few; else the index of that order.
func (l *indexedTable[T]) chooseSource(t *Tx, q Query, j *predicate) (candidateSource, error) {
	home, tag, err := l.sortRange(t, q, j)
	if err != nil {
		return nil, err
	}
	few := cmp.Or(q.sortLimit, maxSorted)
	parts := l.filterRanges(t, j)
	if tag == tagCreated {
		if home = parts[0]; len(parts) > 1 {
			home, _ = smallestRange(parts, few)
		}
		parts = nil
	} else if tag == tagNumber && j.filtered[strings.IndexByte(l.columnTags, tag)] {
		return &rangeScan{j, home}, nil // nothing is smaller
	}
	due, bounded := l.dueRange(t, j)
	if bounded && tag != tagDue {
		parts = append(parts, due)
	}
	updated := l.updatedRange(t, j)
	if j.hasUpdated && tag != tagUpdated {
		parts = append(parts, updated)
	}
	parts = slices.DeleteFunc(parts, func(g keyRange) bool { return !g.restricted })
	if len(parts) == 0 {
		return &rangeScan{j, home}, nil
	}
	if part, n := smallestRange(parts, few); n <= few && (!home.restricted || n < countKeys(home, n+1)) {
		return l.loadSorted(t, &rangeScan{j, part}, tag)
	}
	if j.hasDue && !j.openOnly && tag != tagDue && !home.restricted && q.sortLimit == 0 && countKeys(due, maxSortedByDate+1) <= maxSortedByDate {
		return l.loadSorted(t, &rangeScan{j, due}, tag)
	}
	if j.hasUpdated && tag != tagUpdated && !home.restricted && q.sortLimit == 0 && countKeys(updated, maxSortedByDate+1) <= maxSortedByDate {
		return l.loadSorted(t, &rangeScan{j, updated}, tag)
	}
	return &rangeScan{j, home}, nil
}

// sortRange is where the entries stand in the order that is asked for, and their tag; of
// those in order of creation the caller knows more.
func (l *indexedTable[T]) sortRange(t *Tx, q Query, j *predicate) (g keyRange, tag byte, err error) {
	main := t.bucket(l.indexBucket)
	if i := slices.IndexFunc(l.textSorts, func(x textSort[T]) bool { return x.sort == q.Sort }); i >= 0 {
		lead := []byte{l.sortLayout.sortTags[i]}
		return keyRange{bucket: t.bucket(l.sortLayout.indexBucket), prefix: lead, low: lead, high: prefixEnd(lead)}, lead[0], nil
	}
	switch {
	case q.Sort == "" || q.Sort == SortCreated:
		return g, tagCreated, nil
	case q.Sort == SortUpdated && l.sortsByUpdated():
		return l.updatedRange(t, j), tagUpdated, nil
	case q.Sort == SortDue && l.hasDue:
		g, _ = l.dueRange(t, j)
		return g, tagDue, nil
	case q.Sort == SortOrderNumber && strings.IndexByte(l.columnTags, tagNumber) >= 0:
		lead := []byte{tagNumber}
		g = keyRange{bucket: main, prefix: lead, low: lead, high: prefixEnd(lead)}
		if number := strings.IndexByte(l.columnTags, tagNumber); j.filtered[number] {
			g = j.rangeUnder(main, l.columnPrefix(number, j))
			g.prefix = lead
		}
		return g, tagNumber, nil
	}
	return g, 0, fmt.Errorf("list of %ss: it is not sorted by %q", l.typeName, q.Sort)
}

// dueRange is the part in order of due dates that holds all that is asked for.
func (l *indexedTable[T]) dueRange(t *Tx, j *predicate) (g keyRange, bounded bool) {
	lead := []byte{tagDue}
	g = keyRange{prefix: lead, low: lead, high: prefixEnd(lead), restricted: j.hasDue || j.openOnly}
	if g.bucket = t.bucket(l.indexBucket); j.openOnly {
		lead[0] = tagOpen
		g.bucket, g.high = t.bucket(l.sortLayout.indexBucket), prefixEnd(lead)
	}
	if j.hasDue {
		g.low = binary.BigEndian.AppendUint64(slices.Clip(lead), j.dueFrom)
		g.high = prefixEnd(binary.BigEndian.AppendUint64(slices.Clip(lead), j.dueTo))
	}
	return g, g.restricted
}

// sortsByUpdated says whether the list is sorted by the last change.
func (l *indexedTable[T]) sortsByUpdated() bool {
	return strings.IndexByte(l.sortLayout.sortTags, tagUpdated) >= 0
}

// updatedRange is the part in order of the last changes that holds all that is asked for.
func (l *indexedTable[T]) updatedRange(t *Tx, j *predicate) keyRange {
	if !l.sortsByUpdated() {
		return keyRange{}
	}
	lead := []byte{tagUpdated}
	g := keyRange{bucket: t.bucket(l.sortLayout.indexBucket), prefix: lead, low: lead, high: prefixEnd(lead), restricted: j.hasUpdated}
	if j.hasUpdated {
		g.low = binary.BigEndian.AppendUint64(slices.Clip(lead), j.updatedFrom)
		g.high = prefixEnd(binary.BigEndian.AppendUint64(slices.Clip(lead), j.updatedTo))
	}
	return g
}

// filterRanges are the parts of the index in order of creation each of which holds all that
// is asked for.
func (l *indexedTable[T]) filterRanges(t *Tx, j *predicate) (parts []keyRange) {
	b := t.bucket(l.indexBucket)
	for i := range l.columns {
		if j.filtered[i] && (j.values[i] != columnValue{} || l.columnTags[i] == tagNumber) {
			parts = append(parts, j.rangeUnder(b, l.columnPrefix(i, j)))
			parts[len(parts)-1].restricted = true
		}
	}
	if len(parts) == 0 {
		return []keyRange{j.rangeUnder(b, []byte{tagCreated})}
	}
	return parts
}

// smallestRange gives the part with the fewest entries, and how many, or a number above
// few where it has more.
func smallestRange(parts []keyRange, few int) (least keyRange, n int) {
	least, n = parts[0], math.MaxInt
	for _, g := range parts {
		if size := countKeys(g, min(n, max(few, 0)+1)); size < n {
			least, n = g, size
		}
	}
	return least, n
}

// columnPrefix is what the entries begin with that have the value asked for.
func (l *indexedTable[T]) columnPrefix(i int, j *predicate) []byte {
	if l.columnTags[i] == tagNumber {
		return append(append([]byte{tagNumber}, j.values[i].String()...), 0)
	}
	return binary.BigEndian.AppendUint64([]byte{l.columnTags[i]}, uint64(j.hashes[i]))
}

// countKeys counts entries up to a limit.
func countKeys(g keyRange, limit int) (n int) {
	c := g.bucket.Cursor()
	for k, _ := c.Seek(g.low); k != nil && n < limit && (g.high == nil || bytes.Compare(k, g.high) < 0); k, _ = c.Next() {
		n++
	}
	return n
}

// rangeScan is a part of an index, walked.
type rangeScan struct {
	predicate *predicate
	keys      keyRange
}

func (w *rangeScan) scan(from []byte, down bool, steps *int, fn func(id, created uint64, at []byte) bool) (last []byte, ended bool) {
	c := w.keys.bucket.Cursor()
	k, columns := w.seekFirst(c, from, down)
	for ; k != nil; k, columns = w.next(c, down) {
		if down && bytes.Compare(k, w.keys.low) < 0 || !down && w.keys.high != nil && bytes.Compare(k, w.keys.high) >= 0 {
			return last, true
		}
		if *steps <= 0 {
			return last, false
		}
		*steps--
		last = append(last[:0], k[len(w.keys.prefix):]...)
		if len(k) < 1+keySuffixSize {
			continue // Check reports it
		}
		created := binary.BigEndian.Uint64(k[len(k)-keySuffixSize:])
		if w.predicate.matchesEntry(created, columns) && !fn(binary.BigEndian.Uint64(k[len(k)-8:]), created, k[len(w.keys.prefix):]) {
			return last, false
		}
	}
	return last, true
}

// seekFirst moves to the first entry of a scan.
func (w *rangeScan) seekFirst(c *bolt.Cursor, from []byte, down bool) (k, v []byte) {
	var at []byte
	if from != nil {
		at = append(bytes.Clone(w.keys.prefix), from...)
	}
	if !down {
		if at == nil || bytes.Compare(at, w.keys.low) < 0 {
			return c.Seek(w.keys.low)
		}
		if k, v = c.Seek(at); bytes.Equal(k, at) {
			return c.Next()
		}
		return k, v
	}
	if at == nil || w.keys.high != nil && bytes.Compare(at, w.keys.high) > 0 {
		at = w.keys.high
	}
	if at == nil {
		return c.Last()
	}
	if k, _ = c.Seek(at); k == nil {
		return c.Last()
	}
	return c.Prev()
}

func (w *rangeScan) next(c *bolt.Cursor, down bool) (k, v []byte) {
	if down {
		return c.Prev()
	}
	return c.Next()
}

// sortedCandidates is a few candidates in the order that is asked for.
type sortedCandidates []candidate

type candidate struct {
	position    []byte
	id, created uint64
}

// loadSorted reads a small part of an index to its end and sorts it.
func (l *indexedTable[T]) loadSorted(t *Tx, from *rangeScan, tag byte) (sortedCandidates, error) {
	var list sortedCandidates
	var err error
	steps := math.MaxInt
	from.scan(nil, false, &steps, func(id, created uint64, _ []byte) bool {
		v, ok, e := l.find(t, id)
		if !ok || errors.Is(e, ErrDamaged) {
			return true // Check reports it
		}
		err = e
		list = append(list, candidate{l.positionOf(&v, tag), id, created})
		return e == nil
	})
	slices.SortFunc(list, func(a, b candidate) int { return bytes.Compare(a.position, b.position) })
	return list, err
}

// positionOf is what follows the tag in a record's entry of that tag.
func (l *indexedTable[T]) positionOf(v *T, tag byte) []byte {
	c := l.fields(v)
	var at []byte
	switch i := strings.IndexByte(l.sortLayout.sortTags, tag); {
	case tag == tagDue:
		at = encodeUint64(c.due)
	case tag == tagUpdated:
		at = encodeUint64(c.updated)
	case tag == tagNumber:
		at = append([]byte(c.orderNumber), 0)
	case i >= 0:
		at = append([]byte(textKey(l.textSorts[i].normalize(l.textSorts[i].text(v)))), 0)
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(at, c.created), c.id)
}

func (g sortedCandidates) scan(from []byte, down bool, steps *int, fn func(id, created uint64, at []byte) bool) (last []byte, ended bool) {
	i, met := 0, false
	if down {
		i = len(g)
	}
	if from != nil {
		i, met = slices.BinarySearchFunc(g, from, func(c candidate, at []byte) int { return bytes.Compare(c.position, at) })
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
		if last = g[i].position; !fn(g[i].id, g[i].created, last) {
			return last, false
		}
	}
	return last, true
}
