// Package apitypes contains the JSON types of /v1 and of the control socket.
//
// In responses, an absent value is null and is never omitted, custom_fields without values is {}, an empty list is
// [], and timestamps are in UTC with six decimals. The server encodes these types and the clients decode them.
//
// The package has no logic. Rules, status codes, and conversions from stored records are in other packages, and none
// of these types is stored on disk.
package apitypes

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Marshal returns v as JSON without a trailing newline. Unlike json.Marshal, it doesn't escape <, >, and &, so text
// is sent unchanged. All responses under /v1 are encoded with it.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// List is a JSON array. An empty or nil list is encoded as [], never as null.
type List[T any] []T

// MarshalJSON writes the items, or [] if there are none.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return Marshal([]T(l))
}

// CustomFields maps the key of a custom field to its JSON value, which is never reformatted (1.50 stays 1.50).
// Without values, it is encoded as {}, never as null. Keys are encoded in byte order.
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

// Links contains the URLs of the next and previous pages. A link is nil if there is no such page.
type Links struct {
	Next *string `json:"next"`
	Prev *string `json:"prev"`
}

// Meta describes a page: its maximum number of records, the cursors in its links, and the state of the search index.
// Index is nil unless the list is a search result.
type Meta struct {
	PerPage    int     `json:"per_page"`
	NextCursor *string `json:"next_cursor"`
	PrevCursor *string `json:"prev_cursor"`
	Index      *Index  `json:"index,omitempty"`
}

// Index reports whether search results may be incomplete. Behind is the number of changes that are not in the search
// index yet. Texts is the number of documents whose text must be extracted again.
type Index struct {
	Complete bool   `json:"complete"`
	Behind   uint64 `json:"behind"`
	Texts    uint64 `json:"texts"`
}

// Response headers.
const (
	// IgnoredFields lists the fields of a request that the server ignored.
	IgnoredFields = "X-Ignored-Fields"
	// ErrorCode is the header with the machine-readable code of an error. Codes never change.
	ErrorCode = "X-Error-Code"
)

// Count returns n followed by the singular or plural form: "1 document", "2 documents".
func Count[N int | int64 | uint64](n N, singular, plural string) string {
	unit := plural
	if n == 1 {
		unit = singular
	}
	return strconv.FormatInt(int64(n), 10) + " " + unit
}
