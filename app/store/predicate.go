package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"deedkeep/app/model"
)

// predicate decides whether a record or an index entry matches the filters of a query.
type predicate struct {
	createdFrom, createdTo uint64
	wantHashes             [maxColumns]uint32
	filtered               [maxColumns]bool
	values                 [maxColumns]columnValue
	hashes                 [maxColumns]valueHash

	hasUpdated             bool // there is a bound of the last change
	updatedFrom, updatedTo uint64

	hasDue         bool // there is a bound of the due date
	dueFrom, dueTo uint64
	openOnly       bool
	statusColumn   int      // index of ColumnStatus
	openStatuses   []uint32 // hash32 of the open statuses
}

// matchesEntry reports whether the entry of a list index may match. Bounds of the last
// change and of the due date aren't checked, and hashes may collide: see
// indexedTable.matches.
func (pred *predicate) matchesEntry(created uint64, columns []byte) bool {
	if created < pred.createdFrom || created > pred.createdTo {
		return false
	}
	for i := range pred.filtered {
		if pred.filtered[i] && (len(columns) < 4*i+4 || binary.BigEndian.Uint32(columns[4*i:]) != pred.wantHashes[i]) {
			return false
		}
	}
	return !pred.openOnly || len(columns) >= 4*pred.statusColumn+4 &&
		slices.Contains(pred.openStatuses, binary.BigEndian.Uint32(columns[4*pred.statusColumn:]))
}

// newPredicate returns the predicate for the filters of a query. possible is false if two
// filters contradict each other.
func (l *indexedTable[T]) newPredicate(t *Tx, q Query) (pred predicate, possible bool, err error) {
	possible = true
	pred.createdFrom, pred.createdTo = timeBounds(q.CreatedFrom, q.CreatedTo)
	for _, filter := range q.Filters {
		i := slices.IndexFunc(l.columns, func(c indexColumn[T]) bool { return c.name == filter.Column })
		if i < 0 {
			return pred, false, fmt.Errorf("list of %ss: it has no column %q", l.typeName, filter.Column)
		}
		v := filterValue(filter)
		possible = possible && (!pred.filtered[i] || pred.values[i] == v)
		pred.filtered[i], pred.values[i], pred.hashes[i] = true, v, t.hashValue(v)
		pred.wantHashes[i] = pred.hashes[i].hash32()
	}
	if pred.hasUpdated = !q.UpdatedFrom.IsZero() || !q.UpdatedTo.IsZero(); pred.hasUpdated {
		if !l.sortsByUpdated() {
			return pred, false, fmt.Errorf("list of %ss: it has no times of changes", l.typeName)
		}
		pred.updatedFrom, pred.updatedTo = timeBounds(q.UpdatedFrom, q.UpdatedTo)
	}
	if q.OpenOnly || q.DueFrom != "" || q.DueTo != "" {
		if !l.hasDue {
			return pred, false, fmt.Errorf("list of %ss: it has no due dates", l.typeName)
		}
		l.setDueFilter(t, q, &pred)
	}
	return pred, possible, nil
}

// timeBounds encodes the bounds of a time range. A zero time means unbounded.
func timeBounds(from, to time.Time) (low, high uint64) {
	high = math.MaxUint64
	if !from.IsZero() {
		low = sortableMicros(from)
	}
	if !to.IsZero() {
		high = sortableMicros(to)
	}
	return low, high
}

// setDueFilter adds the due date and OpenOnly to a predicate. The open statuses are taken
// from the counted values, since no others occur.
func (l *indexedTable[T]) setDueFilter(t *Tx, q Query, pred *predicate) {
	pred.hasDue, pred.dueTo = q.DueFrom != "" || q.DueTo != "", noDueDate-1
	if q.DueFrom != "" {
		pred.dueFrom = sortableDays(q.DueFrom)
	}
	if q.DueTo != "" {
		pred.dueTo = min(sortableDays(q.DueTo), pred.dueTo)
	}
	if pred.openOnly = q.OpenOnly; !pred.openOnly {
		return
	}
	pred.statusColumn = slices.IndexFunc(l.columns, func(c indexColumn[T]) bool { return c.name == ColumnStatus })
	for _, s := range t.ValueCounts(l.typeName, ColumnStatus) {
		if model.IsOpenStatus(s.Value) {
			pred.openStatuses = append(pred.openStatuses, t.hashValue(parseValue(s.Value)).hash32())
		}
	}
}

// filterValue returns the column value that a filter selects.
func filterValue(filter Filter) columnValue {
	v := parseValue(filter.Value)
	switch {
	case filter.Column == ColumnUnassigned:
		return boolValue(true)
	case filter.Column == ColumnProcessing && v.text == "false":
		return columnValue{}
	}
	return v
}

// boolValue returns the column value for a boolean: false has no value.
func boolValue(b bool) columnValue {
	if b {
		return columnValue{text: "true"}
	}
	return columnValue{}
}

// matches reports whether a record matches the filters and the bounds of its last change and
// due date.
func (l *indexedTable[T]) matches(v *T, pred *predicate) bool {
	for i := range l.columns {
		if pred.filtered[i] && l.columns[i].value(v) != pred.values[i] {
			return false
		}
	}
	if !pred.hasUpdated && !pred.hasDue && !pred.openOnly {
		return true
	}
	f := l.fields(v)
	return (!pred.hasUpdated || f.updated >= pred.updatedFrom && f.updated <= pred.updatedTo) && (!pred.openOnly || f.open) &&
		(!pred.hasDue || f.due >= pred.dueFrom && f.due <= pred.dueTo)
}
