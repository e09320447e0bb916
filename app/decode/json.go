package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Member is one name and value of a JSON object.
type Member struct {
	// Name is unescaped.
	Name string
	// Value is a slice of the text it was read from, without blanks around it.
	Value json.RawMessage
}

// ValueKind is which of JSON's six kinds a value is.
type ValueKind int

// The kinds of a JSON value; KindInvalid is what begins no JSON value.
const (
	KindInvalid ValueKind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

var bom = []byte("\xef\xbb\xbf")

// Object reads the JSON body of a request and gives the members of the object at
// its top; the values are slices of b. A leading byte order mark is skipped. A
// body that is empty or blank, or has another kind of value at the top, gives the
// empty map (API.md answers it as if empty). What is not JSON (RFC 8259), has text
// after its end, a repeated key at any depth, invalid UTF-8 or a lone surrogate, or
// is deeper than 32 or has more than 65,536 members is a *MalformedError.
func Object(b []byte) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage)
	s := scanner{b: bytes.TrimPrefix(b, bom)}
	if s.blanks(); s.i == len(s.b) {
		return out, nil
	}
	if s.peek() == '{' {
		s.found = func(name []byte, value json.RawMessage) { out[string(name)] = value }
	}
	if f := s.document(); f != nil {
		return nil, s.malformed("The request body", f)
	}
	return out, nil
}

// Valid says whether b is one JSON value of any kind, by the rules of [Object] but
// without a byte order mark; if not, it is a *MalformedError.
func Valid(b []byte) error {
	s := scanner{b: b}
	if f := s.document(); f != nil {
		return s.malformed("The text", f)
	}
	return nil
}

// Kind looks at the first character of a JSON value; it does not validate the rest.
func Kind(raw json.RawMessage) ValueKind {
	s := scanner{b: raw}
	s.blanks()
	switch c := s.peek(); {
	case c == 'n':
		return KindNull
	case c == 't' || c == 'f':
		return KindBool
	case c == '"':
		return KindString
	case c == '[':
		return KindArray
	case c == '{':
		return KindObject
	case c == '-' || isDigit(c):
		return KindNumber
	}
	return KindInvalid
}

// String decodes a JSON string; anything else is a *MalformedError.
func String(raw json.RawMessage) (string, error) {
	s := scanner{b: raw}
	s.blanks()
	if s.peek() != '"' {
		return "", s.malformed("The text", s.unexpected("a string"))
	}
	inner, escaped, f := s.quoted()
	if f != nil {
		return "", s.malformed("The text", f)
	}
	if s.blanks(); s.i < len(s.b) {
		return "", s.malformed("The text", &fault{s.i, "text after the end of the value"})
	}
	if escaped {
		inner = unescape(inner)
	}
	return string(inner), nil
}

// Array gives the elements of a JSON array in order, each a slice of raw; anything
// else is a *MalformedError.
func Array(raw json.RawMessage) ([]json.RawMessage, error) {
	var items []json.RawMessage
	err := collect(raw, '[', "an array", func(_ []byte, value json.RawMessage) { items = append(items, value) })
	if err != nil {
		return nil, err
	}
	return items, nil
}

// Members gives the members of a JSON object in the order they stand, each value a
// slice of raw; anything else is a *MalformedError.
func Members(raw json.RawMessage) ([]Member, error) {
	var members []Member
	err := collect(raw, '{', "an object", func(name []byte, value json.RawMessage) {
		members = append(members, Member{string(name), value})
	})
	if err != nil {
		return nil, err
	}
	return members, nil
}

func collect(raw json.RawMessage, open byte, wanted string, found func([]byte, json.RawMessage)) error {
	s := scanner{b: raw, found: found}
	if s.blanks(); s.peek() != open {
		return s.malformed("The text", s.unexpected(wanted))
	}
	if f := s.document(); f != nil {
		return s.malformed("The text", f)
	}
	return nil
}

// malformed turns a fault into a sentence; lines and columns count from 1, columns
// in characters.
func (s *scanner) malformed(subject string, f *fault) error {
	before := s.b[:f.at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &MalformedError{Reason: fmt.Sprintf(
		"%s is not valid JSON: %s at line %d, column %d.", subject, f.text, line, column)}
}
