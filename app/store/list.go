package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"deedkeep/app/model"
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

	few int // entries that are gathered and sorted at most; 0: gatherLimit
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
	defaultSteps = 10_000
	defaultBytes = 4 << 20
	fetchSteps   = 16    // what a record costs that was read for nothing
	lookSteps    = 1_000 // to find out whether anything is behind a page
)

// judge holds an entry's columns and time against a query.
type judge struct {
	from, to uint64
	want     [mostColumns]uint32
	asked    [mostColumns]bool
	where    [mostColumns]value
	words    [mostColumns]word

	updated      bool // bounded
	since, until uint64

	due            bool // bounded
	dueFrom, dueTo uint64
	open           bool
	status         int      // the column of it
	opens          []uint32 // its values that are open, in short
}

func (j *judge) accepts(created uint64, columns []byte) bool {
	if created < j.from || created > j.to {
		return false
	}
	for i := range j.asked {
		if j.asked[i] && (len(columns) < 4*i+4 || binary.BigEndian.Uint32(columns[4*i:]) != j.want[i]) {
			return false
		}
	}
	return !j.open || len(columns) >= 4*j.status+4 && slices.Contains(j.opens, binary.BigEndian.Uint32(columns[4*j.status:]))
}

// judgeOf reads the filters of a query; possible is false when nothing can hold
// to them all.
func (l *listing[T]) judgeOf(t *Tx, q Query) (j judge, possible bool, err error) {
	possible = true
	j.from, j.to = bounds(q.CreatedFrom, q.CreatedTo)
	for _, w := range q.Filters {
		i := slices.IndexFunc(l.columns, func(c column[T]) bool { return c.name == w.Column })
		if i < 0 {
			return j, false, fmt.Errorf("list of %ss: it has no column %q", l.noun, w.Column)
		}
		v := wanted(w)
		possible = possible && (!j.asked[i] || j.where[i] == v)
		j.asked[i], j.where[i], j.words[i] = true, v, t.word(v)
		j.want[i] = j.words[i].short()
	}
	if j.updated = !q.UpdatedFrom.IsZero() || !q.UpdatedTo.IsZero(); j.updated {
		if !l.timed() {
			return j, false, fmt.Errorf("list of %ss: it has no times of changes", l.noun)
		}
		j.since, j.until = bounds(q.UpdatedFrom, q.UpdatedTo)
	}
	if q.OpenOnly || q.DueFrom != "" || q.DueTo != "" {
		if !l.due {
			return j, false, fmt.Errorf("list of %ss: it has no due dates", l.noun)
		}
		l.judgeDue(t, q, &j)
	}
	return j, possible, nil
}

// bounds are both ends of a span of time; zero is open.
func bounds(from, to time.Time) (least, most uint64) {
	most = math.MaxUint64
	if !from.IsZero() {
		least = micros(from)
	}
	if !to.IsZero() {
		most = micros(to)
	}
	return least, most
}

// judgeDue reads what is asked of due dates, and which statuses are open: those that
// are counted are all there are.
func (l *listing[T]) judgeDue(t *Tx, q Query, j *judge) {
	j.due, j.dueTo = q.DueFrom != "" || q.DueTo != "", neverDue-1
	if q.DueFrom != "" {
		j.dueFrom = days(q.DueFrom)
	}
	if q.DueTo != "" {
		j.dueTo = min(days(q.DueTo), j.dueTo)
	}
	if j.open = q.OpenOnly; !j.open {
		return
	}
	j.status = slices.IndexFunc(l.columns, func(c column[T]) bool { return c.name == ColumnStatus })
	for _, s := range t.ValueCounts(l.noun, ColumnStatus) {
		if model.OpenStatus(s.Value) {
			j.opens = append(j.opens, t.word(valueOf(s.Value)).short())
		}
	}
}

// wanted is the value that a filter asks for.
func wanted(w Filter) value {
	v := valueOf(w.Value)
	switch {
	case w.Column == ColumnUnassigned:
		return yes(true)
	case w.Column == ColumnProcessing && v.text == "false":
		return value{}
	}
	return v
}

// yes is the value of a column that is true or nothing.
func yes(is bool) value {
	if is {
		return value{text: "true"}
	}
	return value{}
}

