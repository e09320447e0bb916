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
	// Value is a slice of the source text, without surrounding blanks.
	Value json.RawMessage
}

// ValueKind is the type of a JSON value.
type ValueKind int

// Types of JSON values; KindInvalid is not a JSON value.
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

// Object parses the JSON body of a request and returns the members of its top-level object; the values are slices of
// b. A leading byte order mark is skipped. An empty or blank body, or a top-level value of another type, returns the
// empty map. Errors are a *MalformedError: text that is not JSON (RFC 8259), text after the end, a repeated key at any
// depth, invalid UTF-8, a lone surrogate, more than 32 levels, or more than 65,536 members.
func Object(b []byte) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage)
	s := scanner{b: bytes.TrimPrefix(b, bom)}
	if s.blanks(); s.i == len(s.b) {
		return out, nil
	}
	if s.peek() == '{' {
		s.onMember = func(name []byte, value json.RawMessage) { out[string(name)] = value }
	}
	if f := s.document(); f != nil {
		return nil, s.malformed("The request body", f)
	}
	return out, nil
}

// Valid returns nil if b is one JSON value by the rules of [Object], but without a byte order mark. Otherwise it
// returns a *MalformedError.
func Valid(b []byte) error {
	s := scanner{b: b}
	if f := s.document(); f != nil {
		return s.malformed("The text", f)
	}
	return nil
}

// Kind returns the type of a JSON value by its first character; it does not validate the rest.
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

// Array returns the elements of a JSON array in sequence, each a slice of raw; anything else is a *MalformedError.
func Array(raw json.RawMessage) ([]json.RawMessage, error) {
	var items []json.RawMessage
	err := collect(raw, '[', "an array", func(_ []byte, value json.RawMessage) { items = append(items, value) })
	if err != nil {
		return nil, err
	}
	return items, nil
}

// Members returns the members of a JSON object in sequence, each value a slice of raw; anything else is a
// *MalformedError.
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

func collect(raw json.RawMessage, open byte, wanted string, onMember func([]byte, json.RawMessage)) error {
	s := scanner{b: raw, onMember: onMember}
	if s.blanks(); s.peek() != open {
		return s.malformed("The text", s.unexpected(wanted))
	}
	if f := s.document(); f != nil {
		return s.malformed("The text", f)
	}
	return nil
}

// malformed returns a fault as an error; lines and columns count from 1, columns in characters.
func (s *scanner) malformed(subject string, f *fault) error {
	before := s.b[:f.at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &MalformedError{Reason: fmt.Sprintf(
		"%s is not valid JSON: %s at line %d, column %d.", subject, f.text, line, column)}
}
