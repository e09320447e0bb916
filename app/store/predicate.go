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

	hasUpdated             bool // the query has a range for the last change
	updatedFrom, updatedTo uint64

	hasDue         bool // the query has a range for the due date
	dueFrom, dueTo uint64
	openOnly       bool
	statusColumn   int      // index of ColumnStatus
	openStatuses   []uint32 // hash32 of the open statuses
}

// matchesEntry reports whether the record of a list index entry may match. It doesn't check
// the ranges for the last change and the due date, and hashes may collide. Use
// indexedTable.matches to check the record.
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
// filters contradict each other, so that nothing can match.
func (it *indexedTable[T]) newPredicate(t *Tx, q Query) (pred predicate, possible bool, err error) {
	possible = true
	pred.createdFrom, pred.createdTo = timeBounds(q.CreatedFrom, q.CreatedTo)
	for _, filter := range q.Filters {
		i := slices.IndexFunc(it.columns, func(c indexColumn[T]) bool { return c.name == filter.Column })
		if i < 0 {
			return pred, false, fmt.Errorf("%s list: no column %q", it.typeName, filter.Column)
		}
		v := filterValue(filter)
		possible = possible && (!pred.filtered[i] || pred.values[i] == v)
		pred.filtered[i], pred.values[i], pred.hashes[i] = true, v, t.hashValue(v)
		pred.wantHashes[i] = pred.hashes[i].hash32()
	}
	if pred.hasUpdated = !q.UpdatedFrom.IsZero() || !q.UpdatedTo.IsZero(); pred.hasUpdated {
		if !it.sortsByUpdated() {
			return pred, false, fmt.Errorf("%s list: not filterable by time of change", it.typeName)
		}
		pred.updatedFrom, pred.updatedTo = timeBounds(q.UpdatedFrom, q.UpdatedTo)
	}
	if q.OpenOnly || q.DueFrom != "" || q.DueTo != "" {
		if !it.hasDue {
			return pred, false, fmt.Errorf("%s list: not filterable by due date", it.typeName)
		}
		it.setDueFilter(t, q, &pred)
	}
	return pred, possible, nil
}

// timeBounds returns the encoded bounds of a time range. A zero time means unbounded.
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

// setDueFilter adds the due date range and OpenOnly to a predicate. It finds the open
// statuses among the statuses that have a count, because no others are in use.
func (it *indexedTable[T]) setDueFilter(t *Tx, q Query, pred *predicate) {
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
	pred.statusColumn = slices.IndexFunc(it.columns, func(c indexColumn[T]) bool { return c.name == ColumnStatus })
	for _, s := range t.ValueCounts(it.typeName, ColumnStatus) {
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

// boolValue returns the column value for a boolean. It returns the zero value for false.
func boolValue(b bool) columnValue {
	if b {
		return columnValue{text: "true"}
	}
	return columnValue{}
}

// matches reports whether a record matches the filters and the ranges for the last change
// and the due date.
func (it *indexedTable[T]) matches(v *T, pred *predicate) bool {
	for i := range it.columns {
		if pred.filtered[i] && it.columns[i].value(v) != pred.values[i] {
			return false
		}
	}
	if !pred.hasUpdated && !pred.hasDue && !pred.openOnly {
		return true
	}
	f := it.fields(v)
	return (!pred.hasUpdated || f.updated >= pred.updatedFrom && f.updated <= pred.updatedTo) && (!pred.openOnly || f.open) &&
		(!pred.hasDue || f.due >= pred.dueFrom && f.due <= pred.dueTo)
}
