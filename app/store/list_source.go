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

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// maxSorted is the maximum number of entries that are loaded and sorted in memory.
// maxSortedByDate is the maximum if the entries were selected by a range of due dates or
// last changes. It is higher because entries in a different order don't contain these
// dates, so a scan in that order would also read all records outside the range. Open orders
// don't need the higher limit, because there are few of them and all entries contain the
// status.
const (
	maxSorted       = 500
	maxSortedByDate = 4_000
)

// keyRange is a range of keys in an index, from low (inclusive) to high (exclusive). If
// high is nil, the range extends to the end of the index. A position is the part of a key
// after prefix.
type keyRange struct {
	bucket            *bucket
	prefix, low, high []byte
	restricted        bool // false if the range contains all entries with the prefix
}

// rangeUnder returns the range of entries that have the prefix followed by a creation time
// within the bounds of the query.
func (pred *predicate) rangeUnder(b *bucket, prefix []byte) keyRange {
	r := keyRange{bucket: b, prefix: prefix, low: prefix, high: prefixEnd(prefix)}
	if pred.createdFrom > 0 {
		r.restricted = true
		r.low = binary.BigEndian.AppendUint64(slices.Clip(prefix), pred.createdFrom)
	}
	if pred.createdTo < math.MaxUint64 {
		r.restricted = true
		r.high = prefixEnd(binary.BigEndian.AppendUint64(slices.Clip(prefix), pred.createdTo))
	}
	return r
}

// prefixEnd returns the first key after all keys with the prefix, or nil if there is no
// such key.
func prefixEnd(prefix []byte) []byte {
	key := bytes.Clone(prefix)
	for i := len(key) - 1; i >= 0; i-- {
		if key[i]++; key[i] != 0 {
			return key[:i+1]
		}
	}
	return nil
}

// chooseSource chooses the source of a page. It prefers the smallest range of the index. If
// the entries of this range are in the requested order, the source scans them. If they
// aren't but there are few, it loads and sorts them. Otherwise, it scans the index that has
// the requested order.
func (it *indexedTable[T]) chooseSource(t *Tx, q Query, pred *predicate) (candidateSource, error) {
	ordered, tag, err := it.sortRange(t, q, pred)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(q.sortLimit, maxSorted)
	ranges := it.filterRanges(t, pred)
	if tag == tagCreated {
		if ordered = ranges[0]; len(ranges) > 1 {
			ordered, _ = smallestRange(ranges, limit)
		}
		ranges = nil
	} else if tag == tagNumber && pred.filtered[strings.IndexByte(it.columnTags, tag)] {
		return &rangeScan{pred, ordered}, nil // there is no smaller range
	}
	due, bounded := it.dueRange(t, pred)
	if bounded && tag != tagDue {
		ranges = append(ranges, due)
	}
	updated := it.updatedRange(t, pred)
	if pred.hasUpdated && tag != tagUpdated {
		ranges = append(ranges, updated)
	}
	ranges = slices.DeleteFunc(ranges, func(r keyRange) bool { return !r.restricted })
	if len(ranges) == 0 {
		return &rangeScan{pred, ordered}, nil
	}
	if part, n := smallestRange(ranges, limit); n <= limit && (!ordered.restricted || n < countKeys(ordered, n+1)) {
		return it.loadSorted(t, &rangeScan{pred, part}, tag)
	}
	if pred.hasDue && !pred.openOnly && tag != tagDue && !ordered.restricted && q.sortLimit == 0 &&
		countKeys(due, maxSortedByDate+1) <= maxSortedByDate {
		return it.loadSorted(t, &rangeScan{pred, due}, tag)
	}
	if pred.hasUpdated && tag != tagUpdated && !ordered.restricted && q.sortLimit == 0 &&
		countKeys(updated, maxSortedByDate+1) <= maxSortedByDate {
		return it.loadSorted(t, &rangeScan{pred, updated}, tag)
	}
	return &rangeScan{pred, ordered}, nil
}

