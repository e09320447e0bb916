package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
)

// columnValue is the value of a record in a column. It is either folded text or a number
// with an optional text before it. For example, "key:7" is {"key", 7}, and "12" is {"",
// 12}. The zero value means that the record has no value.
type columnValue struct {
	text   string
	number uint64
}

// parseValue parses text as a column value. Texts that are different after folding always
// have different values.
func parseValue(text string) columnValue {
	text = fold(text)
	prefix, digits, found := strings.Cut(text, ":")
	if !found {
		prefix, digits = "", text
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] < '1' || digits[0] > '9' || found && prefix == "" {
		return columnValue{text: text}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return columnValue{text: text}
	}
	return columnValue{prefix, n}
}

// String returns the folded text that parseValue parsed.
func (v columnValue) String() string {
	switch {
	case v.number == 0:
		return v.text
	case v.text == "":
		return strconv.FormatUint(v.number, 10)
	}
	return v.text + ":" + strconv.FormatUint(v.number, 10)
}

// fold is model.Fold with a fast path for ASCII.
func fold(text string) string {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return model.Fold(text)
		}
	}
	return strings.ToLower(strings.TrimSpace(text))
}

// A valueHash represents a column value in an index:
//
//	no value            0
//	number below 2^40   hash of the text before it (3 bytes) | number (5 bytes)
//	anything else       hash of the text
//
// Numbers keep their order, so the entries of new records are next to each other. Two
// values can have the same hash, so each match is verified against the record.
type valueHash uint64

// numberBits is the number of bits for the number in a valueHash.
const numberBits = 40

// hashValue returns the hash that represents v in an index.
func (t *Tx) hashValue(v columnValue) valueHash {
	hash := t.hash
	if hash == nil {
		hash = fnv1a
	}
	switch {
	case v == columnValue{}:
		return 0
	case v.number == 0:
		return valueHash(max(hash(v.text), 1))
	case v.number < 1<<numberBits:
		return valueHash(hash(v.text)<<numberBits | v.number)
	}
	return valueHash(max(hash(v.String()), 1))
}

// fnv1a returns the 64-bit FNV-1a hash of text. An attacker who constructs collisions only
// makes lists filtered by those values slow.
func fnv1a(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// hash32 returns the short form of h that is stored in index values.
func (h valueHash) hash32() uint32 { return uint32(h>>32) ^ uint32(h) }

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
	statusColumn   int      // index of model.ColumnStatus
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
		if pred.filtered[i] && columnHash(columns, i) != pred.wantHashes[i] {
			return false
		}
	}
	return !pred.openOnly || slices.Contains(pred.openStatuses, columnHash(columns, pred.statusColumn))
}

// columnHash returns the hash of column i in the value of an index entry, which is 0 if the value doesn't contain the
// column (indexLayout.laterColumns).
func columnHash(columns []byte, i int) uint32 {
	if len(columns) < 4*i+4 {
		return 0
	}
	return binary.BigEndian.Uint32(columns[4*i:])
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
	pred.statusColumn = slices.IndexFunc(it.columns, func(c indexColumn[T]) bool { return c.name == model.ColumnStatus })
	for _, s := range t.ValueCounts(it.typeName, model.ColumnStatus) {
		if model.IsOpenStatus(s.Value) {
			pred.openStatuses = append(pred.openStatuses, t.hashValue(parseValue(s.Value)).hash32())
		}
	}
}

// filterValue returns the column value that a filter selects.
func filterValue(filter Filter) columnValue {
	v := parseValue(filter.Value)
	switch {
	case filter.Column == model.ColumnUnassigned:
		return boolValue(true)
	case filter.Column == model.ColumnProcessing && v.text == "false":
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
