package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"
)

// Sort names what a list is sorted by (API.md, "Ours", has the first three); records
// that are equal in it stand in order of their creation, then of their numbers.
type Sort string

// The sorts. Which list has which is said at its function. The last three compare
// the beginnings of texts (title.Squeezed, title.Plain); without a text: last.
const (
	SortCreated     Sort = "created_at"
	SortUpdated     Sort = "updated_at"
	SortDue         Sort = "due_date" // without a date: last
	SortOrderNumber Sort = "order_number"
	SortFileNumber  Sort = "file_number"
	SortParcel      Sort = "parcel"
	SortAddress     Sort = "address"

	// SortSequence is the sequence of the log, upward alone.
	SortSequence Sort = "sequence"
)

// Filter is one filter of a list: the column has the value, compared without case.
// A number is in decimal, ColumnProcessing "true" or "false"; an empty value asks
// for records without one.
type Filter struct {
	Column Column
	Value  string
}

// Query asks for a page of a list.
type Query struct {
	Sort                   Sort // "": SortCreated
	Descending             bool // the other way round, all of it
	Filters                []Filter
	CreatedFrom, CreatedTo time.Time // of creation, both inclusive, to the microsecond; zero is open
	UpdatedFrom            time.Time // of the last change of abstracts and orders, like From
	UpdatedTo              time.Time // and To
	DueFrom                string    // of orders: due no sooner than this YYYY-MM-DD, and no later than
	DueTo                  string    // this one; "" is open, with either those without a date are out
	OpenOnly               bool      // of orders: those that somebody works on (title.OpenStatus)
	Position               []byte    // after which the page begins, in reading order; nil: at the start
	Backward               bool      // the page that ends before Position instead; nil: the last page
	Limit                  int       // records on the page; one at least
	MaxBytes               int       // of the records on the page as they are stored, unless it is one; 0: 4 MB
	MaxScanned             int       // entries that may be looked at; 0: 10,000

	sortLimit int // entries that are gathered and sorted at most; 0: maxSorted
}

// Page is a part of a list, always in reading order. Next and Prev are positions
// for the pages after (Query.Position) and before it (with Query.Back); nil: there
// is none that way.
//
// A page that used up its steps or its bytes is short, without steps perhaps empty,
// and has a position to go on. Whoever goes on to the end sees every record once that was there all the
// while, whatever comes and goes between the pages.
type Page[T any] struct {
	Items      []T
	Next, Prev []byte
	End        []byte // of a list in sequence: after what was looked at, so also where there is no next page yet
	Bytes      int    // of its records as they are stored, an abstract's with those of its files
	Truncated  bool   // it is shorter than Limit, since more did not fit into Query.Bytes
}

const (
	defaultMaxScanned = 10_000
	defaultMaxBytes   = 4 << 20
	missCost          = 16    // what a record costs that was read for nothing
	maxLookback       = 1_000 // to find out whether anything is behind a page
)

// candidateSource is where candidates come from, in one order.
type candidateSource interface {
	// scan hands over candidates strictly beyond a position, or all when it is nil,
	// until fn says no, the range ends or the steps are used up. It gives the last
	// position it looked at, and whether the range ended.
	scan(from []byte, down bool, steps *int, fn func(id, created uint64, at []byte) bool) (last []byte, ended bool)
}

// list gives the page of a query.
func (l *indexedTable[T]) list(t *Tx, q Query) (page Page[T], err error) {
	if t.isRebuilding() {
		return page, errRebuilding
	}
	j, possible, err := l.newPredicate(t, q)
	if err != nil || !possible {
		return page, err
	}
	from, err := l.chooseSource(t, q, &j)
	if err != nil {
		return page, err
	}
	p := pageBuilder[T]{table: l, tx: t, query: q, predicate: &j, source: from}
	return p.build()
}

// pageBuilder makes one page of candidates.
type pageBuilder[T any] struct {
	table     *indexedTable[T]
	tx        *Tx
	query     Query
	predicate *predicate
	source    candidateSource
	bytes     int // of the items so far
	truncated bool
	err       error
}