// sortRange returns the range whose entries are in the requested order, and the tag of
// these entries. For model.SortCreated it returns only the tag, because several ranges have that
// order.
func (it *indexedTable[T]) sortRange(t *Tx, q Query, pred *predicate) (r keyRange, tag byte, err error) {
	main := t.bucket(it.indexBucket)
	if i := slices.IndexFunc(it.textSorts, func(x textSort[T]) bool { return x.sort == q.Sort }); i >= 0 {
		prefix := []byte{it.sortLayout.sortTags[i]}
		return keyRange{bucket: t.bucket(it.sortLayout.indexBucket), prefix: prefix, low: prefix, high: prefixEnd(prefix)}, prefix[0], nil
	}
	switch {
	case q.Sort == "" || q.Sort == model.SortCreated:
		return r, tagCreated, nil
	case q.Sort == model.SortUpdated && it.sortsByUpdated():
		return it.updatedRange(t, pred), tagUpdated, nil
	case q.Sort == model.SortDue && it.hasDue:
		r, _ = it.dueRange(t, pred)
		return r, tagDue, nil
	case q.Sort == model.SortOrderNumber && strings.IndexByte(it.columnTags, tagNumber) >= 0:
		prefix := []byte{tagNumber}
		r = keyRange{bucket: main, prefix: prefix, low: prefix, high: prefixEnd(prefix)}
		if number := strings.IndexByte(it.columnTags, tagNumber); pred.filtered[number] {
			r = pred.rangeUnder(main, it.columnPrefix(number, pred))
			r.prefix = prefix
		}
		return r, tagNumber, nil
	}
	return r, 0, fmt.Errorf("%s list: sort %q is not supported", it.typeName, q.Sort)
}

// dueRange returns a range that contains all matches and is sorted by due date. restricted
// is false if it contains all entries with its tag.
func (it *indexedTable[T]) dueRange(t *Tx, pred *predicate) (r keyRange, restricted bool) {
	prefix := []byte{tagDue}
	r = keyRange{prefix: prefix, low: prefix, high: prefixEnd(prefix), restricted: pred.hasDue || pred.openOnly}
	if r.bucket = t.bucket(it.indexBucket); pred.openOnly {
		prefix[0] = tagOpen
		r.bucket, r.high = t.bucket(it.sortLayout.indexBucket), prefixEnd(prefix)
	}
	if pred.hasDue {
		r.low = binary.BigEndian.AppendUint64(slices.Clip(prefix), pred.dueFrom)
		r.high = prefixEnd(binary.BigEndian.AppendUint64(slices.Clip(prefix), pred.dueTo))
	}
	return r, r.restricted
}

// sortsByUpdated reports whether the list can be sorted by the last change.
func (it *indexedTable[T]) sortsByUpdated() bool {
	return strings.IndexByte(it.sortLayout.sortTags, tagUpdated) >= 0
}

// updatedRange returns a range that contains all matches and is sorted by the last change.
func (it *indexedTable[T]) updatedRange(t *Tx, pred *predicate) keyRange {
	if !it.sortsByUpdated() {
		return keyRange{}
	}
	prefix := []byte{tagUpdated}
	r := keyRange{bucket: t.bucket(it.sortLayout.indexBucket), prefix: prefix, low: prefix, high: prefixEnd(prefix),
		restricted: pred.hasUpdated}
	if pred.hasUpdated {
		r.low = binary.BigEndian.AppendUint64(slices.Clip(prefix), pred.updatedFrom)
		r.high = prefixEnd(binary.BigEndian.AppendUint64(slices.Clip(prefix), pred.updatedTo))
	}
	return r
}

// filterRanges returns the ranges that are sorted by creation time and contain all matches.
func (it *indexedTable[T]) filterRanges(t *Tx, pred *predicate) (ranges []keyRange) {
	b := t.bucket(it.indexBucket)
	for i := range it.columns {
		if pred.filtered[i] && (pred.values[i] != columnValue{} || it.columnTags[i] == tagNumber) {
			ranges = append(ranges, pred.rangeUnder(b, it.columnPrefix(i, pred)))
			ranges[len(ranges)-1].restricted = true
		}
	}
	if len(ranges) == 0 {
		return []keyRange{pred.rangeUnder(b, []byte{tagCreated})}
	}
	return ranges
}

