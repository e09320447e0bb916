package store

import (
	"strconv"
	"strings"

	"deedkeep/app/model"
)

// Column is the name of a property by which a list can be filtered. It includes the names
// of all filters of the /v1 API.
type Column string

// The columns. doc.go shows which columns each list has.
const (
	ColumnStatus      Column = "status"
	ColumnTemplate    Column = "template_id"
	ColumnCounty      Column = "county"
	ColumnState       Column = "state"
	ColumnOrderNumber Column = "order_number"
	ColumnFolder      Column = "folder_id"
	ColumnAbstract    Column = "abstract_id"
	ColumnUnassigned  Column = "nowhere" // not in any folder or abstract; the value of the filter is ignored
	ColumnProcessing  Column = "is_processing"
	ColumnActor       Column = "actor"
	ColumnKind        Column = "kind" // kind of an audit log entry; in the trash, the record's type
	ColumnRecord      Column = "record"

	ColumnDocumentType     Column = "type_id"
	ColumnInstrumentNumber Column = "instrument_number"
	ColumnBook             Column = "book"
	ColumnPage             Column = "page"
	ColumnParty            Column = "party" // not a column of the index; a filter of the service
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
