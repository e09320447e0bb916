package store

import (
	"strconv"
	"strings"

	"deedkeep/app/model"
)

// Column names a property by which lists are filtered (API.md, "Ours").
type Column string

// The columns. Which list has which is drawn in doc.go.
const (
	ColumnStatus      Column = "status"
	ColumnTemplate    Column = "template_id"
	ColumnCounty      Column = "county"
	ColumnState       Column = "state"
	ColumnOrderNumber Column = "order_number"
	ColumnFolder      Column = "folder_id"
	ColumnAbstract    Column = "abstract_id"
	ColumnUnassigned  Column = "nowhere" // in no folder and of no abstract, whatever the value asked for
	ColumnProcessing  Column = "is_processing"
	ColumnActor       Column = "actor"
	ColumnKind        Column = "kind" // of an event; in the trash, the noun
	ColumnRecord      Column = "record"
)

// columnValue is what a record has in a column: folded text, or a number with the text
// before it. "key:7" is {"key", 7} and "12" {"", 12}; nothing is the zero value.
type columnValue struct {
	prefix string
	number uint64
}

// parseValue reads a text. No two texts that differ folded give the same value.
func parseValue(text string) columnValue {
	text = fold(text)
	before, digits, found := strings.Cut(text, ":")
	if !found {
		before, digits = "", text
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] < '1' || digits[0] > '9' || found && before == "" {
		return columnValue{prefix: text}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return columnValue{prefix: text}
	}
	return columnValue{before, n}
}

func (v columnValue) String() string {
	switch {
	case v.number == 0:
		return v.prefix
	case v.prefix == "":
		return strconv.FormatUint(v.number, 10)
	}
	return v.prefix + ":" + strconv.FormatUint(v.number, 10)
}

// fold is title.Fold without its price where text is plain.
func fold(text string) string {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return model.Fold(text)
		}
	}
	return strings.ToLower(strings.TrimSpace(text))
}

// A valueHash stands for a value in an index:
//
//	nothing             0
//	number below 2^40   hash of the text before it (3 bytes) | number (5 bytes)
//	anything else       hash of the text
//
// Numbers keep their order, so that entries of new records come to stand side by
// side. Words collide; a record's own column decides.
type valueHash uint64

const numberBits = 40

func (t *Tx) hashValue(v columnValue) valueHash {
	hash := t.hash
	if hash == nil {
		hash = fnv1a
	}
	switch {
	case v == columnValue{}:
		return 0
	case v.number == 0:
		return valueHash(max(hash(v.prefix), 1))
	case v.number < 1<<numberBits:
		return valueHash(hash(v.prefix)<<numberBits | v.number)
	}
	return valueHash(max(hash(v.String()), 1))
}

// fnv1a is FNV-1a. Whoever makes values collide on purpose gets slow lists of them.
func fnv1a(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// hash32 is how a word stands among the columns of an entry.
func (w valueHash) hash32() uint32 { return uint32(w>>32) ^ uint32(w) }