// smallestRange returns the range with the fewest entries and the number of its entries. If
// all ranges have more than limit entries, the number is greater than limit.
func smallestRange(ranges []keyRange, limit int) (smallest keyRange, n int) {
	smallest, n = ranges[0], math.MaxInt
	for _, r := range ranges {
		if size := countKeys(r, min(n, max(limit, 0)+1)); size < n {
			smallest, n = r, size
		}
	}
	return smallest, n
}

// columnPrefix returns the prefix of the entries that have the filter's value in column i.
func (it *indexedTable[T]) columnPrefix(i int, pred *predicate) []byte {
	if it.columnTags[i] == tagNumber {
		return append(append([]byte{tagNumber}, pred.values[i].String()...), 0)
	}
	return binary.BigEndian.AppendUint64([]byte{it.columnTags[i]}, uint64(pred.hashes[i]))
}

// countKeys counts the entries of a range but stops at limit.
func countKeys(r keyRange, limit int) (n int) {
	c := r.bucket.Cursor()
	for k, _ := c.Seek(r.low); k != nil && n < limit && (r.high == nil || bytes.Compare(k, r.high) < 0); k, _ = c.Next() {
		n++
	}
	return n
}

// rangeScan is a candidateSource that scans a range of an index.
type rangeScan struct {
	predicate *predicate
	keys      keyRange
}

// scan implements candidateSource.
func (s *rangeScan) scan(from []byte, descending bool, budget *int, fn scanFunc) (last []byte, ended bool) {
	c := s.keys.bucket.Cursor()
	k, columns := s.seekFirst(c, from, descending)
	for ; k != nil; k, columns = s.next(c, descending) {
		if descending && bytes.Compare(k, s.keys.low) < 0 || !descending && s.keys.high != nil && bytes.Compare(k, s.keys.high) >= 0 {
			return last, true
		}
		if *budget <= 0 {
			return last, false
		}
		*budget--
		last = append(last[:0], k[len(s.keys.prefix):]...)
		if len(k) < 1+keySuffixSize {
			continue // invalid key; Check reports it
		}
		created := binary.BigEndian.Uint64(k[len(k)-keySuffixSize:])
		if s.predicate.matchesEntry(created, columns) && !fn(binary.BigEndian.Uint64(k[len(k)-8:]), created, k[len(s.keys.prefix):]) {
			return last, false
		}
	}
	return last, true
}

// seekFirst moves the cursor to the first entry of a scan.
func (s *rangeScan) seekFirst(c cursor, from []byte, descending bool) (k, v []byte) {
	var position []byte
	if from != nil {
		position = append(bytes.Clone(s.keys.prefix), from...)
	}
	if !descending {
		if position == nil || bytes.Compare(position, s.keys.low) < 0 {
			return c.Seek(s.keys.low)
		}
		if k, v = c.Seek(position); bytes.Equal(k, position) {
			return c.Next()
		}
		return k, v
	}
	if position == nil || s.keys.high != nil && bytes.Compare(position, s.keys.high) > 0 {
		position = s.keys.high
	}
	if position == nil {
		return c.Last()
	}
	if k, _ = c.Seek(position); k == nil {
		return c.Last()
	}
	return c.Prev()
}

// next moves the cursor by one entry.
func (s *rangeScan) next(c cursor, descending bool) (k, v []byte) {
	if descending {
		return c.Prev()
	}
	return c.Next()
}

// sortedCandidates is a candidateSource for a small number of candidates that are sorted in
// memory.
type sortedCandidates []candidate

// candidate identifies a record and its position in the requested order.
type candidate struct {
	position    []byte
	id, created uint64
}

// loadSorted reads all candidates of a small range and sorts them.
func (it *indexedTable[T]) loadSorted(t *Tx, from *rangeScan, tag byte) (sortedCandidates, error) {
	var list sortedCandidates
	var err error
	budget := math.MaxInt
	from.scan(nil, false, &budget, func(id, created uint64, _ []byte) bool {
		v, ok, e := it.find(t, id)
		if !ok || errors.Is(e, ErrDamaged) {
			return true // skip it; Check reports missing and damaged records
		}
		err = e
		list = append(list, candidate{it.positionOf(&v, tag), id, created})
		return e == nil
	})
	list.sort()
	return list, err
}