func (p *pageBuilder[T]) build() (Page[T], error) {
	steps := p.query.MaxScanned
	if steps <= 0 {
		steps = defaultMaxScanned
	}
	down := p.query.Descending != p.query.Backward
	var items []T
	var first, end []byte
	more := false
	last, ended := p.source.scan(p.query.Position, down, &steps, func(id, created uint64, at []byte) bool {
		v, ok := p.load(id, created)
		if !ok {
			steps -= missCost
			return p.err == nil
		}
		if more = p.isFull(len(items), id, &v); more {
			return false
		}
		if items = append(items, v); len(items) == 1 {
			first = bytes.Clone(at)
		}
		end = append(end[:0], at...)
		return true
	})
	var beyond []byte
	switch {
	case more:
		beyond = end
	case !ended:
		beyond = last
	}
	before := p.positionBefore(first, down)
	if p.query.Backward {
		slices.Reverse(items)
		beyond, before = before, beyond
	}
	return Page[T]{Items: items, Next: beyond, Prev: before, Bytes: p.bytes, Truncated: p.truncated}, p.err
}

// isFull says whether the page has no room for one more, which it counts otherwise.
func (p *pageBuilder[T]) isFull(items int, id uint64, v *T) bool {
	if items >= max(p.query.Limit, 1) {
		return true
	}
	weight := p.table.recordSize(p.tx, id, v)
	if p.truncated = items > 0 && p.bytes+weight > cmp.Or(max(p.query.MaxBytes, 0), defaultMaxBytes); !p.truncated {
		p.bytes += weight
	}
	return p.truncated
}

// positionBefore gives the position for the page on the other side of this one's beginning,
// or nil when nothing is there.
func (p *pageBuilder[T]) positionBefore(first []byte, down bool) []byte {
	if p.query.Position == nil || p.err != nil {
		return nil
	}
	if first == nil {
		first = adjacentPosition(p.query.Position, down)
	}
	steps, found := maxLookback, false
	_, ended := p.source.scan(first, !down, &steps, func(id, created uint64, _ []byte) bool {
		_, found = p.load(id, created)
		steps -= missCost
		return !found && p.err == nil
	})
	if !found && ended {
		return nil
	}
	return first
}

// adjacentPosition gives a position so close to another that a scan from it in the other
// direction meets that one first.
func adjacentPosition(at []byte, down bool) []byte {
	at = bytes.Clone(at)
	if down { // the scan back goes up, and begins below
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]--; at[i] != 0xFF {
				break
			}
		}
		return append(at, 0xFF)
	}
	return append(at, 0)
}

// load reads a candidate and holds it against the filters: words may collide. A
// record that is damaged or missing is passed over, Check reports it.
func (p *pageBuilder[T]) load(id, created uint64) (v T, ok bool) {
	if p.err = p.tx.canceled(); p.err != nil {
		return v, false
	}
	v, ok, err := p.table.readCandidate(p.tx, id, created)
	if err != nil && !errors.Is(err, ErrDamaged) {
		p.err = err
	}
	if err != nil || !ok {
		return v, false
	}
	fits := p.table.matches(&v, p.predicate)
	return v, fits
}

// recordSize is how many bytes are read to show a record.
func (l *indexedTable[T]) recordSize(t *Tx, id uint64, v *T) int {
	if l.size != nil {
		return l.size(t, v)
	}
	return l.storedSize(t, id)
}

func (l *indexedTable[T]) readCandidate(t *Tx, id, created uint64) (T, bool, error) {
	if l.loadEntry != nil {
		return l.loadEntry(t, id, created)
	}
	return l.find(t, id)
}

func (l *indexedTable[T]) listByIDs(t *Tx, ids []uint64, q Query) (page Page[T], gone int, err error) {
	j, possible, err := l.newPredicate(t, q)
	if err != nil || !possible {
		return page, len(ids), err
	}
	p := pageBuilder[T]{table: l, tx: t, query: q, predicate: &j}
	for _, id := range ids {
		v, ok := p.load(id, 0)
		if p.err != nil {
			return page, gone, p.err
		}
		if at := l.fields(&v).created; ok && (l.trashed(&v) != nil || at < j.createdFrom || at > j.createdTo) {
			ok = false
		}
		if ok && p.isFull(len(page.Items), id, &v) {
			break
		}
		if gone++; ok {
			page.Items = append(page.Items, v)
		}
	}
	page.Bytes, page.Truncated = p.bytes, p.truncated
	return page, gone, nil
}
