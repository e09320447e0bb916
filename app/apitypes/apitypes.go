// Package apitypes contains the JSON types of /v1 and of the control socket.
//
// In responses, an absent value is null and is never omitted, custom_fields without values is {}, an empty list is
// [], and timestamps are in UTC with six decimals. The server encodes these types and the clients decode them.
//
// The package has no logic. Rules, status codes, and conversions from stored records are in other packages, and none
// of these types is stored on disk.
package apitypes

import (
	stdjson "encoding/json"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// encoding are the options of Marshal. Text and numbers of custom fields are written as they were sent.
var encoding = json.JoinOptions(
	json.Deterministic(true), // keys of maps in byte order
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsontext.AllowDuplicateNames(true), // nothing to check: the names come from these types and from maps
	jsontext.AllowInvalidUTF8(true),
	jsontext.EscapeForJS(true),
	jsontext.PreserveRawStrings(true),
)

// Marshal returns v as JSON without a trailing newline. It doesn't escape <, >, and &, and it encodes nil slices as [] and
// nil maps as {}. All responses of the server are encoded with it.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, encoding) }

// Write writes v as one line of JSON, as Marshal encodes it.
func Write(w io.Writer, v any) error {
	raw, err := Marshal(v)
	if err == nil {
		_, err = w.Write(append(raw, '\n'))
	}
	return err
}

// List is a JSON array. Marshal encodes an empty or nil list as [], never as null.
type List[T any] = []T

// Data is a response of the control socket with one record or a list of records.
type Data[T any] struct {
	Data T `json:"data"`
}

// CustomFields maps the key of a custom field to its JSON value, which is never reformatted (1.50 stays 1.50). Without
// values, Marshal encodes it as {}, never as null.
type CustomFields map[string]stdjson.RawMessage

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
// index yet. Texts is the number of documents whose text must be extracted again. Scans is the number of documents with
// scanned pages that OCR hasn't read.
type Index struct {
	Complete bool   `json:"complete"`
	Behind   uint64 `json:"behind"`
	Texts    uint64 `json:"texts"`
	Scans    uint64 `json:"scans"`
}

// Response headers.
const (
	// IgnoredFields lists the fields of a request that the server ignored.
	IgnoredFields = "X-Ignored-Fields"
	// MissingParts lists the parts that a response lacks because they can't be computed.
	MissingParts = "X-Missing-Parts"
	// DuplicateOf is the ID of the instrument that a stored one repeats.
	DuplicateOf = "X-Duplicate-Of"
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