func (s sortedCandidates) sort() {
	slices.SortFunc(s, func(a, b candidate) int { return bytes.Compare(a.position, b.position) })
}

// maxKeys is the maximum number of records that are sorted by Query.Keys, maxKeyEntries the maximum number of index
// entries that are read to find them, and keyBatch how many records are in memory at the same time.
const (
	maxKeys       = 20_000
	maxKeyEntries = 1_000_000
	keyBatch      = 500
)

// tooManyToSort is the error text for a list with more than maxKeys records.
const tooManyToSort errs.Code = "The list has too many records to sort by this column. Add a filter to narrow it to 20,000 or fewer."

// sortByKeys sorts all records that a query selects by Query.Keys. It keeps only their keys and IDs.
func (it *indexedTable[T]) sortByKeys(t *Tx, q Query, pred *predicate) (candidateSource, error) {
	ranges := it.filterRanges(t, pred)
	if due, bounded := it.dueRange(t, pred); bounded {
		ranges = append(ranges, due)
	}
	if pred.hasUpdated {
		ranges = append(ranges, it.updatedRange(t, pred))
	}
	limit, budget := cmp.Or(q.sortLimit, maxKeys), maxKeyEntries
	part, _ := smallestRange(ranges, limit)
	var ids []uint64
	_, ended := (&rangeScan{pred, part}).scan(nil, false, &budget, func(id, _ uint64, _ []byte) bool {
		ids = append(ids, id)
		return len(ids) <= limit
	})
	if !ended {
		return nil, errs.InvalidField("sort", tooManyToSort)
	}
	list := make(sortedCandidates, 0, len(ids))
	for batch := range slices.Chunk(ids, keyBatch) {
		records, err := it.selected(t, q, pred, batch)
		if err != nil {
			return nil, err
		}
		keys, err := q.Keys(t, records)
		if err != nil {
			return nil, err
		}
		for n := range records {
			f := it.fields(&records[n])
			list = append(list, candidate{f.after(append(keys[n], 0)), f.id, f.created})
		}
	}
	list.sort()
	return list, nil
}

// selected returns the records with these IDs that match a query. It bypasses the cache, which is for list pages.
func (it *indexedTable[T]) selected(t *Tx, q Query, pred *predicate, ids []uint64) (list []T, err error) {
	for _, id := range ids {
		v, ok, err := it.find(t, id)
		if ok = ok && it.matches(&v, pred); ok && q.Match != nil {
			ok, err = q.Match(t, &v)
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			return nil, err
		}
		if ok && err == nil {
			list = append(list, v)
		}
	}
	return list, t.canceled()
}

// positionOf returns the record's position in the order of tag, which is the part of its
// key after the tag.
func (it *indexedTable[T]) positionOf(v *T, tag byte) []byte {
	f := it.fields(v)
	var position []byte
	switch i := strings.IndexByte(it.sortLayout.sortTags, tag); {
	case tag == tagDue:
		position = encodeUint64(f.due)
	case tag == tagUpdated:
		position = encodeUint64(f.updated)
	case tag == tagNumber:
		position = append([]byte(f.orderNumber), 0)
	case i >= 0:
		position = append([]byte(textKey(it.textSorts[i].normalize(it.textSorts[i].text(v)))), 0)
	}
	return f.after(position)
}

// after returns the position of a record after the value that it is sorted by.
func (f *indexFields) after(value []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(value, f.created), f.id)
}

// scan implements candidateSource.
func (s sortedCandidates) scan(from []byte, descending bool, budget *int, fn scanFunc) (last []byte, ended bool) {
	i, found := 0, false
	if descending {
		i = len(s)
	}
	if from != nil {
		i, found = slices.BinarySearchFunc(s, from, func(c candidate, position []byte) int { return bytes.Compare(c.position, position) })
	}
	step := 1
	switch {
	case descending:
		i, step = i-1, -1
	case found:
		i++
	}
	for ; i >= 0 && i < len(s); i += step {
		if *budget <= 0 {
			return last, false
		}
		*budget--
		if last = s[i].position; !fn(s[i].id, s[i].created, last) {
			return last, false
		}
	}
	return last, true
}
