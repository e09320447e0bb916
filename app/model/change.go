package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Change is a change to one field, or to one row of a list. From and To are JSON; null means no value
// or no row.
type Change struct {
	Field string          `json:"field"` // API name: "county", "custom_fields.search_type"
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
	// Row is the row of a list that moved, such as "instrument:7" or a name. From and To are its
	// places, starting with 1.
	Row string `json:"row,omitempty"`
	// Text is the change in words, with the names that the records had. It is "" in entries of older
	// versions and for a change that the text of another change of the entry includes.
	Text string `json:"text,omitempty"`
}

// Limits of the audit log.
const (
	// maxLoggedText is the maximum number of characters of a value. Of a longer text, the entry has
	// the part from shortly before the first difference, and its length; see excerpt.
	maxLoggedText = 1000
	// maxLoggedMoves is the maximum number of moved rows in a change of a sequence. The others are
	// counted.
	maxLoggedMoves = 200

	excerptContext = 40 // characters before the first difference
)

var null = json.RawMessage("null")

// FieldLabel says how a field is called and how its values are shown.
type FieldLabel struct {
	Name   string       // API name
	Label  string       // on pages and in the audit log
	Type   FieldType    // how values are formatted; "": as they are
	Refers string       // type of the records whose IDs are the values, such as "folder"
	Rows   []FieldLabel // members of the rows of a list; the first one with a value names the row
	// IsSequence is set for a list of IDs whose order is the content.
	IsSequence bool
}

// isList reports whether a field is compared by rows.
func (f FieldLabel) isList() bool { return f.Rows != nil }

// namesOnly is FieldLabel.Rows of a list of names.
var namesOnly = []FieldLabel{}

// recordField is a field of a record type. value returns a string, number, boolean, list, or
// CustomValues; its zero value means none.
type recordField[T any] struct {
	FieldLabel
	value func(*T) any
}

// compareRecords returns the differences between two versions of a record, in the sequence of its
// fields.
func compareRecords[T any](fields []recordField[T], from, to T) []Change {
	var c changes
	for _, f := range fields {
		c.addValue(f.FieldLabel, f.value(&from), f.value(&to))
	}
	return c
}

// changes collects the differences between two versions of a record.
type changes []Change

// addValue adds the difference between two values of a field.
func (c *changes) addValue(f FieldLabel, from, to any) {
	if custom, ok := from.(CustomValues); ok {
		now, _ := to.(CustomValues)
		c.custom(custom, now)
		return
	}
	switch {
	case f.IsSequence:
		before, _ := from.([]uint64)
		after, _ := to.([]uint64)
		c.sequence(f.Name, f.Refers, before, after)
	case f.isList():
		c.rows(f, encodeRows(from), encodeRows(to))
	default:
		c.add(f.Name, encodeValue(from), encodeValue(to))
	}
}

func (c *changes) add(field string, from, to json.RawMessage) {
	if len(from) == 0 {
		from = null
	}
	if len(to) == 0 {
		to = null
	}
	if !bytes.Equal(from, to) {
		from, to = excerpts(from, to)
		*c = append(*c, Change{Field: field, From: from, To: to})
	}
}

