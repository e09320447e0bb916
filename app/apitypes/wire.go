// Package apitypes holds the JSON shapes of /v1 and of the control door.
//
// It promises exactly the fields that SPEC.md and API.md name, in their order:
// a value that is absent is null and never left out, custom_fields without
// values is {}, a list without items is [], and a timestamp is UTC with six
// decimals. The same types are written by the server and read by the client.
//
// It refuses to decide anything: no rule, no status code, no conversion from a
// stored record lives here, and nothing of the disk passes through it.
package apitypes

import (
	"bytes"
	"encoding/json"
)

// Marshal returns v as JSON without a trailing newline and with <, > and & left
// as they are, so that an address reads on the wire as it was sent. Every
// answer of /v1 is made by it.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// List is a JSON array that is [] and never null when it has no items
// (API.md, "absent values"). A plain slice assigns to it.
type List[T any] []T

// MarshalJSON writes the items, or [] for none.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return Marshal([]T(l))
}

// CustomFields maps the key of a custom field to its value as JSON, kept as it
// was sent (1.50 stays 1.50). It is {} and never null without values; keys are
// written in byte order. A plain map assigns to it.
type CustomFields map[string]json.RawMessage

// MarshalJSON writes the map, or {} for none.
func (c CustomFields) MarshalJSON() ([]byte, error) {
	if len(c) == 0 {
		return []byte("{}"), nil
	}
	return Marshal(map[string]json.RawMessage(c))
}
