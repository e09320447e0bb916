package store

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
)

// Counter is the name of a counter that is updated together with the records.
type Counter string

// The counters. They don't include the trash unless a comment says so.
const (
	CountAbstracts   Counter = "abstracts" // live records; the same is true of the next two counters
	CountOrders      Counter = "orders"
	CountFiles       Counter = "files"
	CountFolders     Counter = "folders"
	CountTasks       Counter = "tasks"
	CountFailed      Counter = "failed"       // live files whose processing failed
	CountBytes       Counter = "bytes"        // total size of the live files; duplicates count each time
	CountTrashed     Counter = "trashed"      // entries in the trash
	CountFileRecords Counter = "file_records" // all files, including the trash
	CountTextChecked Counter = "text_known"   // live files that were checked for pages with text
	CountWithoutText Counter = "textless"     // live files without text on any page
	CountInstruments Counter = "instruments"
	CountOCRFiles    Counter = "ocr_files" // live files that wait for OCR
	CountOCRPages    Counter = "ocr_pages" // their pages that have to be read
)

// allCounters returns all counters.
func allCounters() []Counter {
	return []Counter{CountAbstracts, CountOrders, CountFiles, CountFolders, CountTasks, CountFailed, CountBytes, CountTrashed,
		CountFileRecords, CountTextChecked, CountWithoutText, CountInstruments, CountOCRFiles, CountOCRPages}
}

// counterKeys returns the keys of the counters bucket.
func counterKeys() (keys [][]byte) {
	for _, c := range allCounters() {
		keys = append(keys, []byte(c))
	}
	return keys
}

// valueCountKey identifies the number of live records that have a value in a column.
type valueCountKey struct {
	typeName string
	column   model.Column
	value    columnValue
}

// encode returns the key for the counts bucket. Type names, columns, and values never
// contain NUL.
func (c valueCountKey) encode() []byte {
	return fmt.Appendf(nil, "%s\x00%s\x00%s", c.typeName, c.column, c.value)
}

// Count returns the value of a counter. It includes changes made in this transaction.
func (t *Tx) Count(c Counter) uint64 {
	n, _ := decodeUint64(t.bucket(bucketCounters).Get([]byte(c))) // 0 if missing
	return addClamped(n, t.counterDeltas[c])
}

// CountBy returns the number of live records that have a value in a column, ignoring case.
// It supports model.ColumnStatus of abstracts and orders, and model.ColumnFolder of files. For other
// columns it returns 0.
func (t *Tx) CountBy(typeName string, column model.Column, value string) uint64 {
	c := valueCountKey{typeName, column, parseValue(value)}
	n, _ := decodeUint64(t.bucket(bucketCounts).Get(c.encode())) // 0 if missing
	return addClamped(n, t.valueDeltas[c])
}

// ValueCount is the number of live records with a value.
type ValueCount struct {
	Value string // folded; "" for records without a value
	Count uint64
}

// ValueCounts returns the number of live records for each value of a column that CountBy
// supports, sorted by value. It includes changes made in this transaction.
func (t *Tx) ValueCounts(typeName string, column model.Column) (list []ValueCount) {
	prefix := valueCountKey{typeName: typeName, column: column}.encode()
	c := t.bucket(bucketCounts).Cursor()
	for k, raw := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, raw = c.Next() {
		value := string(k[len(prefix):])
		n, _ := decodeUint64(raw) // Check reports invalid counts
		list = append(list, ValueCount{value, addClamped(n, t.valueDeltas[valueCountKey{typeName, column, parseValue(value)}])})
	}
	for added, n := range t.valueDeltas {
		known := slices.ContainsFunc(list, func(l ValueCount) bool { return l.Value == added.value.String() })
		if added.typeName == typeName && added.column == column && !known {
			list = append(list, ValueCount{added.value.String(), addClamped(0, n)})
		}
	}
	list = slices.DeleteFunc(list, func(l ValueCount) bool { return l.Count == 0 })
	slices.SortFunc(list, func(a, b ValueCount) int { return strings.Compare(a.Value, b.Value) })
	return list
}

// addClamped returns n + delta, or 0 if the sum is negative. The sum is negative only if
// the database is damaged, and Check reports that.
func addClamped(n uint64, delta int64) uint64 { return uint64(max(int64(n)+delta, 0)) }

// addCount adds delta to a counter. Counters change often, so flush writes them only once
// per commit.
func (t *Tx) addCount(c Counter, delta int64) {
	if t.counterDeltas == nil {
		t.counterDeltas = map[Counter]int64{}
	}
	t.counterDeltas[c] += delta
}

// countTransition updates a counter after a record changed. before and after say whether
// the counter includes the record before and after the change.
func (t *Tx) countTransition(c Counter, before, after bool) {
	switch {
	case after && !before:
		t.addCount(c, 1)
	case before && !after:
		t.addCount(c, -1)
	}
}

// addValueCount adds delta to the count of a value. flush writes it.
func (t *Tx) addValueCount(typeName string, column model.Column, v columnValue, delta int64) {
	if t.valueDeltas == nil {
		t.valueDeltas = map[valueCountKey]int64{}
	}
	t.valueDeltas[valueCountKey{typeName, column, v}] += delta
}

// flush writes the changed counters and the change feed. It runs once, before the commit.
func (t *Tx) flush() error {
	for c, delta := range t.counterDeltas {
		if delta == 0 {
			continue
		}
		if err := t.bucket(bucketCounters).Put([]byte(c), encodeUint64(t.Count(c))); err != nil {
			return fmt.Errorf("update counter %s: %w", c, err)
		}
	}
	t.counterDeltas = nil
	counts := t.bucket(bucketCounts)
	for c, delta := range t.valueDeltas {
		key := c.encode()
		have, _ := decodeUint64(counts.Get(key)) // 0 if missing
		n := addClamped(have, delta)
		var err error
		switch n {
		case have:
		case 0:
			err = counts.Delete(key)
		default:
			err = counts.Put(key, encodeUint64(n))
		}
		if err != nil {
			return fmt.Errorf("update counter %s %s: %w", c.typeName, c.column, err)
		}
	}
	t.valueDeltas = nil
	return t.flushChanges()
}

// CountAbstractsOfTemplate returns the number of live abstracts with a template, up to
// limit. It counts index entries: 100,000 of them take about 20 ms.
func (t *Tx) CountAbstractsOfTemplate(template uint64, limit int) (int, error) {
	if t.isRebuilding() {
		return 0, errRebuilding
	}
	pred, possible, err := abstracts.newPredicate(t, Query{Filters: []Filter{{model.ColumnTemplate, strconv.FormatUint(template, 10)}}})
	if err != nil || !possible {
		return 0, err
	}
	return countKeys(abstracts.filterRanges(t, &pred)[0], limit), nil
}