// custom adds a change for each custom field that differs, sorted by key.
func (c *changes) custom(from, to CustomValues) {
	all := map[string]bool{}
	for _, values := range []CustomValues{from, to} {
		for key := range values {
			all[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c.add("custom_fields."+key, from[key], to[key])
	}
}

// rows adds the added, removed, changed, and moved rows of a list. A row is the same as one before if
// it is equal, or else if its first member is, or else if both lists are equally long and it has the
// same place.
func (c *changes) rows(f FieldLabel, from, to []json.RawMessage) {
	before := pairRows(f, from, to)
	var places []int // where the rows that stay were, in their new sequence
	for n, row := range to {
		switch at := before[n]; {
		case at < 0:
			c.add(f.Name, null, row)
		default:
			c.add(f.Name, from[at], row)
			places = append(places, at)
		}
	}
	for n, row := range from {
		if !slices.Contains(places, n) {
			c.add(f.Name, row, null)
		}
	}
	c.moves(f.Name, places, func(place int) string { return f.rowName(from[place], func(string) string { return "" }) },
		func(place int) int { return slices.Index(before, place) })
}

// pairRows returns for each row of to the index of the row of from that it was, or -1.
func pairRows(f FieldLabel, from, to []json.RawMessage) []int {
	pairs, taken := make([]int, len(to)), make([]bool, len(from))
	for n := range pairs {
		pairs[n] = -1
	}
	pair := func(same func(at, n int) bool) {
		for n := range to {
			for at := 0; at < len(from) && pairs[n] < 0; at++ {
				if !taken[at] && same(at, n) {
					pairs[n], taken[at] = at, true
				}
			}
		}
	}
	pair(func(at, n int) bool { return bytes.Equal(from[at], to[n]) })
	if len(f.Rows) > 0 {
		keys := func(list []json.RawMessage) (keys []string) {
			for _, row := range list {
				keys = append(keys, string(decodeAs[map[string]json.RawMessage](row)[f.Rows[0].Name]))
			}
			return keys
		}
		old, now := keys(from), keys(to)
		pair(func(at, n int) bool { return now[n] != "" && old[at] == now[n] })
	}
	if len(from) == len(to) {
		pair(func(at, n int) bool { return at == n })
	}
	return pairs
}

// sequence adds the moved records of a list of IDs, and those that were added or removed.
func (c *changes) sequence(field, recordType string, from, to []uint64) {
	if slices.Equal(from, to) {
		return
	}
	was, is := map[uint64]int{}, map[uint64]int{}
	for n, id := range from {
		was[id] = n
	}
	for n, id := range to {
		is[id] = n
	}
	name := func(id uint64) string { return RecordRef(recordType, id) }
	var places []int
	for n, id := range to {
		if at, stays := was[id]; stays {
			places = append(places, at)
		} else {
			*c = append(*c, Change{Field: field, From: null, To: numberJSON(n + 1), Row: name(id)})
		}
	}
	for n, id := range from {
		if _, stays := is[id]; !stays {
			*c = append(*c, Change{Field: field, From: numberJSON(n + 1), To: null, Row: name(id)})
		}
	}
	c.moves(field, places, func(place int) string { return name(from[place]) }, func(place int) int { return is[from[place]] })
}

// moves adds the rows that moved. places are where the rows were, in their new sequence. Rows of the
// longest increasing run of places stay, so as few rows as possible have moved.
func (c *changes) moves(field string, places []int, name func(place int) string, now func(place int) int) {
	stay := longestIncreasing(places)
	moved := 0
	for _, place := range places {
		if len(stay) > 0 && stay[0] == place {
			stay = stay[1:]
			continue
		}
		if moved++; moved <= maxLoggedMoves {
			*c = append(*c, Change{Field: field, From: numberJSON(place + 1), To: numberJSON(now(place) + 1), Row: name(place)})
		}
	}
	if more := moved - maxLoggedMoves; more > 0 {
		*c = append(*c, Change{Field: field, From: null, To: encodeJSON(fmt.Sprintf("%d more rows moved", more))})
	}
}

// longestIncreasing returns the longest increasing subsequence of distinct numbers.
func longestIncreasing(list []int) []int {
	var ends []int // index of the smallest last number of a run of each length
	previous := make([]int, len(list))
	for n, value := range list {
		at, _ := slices.BinarySearchFunc(ends, value, func(end, value int) int { return list[end] - value })
		previous[n] = -1
		if at > 0 {
			previous[n] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, n)
		} else {
			ends[at] = n
		}
	}
	run := make([]int, len(ends))
	for n, at := len(ends)-1, 0; n >= 0; n-- {
		if n == len(ends)-1 {
			at = ends[n]
		}
		run[n], at = list[at], previous[at]
	}
	return run
}

// TextChange returns the change of a text that isn't a field of a record. "" means none.
func TextChange(field, from, to string) Change {
	return Change{Field: field, From: textJSON(from), To: textJSON(to)}
}

// NumberChange returns the change of a number that isn't a field of a record.
func NumberChange(field string, from, to int) Change {
	return Change{Field: field, From: numberJSON(max(from, 0)), To: numberJSON(max(to, 0))}
}

func numberJSON(n int) json.RawMessage {
	if n == 0 {
		return null
	}
	return encodeJSON(uint64(n)) // not negative
}

// encodeValue encodes a value without HTML escapes. A zero value or an empty list is null.
func encodeValue(value any) json.RawMessage {
	v := reflect.ValueOf(value)
	if !v.IsValid() || v.IsZero() && v.Kind() != reflect.Bool || v.Kind() == reflect.Slice && v.Len() == 0 {
		return null
	}
	return marshalPlain(value)
}

// encodeRows encodes the elements of a list.
func encodeRows(list any) (rows []json.RawMessage) {
	return append(rows, decodeAs[[]json.RawMessage](encodeValue(list))...)
}

// excerpts shortens the texts in two values, and in the members of two objects, to the excerpts around
// their first difference.
func excerpts(from, to json.RawMessage) (json.RawMessage, json.RawMessage) {
	if len(from) <= maxLoggedText && len(to) <= maxLoggedText {
		return from, to
	}
	a, isText := decodeString(from)
	b, isTextToo := decodeString(to)
	if isText || isTextToo {
		if isText && isTextToo || string(from) == "null" || string(to) == "null" {
			a, b = excerpt(a, b)
			return textJSON(a), textJSON(b)
		}
		return from, to
	}
	was, is := decodeAs[map[string]json.RawMessage](from), decodeAs[map[string]json.RawMessage](to)
	for name := range mergedKeys(was, is) {
		old, now := excerpts(orNull(was[name]), orNull(is[name]))
		if _, ok := was[name]; ok {
			was[name] = old
		}
		if _, ok := is[name]; ok {
			is[name] = now
		}
	}
	if was != nil {
		from = marshalPlain(was)
	}
	if is != nil {
		to = marshalPlain(is)
	}
	return from, to
}

func mergedKeys(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	maps.Copy(all, b)
	return all
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return null
	}
	return raw
}

