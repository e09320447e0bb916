package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"deedkeep/app/model"
)

// Filter selects the records that have a value in a column, ignoring case. Numbers are in
// decimal form, and model.ColumnProcessing supports "true" and "false". An empty value selects
// records without a value.
type Filter struct {
	Column model.Column
	Value  string
}

// Query selects a page of a list.
type Query struct {
	Sort                   model.Sort // "" means model.SortCreated
	Descending             bool       // reverses the complete order, including ties
	Filters                []Filter
	CreatedFrom, CreatedTo time.Time // inclusive, with microsecond precision; zero means unbounded
	UpdatedFrom            time.Time // time range for the last change of an abstract or order,
	UpdatedTo              time.Time // like CreatedFrom and CreatedTo
	DueFrom                string    // orders due on this day (YYYY-MM-DD) or later; "" means unbounded
	DueTo                  string    // orders due on this day or earlier; DueFrom and DueTo exclude orders without a due date
	OpenOnly               bool      // only orders with an open status (model.IsOpenStatus)
	Position               []byte    // the page starts after this position; nil means the start of the list
	Backward               bool      // the page ends before Position; if that is nil, it is the last page
	Limit                  int       // maximum number of records on the page, at least 1
	MaxBytes               int       // maximum total stored size of the records; a single record may be larger; 0 means 4 MB
	MaxScanned             int       // maximum number of index entries read; 0 means 10,000

	// Match selects among the records that match the filters. record is a *T of the list. nil selects all.
	Match func(t *Tx, record any) (bool, error)
	// Keys returns the keys by which records are sorted instead of by Sort. records is a []T of the list. Records with equal
	// keys are sorted like those with equal values. A list with too many records to sort returns errs.Invalid.
	Keys func(t *Tx, records any) ([][]byte, error)

	sortLimit int // maximum number of entries sorted in memory, set by tests; 0 means maxSorted, or maxKeys if Keys is set
}

// Page is a part of a list in the order of the query. Next is the position of the next page
// (for Query.Position), and Prev is the position of the previous page (for Query.Position
// with Query.Backward). They are nil if there is no such page.
//
// If a page reaches MaxScanned or MaxBytes, it has fewer records than Limit or none at all,
// and a position to continue from. A client that follows the positions to the end gets
// every record that was in the list the entire time exactly once, even if other records are
// added or removed between requests.
type Page[T any] struct {
	Items      []T
	Next, Prev []byte
	End        []byte // set only for model.SortSequence: position after the last entry read, even on the last page
	Bytes      int    // stored size of the records; the size of an abstract includes its files' records
	Truncated  bool   // the page has fewer records than Limit because it reached Query.MaxBytes
}

// The limits of a page.
const (
	defaultMaxScanned = 10_000
	defaultMaxBytes   = 4 << 20
	missCost          = 16    // number of entries counted toward MaxScanned for each record that was read but didn't match
	maxLookback       = 1_000 // maximum number of entries read to find out whether there is a previous page
	maxPreallocated   = 100   // maximum number of records for which memory is allocated before they are read
)

// A scanFunc is called with the ID, creation time, and position of a candidate. It returns
// false to end the scan.
type scanFunc func(id, created uint64, position []byte) bool

// candidateSource provides the candidates for a page in a certain sort order.
type candidateSource interface {
	// scan calls fn with the candidates after position from, or with all candidates if from
	// is nil. It stops if fn returns false, the range ends, or the budget is used up. It
	// returns the position of the last entry read and whether the range ended.
	scan(from []byte, descending bool, budget *int, fn scanFunc) (last []byte, ended bool)
}

// list returns the page that a query selects.
func (it *indexedTable[T]) list(t *Tx, q Query) (page Page[T], err error) {
	if t.isRebuilding() {
		return page, errRebuilding
	}
	pred, possible, err := it.newPredicate(t, q)
	if err != nil || !possible {
		return page, err
	}
	choose := it.chooseSource
	if q.Keys != nil {
		choose = it.sortByKeys
	}
	source, err := choose(t, q, &pred)
	if err != nil {
		return page, err
	}
	p := pageBuilder[T]{table: it, tx: t, query: q, predicate: &pred, source: source}
	return p.build()
}

// pageBuilder builds one page from candidates.
type pageBuilder[T any] struct {
	table     *indexedTable[T]
	tx        *Tx
	query     Query
	predicate *predicate
	source    candidateSource
	bytes     int // stored size of the items so far
	truncated bool
	err       error
}

