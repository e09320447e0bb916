package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"deedkeep/app/model"
)

// predicate holds an entry's columns and time against a query.
type predicate struct {
	createdFrom, createdTo uint64
	wantHashes             [maxColumns]uint32
	filtered               [maxColumns]bool
	values                 [maxColumns]columnValue
	hashes                 [maxColumns]valueHash

	hasUpdated             bool // bounded
	updatedFrom, updatedTo uint64

	hasDue         bool // bounded
	dueFrom, dueTo uint64
	openOnly       bool
	statusColumn   int      // the column of it
	openStatuses   []uint32 // its values that are open, in short
}

func (j *predicate) matchesEntry(created uint64, columns []byte) bool {
	if created < j.createdFrom || created > j.createdTo {
		return false
	}
	for i := range j.filtered {
		if j.filtered[i] && (len(columns) < 4*i+4 || binary.BigEndian.Uint32(columns[4*i:]) != j.wantHashes[i]) {
			return false
		}
	}
	return !j.openOnly || len(columns) >= 4*j.statusColumn+4 && slices.Contains(j.openStatuses, binary.BigEndian.Uint32(columns[4*j.statusColumn:]))
}

// newPredicate reads the filters of a query; possible is false when nothing can hold
// to them all.
func (l *indexedTable[T]) newPredicate(t *Tx, q Query) (j predicate, possible bool, err error) {
	possible = true
	j.createdFrom, j.createdTo = timeBounds(q.CreatedFrom, q.CreatedTo)
	for _, w := range q.Filters {
		i := slices.IndexFunc(l.columns, func(c indexColumn[T]) bool { return c.name == w.Column })
		if i < 0 {
			return j, false, fmt.Errorf("list of %ss: it has no column %q", l.typeName, w.Column)
		}
		v := filterValue(w)
		possible = possible && (!j.filtered[i] || j.values[i] == v)
		j.filtered[i], j.values[i], j.hashes[i] = true, v, t.hashValue(v)
		j.wantHashes[i] = j.hashes[i].hash32()
	}
	if j.hasUpdated = !q.UpdatedFrom.IsZero() || !q.UpdatedTo.IsZero(); j.hasUpdated {
		if !l.sortsByUpdated() {
			return j, false, fmt.Errorf("list of %ss: it has no times of changes", l.typeName)
		}
		j.updatedFrom, j.updatedTo = timeBounds(q.UpdatedFrom, q.UpdatedTo)
	}
	if q.OpenOnly || q.DueFrom != "" || q.DueTo != "" {
		if !l.hasDue {
			return j, false, fmt.Errorf("list of %ss: it has no due dates", l.typeName)
		}
		l.setDueFilter(t, q, &j)
	}
	return j, possible, nil
}

// timeBounds are both ends of a span of time; zero is open.
func timeBounds(from, to time.Time) (least, most uint64) {
	most = math.MaxUint64
	if !from.IsZero() {
		least = sortableMicros(from)
	}
	if !to.IsZero() {
		most = sortableMicros(to)
	}
	return least, most
}

// setDueFilter reads what is asked of due dates, and which statuses are open: those that
// are counted are all there are.
func (l *indexedTable[T]) setDueFilter(t *Tx, q Query, j *predicate) {
	j.hasDue, j.dueTo = q.DueFrom != "" || q.DueTo != "", noDueDate-1
	if q.DueFrom != "" {
		j.dueFrom = sortableDays(q.DueFrom)
	}
	if q.DueTo != "" {
		j.dueTo = min(sortableDays(q.DueTo), j.dueTo)
	}
	if j.openOnly = q.OpenOnly; !j.openOnly {
		return
	}
	j.statusColumn = slices.IndexFunc(l.columns, func(c indexColumn[T]) bool { return c.name == ColumnStatus })
	for _, s := range t.ValueCounts(l.typeName, ColumnStatus) {
		if model.IsOpenStatus(s.Value) {
			j.openStatuses = append(j.openStatuses, t.hashValue(parseValue(s.Value)).hash32())
		}
	}
}

// filterValue is the value that a filter asks for.
func filterValue(w Filter) columnValue {
	v := parseValue(w.Value)
	switch {
	case w.Column == ColumnUnassigned:
		return boolValue(true)
	case w.Column == ColumnProcessing && v.prefix == "false":
		return columnValue{}
	}
	return v
}

// boolValue is the value of a column that is true or nothing.
func boolValue(is bool) columnValue {
	if is {
		return columnValue{prefix: "true"}
	}
	return columnValue{}
}

// matches reports whether a record has what is asked of its columns, of its last change,
// and of its due date.
func (l *indexedTable[T]) matches(v *T, j *predicate) bool {
	for i := range l.columns {
		if j.filtered[i] && l.columns[i].value(v) != j.values[i] {
			return false
		}
	}
	if !j.hasUpdated && !j.hasDue && !j.openOnly {
		return true
	}
	c := l.fields(v)
	return (!j.hasUpdated || c.updated >= j.updatedFrom && c.updated <= j.updatedTo) && (!j.openOnly || c.open) && (!j.hasDue || c.due >= j.dueFrom && c.due <= j.dueTo)
}