// excerpt returns two texts unchanged unless one of them is longer than maxLoggedText. Then both start
// shortly before their first difference, after "…", and end with "…" and their length.
func excerpt(from, to string) (string, string) {
	if utf8.RuneCountInString(from) <= maxLoggedText && utf8.RuneCountInString(to) <= maxLoggedText {
		return from, to
	}
	a, b := []rune(from), []rune(to)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if len(a) == 0 || len(b) == 0 {
		same = 0
	}
	start := max(0, same-excerptContext)
	cut := func(text []rune) string {
		part := text[start:min(len(text), start+maxLoggedText)]
		short := string(part)
		if start > 0 {
			short = "…" + short
		}
		if start > 0 || len(part) < len(text) {
			short += fmt.Sprintf("… (%s characters)", InsertCommas(fmt.Sprint(len(text))))
		}
		return short
	}
	if len(a) == 0 {
		return "", cut(b)
	}
	if len(b) == 0 {
		return cut(a), ""
	}
	return cut(a), cut(b)
}

func textJSON(s string) json.RawMessage {
	if s == "" {
		return null
	}
	return encodeJSON(s)
}

// customName is the API name of custom fields.
const customName = "custom_fields"

// isCustom returns the key of a custom field.
func (c Change) isCustom() (key string, ok bool) { return strings.CutPrefix(c.Field, customName+".") }

// reversal puts the values back that a change of a record replaced.
type reversal struct {
	changed bool // a value isn't the one that the change set: it was changed since
}

// revert puts back a value, unless the change left it alone.
func revert[V any](r *reversal, now *V, before, after V) {
	was, set := encodeValue(before), encodeValue(after)
	switch {
	case bytes.Equal(was, set):
	case bytes.Equal(set, encodeValue(*now)):
		*now = before
	default:
		r.changed = true
	}
}

// revertTexts puts back the values of fields.
func revertTexts[T any](r *reversal, fields []textField[T], now, before, after *T) {
	for _, field := range fields {
		revert(r, field.text(now), *field.text(before), *field.text(after))
	}
}

// custom puts back the values of custom fields, each on its own.
func (r *reversal) custom(now *CustomValues, before, after CustomValues) {
	is := mergedKeys(*now, nil)
	for key := range mergedKeys(before, after) {
		value := is[key]
		revert(r, &value, before[key], after[key])
		if is[key] = value; len(value) == 0 {
			delete(is, key)
		}
	}
	if *now = is; len(is) == 0 {
		*now = nil
	}
}
