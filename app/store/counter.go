package store

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Counter names one of the numbers kept with the records.
type Counter string

// The counters.
const (
	CountAbstracts   Counter = "abstracts" // this and the next two without what is in the trash
	CountOrders      Counter = "orders"
	CountFiles       Counter = "files"
	CountFolders     Counter = "folders"
	CountTasks       Counter = "tasks"
	CountFailed      Counter = "failed"       // files whose processing failed, without what is in the trash
	CountBytes       Counter = "bytes"        // of the files, each counted as often as it is filed
	CountTrashed     Counter = "trashed"      // entries of the trash
	CountFileRecords Counter = "file_records" // files, in the trash too
	CountTextChecked Counter = "text_known"   // files whose pages with text were counted, without what is in the trash
	CountWithoutText Counter = "textless"     // those of them that have none
)

func allCounters() []Counter {
	return []Counter{CountAbstracts, CountOrders, CountFiles, CountFolders, CountTasks, CountFailed, CountBytes, CountTrashed, CountFileRecords, CountTextChecked, CountWithoutText}
}

func counterKeys() (keys [][]byte) {
	for _, c := range allCounters() {
		keys = append(keys, []byte(c))
	}
	return keys
}

// valueCountKey names a kept count of the live records that have a value in a column.
type valueCountKey struct {
	typeName string
	column   Column
	value    columnValue
}

// encode is where counts keeps it. Neither a noun, a column nor a value holds NUL.
func (c valueCountKey) encode() []byte {
	return fmt.Appendf(nil, "%s\x00%s\x00%s", c.typeName, c.column, c.value)
}

// Count gives a counter's value, with what this transaction added.
func (t *Tx) Count(c Counter) uint64 {
	n, _ := decodeUint64(t.bucket(bucketCounters).Get([]byte(c))) // absent is zero
	return addClamped(n, t.counterDeltas[c])
}

// CountBy gives the number of live records with a value in a column, compared
// without case: abstracts and orders by ColumnStatus, files by ColumnFolder. Of
// anything else it is 0.
func (t *Tx) CountBy(noun string, column Column, value string) uint64 {
	c := valueCountKey{noun, column, parseValue(value)}
	n, _ := decodeUint64(t.bucket(bucketCounts).Get(c.encode())) // absent is zero
	return addClamped(n, t.valueDeltas[c])
}

// ValueCount is how many live records have a value.
type ValueCount struct {
	Value string // folded; "" are those without one
	Count uint64
}

// ValueCounts gives all values of a column that CountBy counts, in their order, with what
// this transaction added.
func (t *Tx) ValueCounts(noun string, column Column) (list []ValueCount) {
	prefix := valueCountKey{typeName: noun, column: column}.encode()
	c := t.bucket(bucketCounts).Cursor()
	for k, raw := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, raw = c.Next() {
		value := string(k[len(prefix):])
		n, _ := decodeUint64(raw) // Check reports what is none
		list = append(list, ValueCount{value, addClamped(n, t.valueDeltas[valueCountKey{noun, column, parseValue(value)}])})
	}
	for added, n := range t.valueDeltas {
		known := slices.ContainsFunc(list, func(l ValueCount) bool { return l.Value == added.value.String() })
		if added.typeName == noun && added.column == column && !known {
			list = append(list, ValueCount{added.value.String(), addClamped(0, n)})
		}
	}
	list = slices.DeleteFunc(list, func(l ValueCount) bool { return l.Count == 0 })
	slices.SortFunc(list, func(a, b ValueCount) int { return strings.Compare(a.Value, b.Value) })
	return list
}

// addClamped stops at zero: only damage leads below, and Check tells of it.
func addClamped(n uint64, delta int64) uint64 { return uint64(max(int64(n)+delta, 0)) }

// addCount changes a counter. Counters are hot: they are written once a commit.
func (t *Tx) addCount(c Counter, delta int64) {
	if t.counterDeltas == nil {
		t.counterDeltas = map[Counter]int64{}
	}
	t.counterDeltas[c] += delta
}

// countTransition counts what was or was not, and now is or is not.
func (t *Tx) countTransition(c Counter, was, is bool) {
	switch {
	case is && !was:
		t.addCount(c, 1)
	case was && !is:
		t.addCount(c, -1)
	}
}

func (t *Tx) addValueCount(noun string, column Column, v columnValue, delta int64) {
	if t.valueDeltas == nil {
		t.valueDeltas = map[valueCountKey]int64{}
	}
	t.valueDeltas[valueCountKey{noun, column, v}] += delta
}

// flush writes what was counted; whoever commits calls it.
func (t *Tx) flush() error {
	for c, delta := range t.counterDeltas {
		if delta == 0 {
			continue
		}
		if err := t.bucket(bucketCounters).Put([]byte(c), encodeUint64(t.Count(c))); err != nil {
			return fmt.Errorf("count %s: %w", c, err)
		}
	}
	t.counterDeltas = nil
	counts := t.bucket(bucketCounts)
	for c, delta := range t.valueDeltas {
		key := c.encode()
		have, _ := decodeUint64(counts.Get(key)) // absent is zero
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
			return fmt.Errorf("count %s %s: %w", c.typeName, c.column, err)
		}
	}
	t.valueDeltas = nil
	return t.flushChanges()
}

// CountAbstractsOfTemplate gives how many live abstracts were made from a template, by walking
// their index up to a limit; a limit of 100,000 costs some 20 ms.
func (t *Tx) CountAbstractsOfTemplate(template uint64, limit int) (int, error) {
	if t.isRebuilding() {
		return 0, errRebuilding
	}
	j, possible, err := abstracts.newPredicate(t, Query{Filters: []Filter{{ColumnTemplate, strconv.FormatUint(template, 10)}}})
	if err != nil || !possible {
		return 0, err
	}
	return countKeys(abstracts.filterRanges(t, &j)[0], limit), nil
}
