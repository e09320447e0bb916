package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Member is a name and value in a JSON object.
type Member struct {
	// Name is the unescaped name.
	Name string
	// Value is a slice of the source text without surrounding blanks.
	Value json.RawMessage
}

// ValueKind is the type of a JSON value.
type ValueKind int

// Types of JSON values. KindInvalid means that the text is not a JSON value.
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

// Object parses a JSON request body and returns the members of its top-level object. The values are slices of b. A
// leading byte order mark is skipped. If the body is blank or the top-level value is not an object, Object returns an
// empty map. It returns a *MalformedError if the text is not JSON (RFC 8259), there is text after the value, a key is
// repeated in any object, the text has invalid UTF-8 or a lone surrogate, or there are more than 32 levels or more
// than 65,536 members.
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

// Valid returns nil if b is one JSON value that follows the rules of [Object] and has no byte order mark. Otherwise,
// it returns a *MalformedError.
func Valid(b []byte) error {
	s := scanner{b: b}
	if f := s.document(); f != nil {
		return s.malformed("The text", f)
	}
	return nil
}

// Kind returns the type of a JSON value. It checks only the first character and doesn't validate the rest.
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

// String decodes a JSON string. It returns a *MalformedError if raw is not a string.
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

// Array returns the elements of a JSON array in order. Each element is a slice of raw. If raw is not an array, Array
// returns a *MalformedError.
func Array(raw json.RawMessage) ([]json.RawMessage, error) {
	var items []json.RawMessage
	err := collect(raw, '[', "an array", func(_ []byte, value json.RawMessage) { items = append(items, value) })
	if err != nil {
		return nil, err
	}
	return items, nil
}

// Members returns the members of a JSON object in order. Each value is a slice of raw. If raw is not an object,
// Members returns a *MalformedError.
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

// malformed converts a fault to an error. Lines and columns are counted from 1, and columns are counted in
// characters.
func (s *scanner) malformed(subject string, f *fault) error {
	before := s.b[:f.at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &MalformedError{Reason: fmt.Sprintf(
		"%s is not valid JSON: %s at line %d, column %d.", subject, f.text, line, column)}
}