// build scans the source and returns the page.
func (p *pageBuilder[T]) build() (Page[T], error) {
	budget := p.query.MaxScanned
	if budget <= 0 {
		budget = defaultMaxScanned
	}
	descending := p.query.Descending != p.query.Backward
	var items []T
	var first, end []byte
	full := false
	last, ended := p.source.scan(p.query.Position, descending, &budget, func(id, created uint64, position []byte) bool {
		v, size, ok := p.load(id, created)
		if !ok {
			budget -= missCost
			return p.err == nil
		}
		if full = p.isFull(len(items), size, &v); full {
			return false
		}
		if items == nil {
			first, items = bytes.Clone(position), make([]T, 0, min(max(p.query.Limit, 1), maxPreallocated))
		}
		items = append(items, v)
		end = append(end[:0], position...)
		return true
	})
	var next []byte
	switch {
	case full:
		next = end
	case !ended:
		next = last
	}
	prev := p.positionBefore(first, descending)
	if p.query.Backward {
		slices.Reverse(items)
		next, prev = prev, next
	}
	return Page[T]{Items: items, Next: next, Prev: prev, Bytes: p.bytes, Truncated: p.truncated}, p.err
}

// isFull reports whether the record no longer fits on the page. If it fits, isFull adds its
// size to the size of the page.
func (p *pageBuilder[T]) isFull(items, size int, v *T) bool {
	if items >= max(p.query.Limit, 1) {
		return true
	}
	if p.table.size != nil {
		size = p.table.size(p.tx, v, size)
	}
	if p.truncated = items > 0 && p.bytes+size > cmp.Or(max(p.query.MaxBytes, 0), defaultMaxBytes); !p.truncated {
		p.bytes += size
	}
	return p.truncated
}

// positionBefore returns the position for the page before this one in scan direction, or
// nil if there are no records before it. first is the start of this page.
func (p *pageBuilder[T]) positionBefore(first []byte, descending bool) []byte {
	if p.query.Position == nil || p.err != nil {
		return nil
	}
	if first == nil {
		first = adjacentPosition(p.query.Position, descending)
	}
	budget, found := maxLookback, false
	_, ended := p.source.scan(first, !descending, &budget, func(id, created uint64, _ []byte) bool {
		_, _, found = p.load(id, created)
		budget -= missCost
		return !found && p.err == nil
	})
	if !found && ended {
		return nil
	}
	return first
}

// adjacentPosition returns a position next to the given one. A scan from it in the opposite
// direction finds the given position first.
func adjacentPosition(position []byte, descending bool) []byte {
	position = bytes.Clone(position)
	if descending { // the opposite scan is ascending, so it has to start below the position
		for i := len(position) - 1; i >= 0; i-- {
			if position[i]--; position[i] != 0xFF {
				break
			}
		}
		return append(position, 0xFF)
	}
	return append(position, 0)
}

// load reads a candidate and checks it against the filters, because hashes may collide. It
// also returns the record's stored size. It skips damaged and missing records, which Check
// reports.
func (p *pageBuilder[T]) load(id, created uint64) (v T, size int, ok bool) {
	if p.err = p.tx.canceled(); p.err != nil {
		return v, 0, false
	}
	var err error
	if p.table.loadEntry != nil {
		v, ok, err = p.table.loadEntry(p.tx, id, created)
	} else {
		v, size, err = p.table.findListed(p.tx, id)
		ok = size > 0
	}
	if err != nil && !errors.Is(err, ErrDamaged) {
		p.err = err
	}
	ok = ok && err == nil && p.table.matches(&v, p.predicate)
	if ok && p.query.Match != nil {
		ok, p.err = p.query.Match(p.tx, &v)
	}
	return v, size, ok && p.err == nil
}

// findListed is like findSized but uses the cache of the table.
func (it *indexedTable[T]) findListed(t *Tx, id uint64) (v T, size int, err error) {
	if it.cache == nil {
		return it.findSized(t, id)
	}
	key := encodeUint64(id)
	raw := t.value(it.bucketName, key)
	switch {
	case raw == nil:
		return v, 0, nil
	case len(raw) > maxCachedSize:
		err = decodeRecord(it.bucketName, key, raw, &v)
		return v, len(raw), err
	}
	v, err = it.cache(t.caches).decode(it.bucketName, key, raw)
	return v, len(raw), err
}

// listByIDs implements ListAbstractsByID for any type.
func (it *indexedTable[T]) listByIDs(t *Tx, ids []uint64, q Query, matches func(*T) bool) (page Page[T], consumed int, err error) {
	pred, possible, err := it.newPredicate(t, q)
	if err != nil || !possible {
		return page, len(ids), err
	}
	q.Limit = len(ids)
	p := pageBuilder[T]{table: it, tx: t, query: q, predicate: &pred}
	for _, id := range ids {
		v, size, ok := p.load(id, 0)
		if p.err != nil {
			return page, consumed, p.err
		}
		ok = ok && it.trashed(&v) == nil && matches(&v)
		if ok && p.isFull(len(page.Items), size, &v) {
			break
		}
		if consumed++; ok {
			page.Items = append(page.Items, v)
		}
	}
	page.Bytes, page.Truncated = p.bytes, p.truncated
	return page, consumed, nil
}
