// Package apitypes holds the JSON shapes of /v1 and of the control socket.
//
// An absent value is null and never left out, custom_fields without values is {}, a list without items is [], and a
// timestamp is UTC with six decimals. The server writes these types and the clients read them.
//
// The package has no logic: rules, status codes, and conversions from stored records are elsewhere, and nothing of it
// is stored on the disk.
package apitypes

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Marshal returns v as JSON without a trailing newline. Unlike json.Marshal it doesn't escape <, >, and &, so text
// appears as it was sent. Every response of /v1 is encoded by it.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// List is a JSON array that is [] and never null when it has no items. A plain slice assigns to it.
type List[T any] []T

// MarshalJSON writes the items, or [] if there are none.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return Marshal([]T(l))
}

// CustomFields maps the key of a custom field to its value as JSON, which stays as it was sent (1.50 stays 1.50). It
// is {} and never null without values; keys are written in byte order. A plain map assigns to it.
type CustomFields map[string]json.RawMessage

// MarshalJSON writes the map, or {} if it is empty.
func (c CustomFields) MarshalJSON() ([]byte, error) {
	if len(c) == 0 {
		return []byte("{}"), nil
	}
	return Marshal(map[string]json.RawMessage(c))
}

// Page is the response of every list: at most per_page records, and links to the next and previous page. A page may
// have fewer records, or none, and still have a next page.
type Page[T any] struct {
	Data  List[T] `json:"data"`
	Links Links   `json:"links"`
	Meta  Meta    `json:"meta"`
}

// Links are the addresses of the next and previous page; nil if there is no such page.
type Links struct {
	Next *string `json:"next"`
	Prev *string `json:"prev"`
}

// Meta describes a page: the maximum number of records, the cursors of its links, and the state of the search index.
// Index is nil for lists that are not searches.
type Meta struct {
	PerPage    int     `json:"per_page"`
	NextCursor *string `json:"next_cursor"`
	PrevCursor *string `json:"prev_cursor"`
	Index      *Index  `json:"index,omitempty"`
}

// Index says whether search results may be incomplete: Behind is the number of changes that are not in the search
// index yet, Texts the number of documents whose text must be extracted again.
type Index struct {
	Complete bool   `json:"complete"`
	Behind   uint64 `json:"behind"`
	Texts    uint64 `json:"texts"`
}

// Response headers.
const (
	// IgnoredFields lists the fields of a request that the server ignored.
	IgnoredFields = "X-Ignored-Fields"
	// ErrorCode is the machine-readable code of an error; codes never change.
	ErrorCode = "X-Error-Code"
)

// Count returns a number with its noun: "1 document", "2 documents".
func Count[N int | int64 | uint64](n N, singular, plural string) string {
	unit := plural
	if n == 1 {
		unit = singular
	}
	return strconv.FormatInt(int64(n), 10) + " " + unit
}
