package store

import (
	"strconv"
	"strings"

	"deedkeep/app/model"
)

// Column is the name of a property by which a list can be filtered. These are the names of
// the filters of /v1, and some more.
type Column string

// The columns. doc.go shows which list has which.
const (
	ColumnStatus      Column = "status"
	ColumnTemplate    Column = "template_id"
	ColumnCounty      Column = "county"
	ColumnState       Column = "state"
	ColumnOrderNumber Column = "order_number"
	ColumnFolder      Column = "folder_id"
	ColumnAbstract    Column = "abstract_id"
	ColumnUnassigned  Column = "nowhere" // in no folder and no abstract; the value of the filter is ignored
	ColumnProcessing  Column = "is_processing"
	ColumnActor       Column = "actor"
	ColumnKind        Column = "kind" // of an event; in the trash, the record's type
	ColumnRecord      Column = "record"
)

// columnValue is the value of a record in a column: folded text, or a number with the text
// before it. "key:7" is {"key", 7}, and "12" is {"", 12}. The zero value means no value.
type columnValue struct {
	text   string
	number uint64
}

// parseValue parses a text. Texts that differ after folding never have equal values.
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
// Numbers keep their order, so entries of new records are next to each other. Different
// values can have the same hash, so matches are verified against the record.
type valueHash uint64

// numberBits is the size of a number in a valueHash.
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

// fnv1a returns the 64-bit FNV-1a hash of text. Someone who constructs collisions only gets
// slow lists of those values.
func fnv1a(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// hash32 returns the short form that is stored in the value of an index entry.
func (h valueHash) hash32() uint32 { return uint32(h>>32) ^ uint32(h) }