// source is where candidates come from, in one order.
type source interface {
	// scan hands over candidates strictly beyond a position, or all when it is nil,
	// until fn says no, the range ends or the steps are used up. It gives the last
	// position it looked at, and whether the range ended.
	scan(from []byte, down bool, steps *int, fn func(id, created uint64, at []byte) bool) (last []byte, ended bool)
}

// list gives the page of a query.
func (l *listing[T]) list(t *Tx, q Query) (page Page[T], err error) {
	if t.rebuilding() {
		return page, errRebuilding
	}
	j, possible, err := l.judgeOf(t, q)
	if err != nil || !possible {
		return page, err
	}
	from, err := l.source(t, q, &j)
	if err != nil {
		return page, err
	}
	p := pager[T]{l: l, t: t, q: q, judge: &j, from: from}
	return p.page()
}

// pager makes one page of candidates.
type pager[T any] struct {
	l     *listing[T]
	t     *Tx
	q     Query
	judge *judge
	from  source
	bytes int // of the items so far
	cut   bool
	err   error
}

func (p *pager[T]) page() (Page[T], error) {
	steps := p.q.MaxScanned
	if steps <= 0 {
		steps = defaultSteps
	}
	down := p.q.Descending != p.q.Backward
	var items []T
	var first, end []byte
	more := false
	last, ended := p.from.scan(p.q.Position, down, &steps, func(id, created uint64, at []byte) bool {
		v, ok := p.fetch(id, created)
		if !ok {
			steps -= fetchSteps
			return p.err == nil
		}
		if more = p.full(len(items), id, &v); more {
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
	before := p.behind(first, down)
	if p.q.Backward {
		slices.Reverse(items)
		beyond, before = before, beyond
	}
	return Page[T]{Items: items, Next: beyond, Prev: before, Bytes: p.bytes, Truncated: p.cut}, p.err
}

// full says whether the page has no room for one more, which it counts otherwise.
func (p *pager[T]) full(items int, id uint64, v *T) bool {
	if items >= max(p.q.Limit, 1) {
		return true
	}
	weight := p.l.weight(p.t, id, v)
	if p.cut = items > 0 && p.bytes+weight > cmp.Or(max(p.q.MaxBytes, 0), defaultBytes); !p.cut {
		p.bytes += weight
	}
	return p.cut
}

// behind gives the position for the page on the other side of this one's beginning,
// or nil when nothing is there.
func (p *pager[T]) behind(first []byte, down bool) []byte {
	if p.q.Position == nil || p.err != nil {
		return nil
	}
	if first == nil {
		first = beside(p.q.Position, down)
	}
	steps, found := lookSteps, false
	_, ended := p.from.scan(first, !down, &steps, func(id, created uint64, _ []byte) bool {
		_, found = p.fetch(id, created)
		steps -= fetchSteps
		return !found && p.err == nil
	})
	if !found && ended {
		return nil
	}
	return first
}

// beside gives a position so close to another that a scan from it in the other
// direction meets that one first.
func beside(at []byte, down bool) []byte {
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

// fetch reads a candidate and holds it against the filters: words may collide. A
// record that is damaged or missing is passed over, Check reports it.
func (p *pager[T]) fetch(id, created uint64) (v T, ok bool) {
	if p.err = p.t.ended(); p.err != nil {
		return v, false
	}
	v, ok, err := p.l.read(p.t, id, created)
	if err != nil && !errors.Is(err, ErrDamaged) {
		p.err = err
	}
	if err != nil || !ok {
		return v, false
	}
	fits := p.l.holds(&v, p.judge)
	return v, fits
}

// holds reports whether a record has what is asked of its columns, of its last change,
// and of its due date.
func (l *listing[T]) holds(v *T, j *judge) bool {
	for i := range l.columns {
		if j.asked[i] && l.columns[i].of(v) != j.where[i] {
			return false
		}
	}
	if !j.updated && !j.due && !j.open {
		return true
	}
	c := l.card(v)
	return (!j.updated || c.updated >= j.since && c.updated <= j.until) && (!j.open || c.open) && (!j.due || c.due >= j.dueFrom && c.due <= j.dueTo)
}

// weight is how many bytes are read to show a record.
func (l *listing[T]) weight(t *Tx, id uint64, v *T) int {
	if l.weigh != nil {
		return l.weigh(t, v)
	}
	return l.stored(t, id)
}

func (l *listing[T]) read(t *Tx, id, created uint64) (T, bool, error) {
	if l.fetch != nil {
		return l.fetch(t, id, created)
	}
	return l.find(t, id)
}
