package decode

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Role is the role of a part of a multipart body. It depends only on the name of the part.
type Role int

// Roles of parts. Ignored means that the endpoint doesn't know the name of the part.
const (
	Ignored Role = iota
	Field
	File
)

// RoleOf returns the role of a part with this name. fields are the fields that the endpoint accepts.
func RoleOf(name string, fields []string) Role {
	switch {
	case IsFileField(name):
		return File
	case slices.Contains(fields, name):
		return Field
	}
	return Ignored
}

// IsFileField reports whether parts with this name are files. That is the case for files, files[], and files[N],
// where N consists of decimal digits.
func IsFileField(name string) bool {
	rest, ok := strings.CutPrefix(name, "files")
	if !ok || rest == "" {
		return ok
	}
	if len(rest) < 2 || rest[0] != '[' || rest[len(rest)-1] != ']' {
		return false
	}
	return allDigits(rest[1 : len(rest)-1])
}

// Text trims Unicode white space from s. ok is false if s contains a NUL or is not valid UTF-8. Callers treat "" as
// null.
func Text(s string) (text string, ok bool) {
	if !ValidText(s) {
		return "", false
	}
	return strings.TrimSpace(s), true
}

// ValidText reports whether s is valid UTF-8 and contains no NUL. Paragraphs only have to meet this requirement.
func ValidText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// maxDigits is the number of decimal digits that always fit into an int64.
const maxDigits = 18

// Integer parses a form field that contains decimal digits, with an optional minus sign and optional white space
// around them. An integer with more than 18 digits is valid, but it is returned as 0 because it can't identify
// anything. An empty field is absent (present is false, ok is true). ok is false for all other text. The caller
// checks whether the number is a valid ID.
func Integer(s string) (n int64, present, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false, true
	}
	n, ok = integer(s)
	return n, true, ok
}

// IntegerJSON parses a JSON value by the same rules as [Integer]. It accepts integers (3, but not 3.0 or 3e0) and
// strings that Integer accepts. null, "", and a nil raw are absent.
func IntegerJSON(raw json.RawMessage) (n int64, present, ok bool) {
	switch Kind(raw) {
	case KindNull:
		return 0, false, true
	case KindString:
		s, err := String(raw)
		if err != nil {
			return 0, true, false
		}
		return Integer(s)
	case KindNumber:
		n, ok = integer(strings.TrimSpace(string(raw)))
		return n, true, ok
	case KindInvalid:
		return 0, len(raw) > 0, len(raw) == 0
	}
	return 0, true, false
}

func integer(s string) (int64, bool) {
	digits, minus := strings.CutPrefix(s, "-")
	if digits == "" || !allDigits(digits) {
		return 0, false
	}
	if len(digits) > maxDigits {
		return 0, true
	}
	var n int64
	for i := range len(digits) {
		n = n*10 + int64(digits[i]-'0')
	}
	if minus {
		n = -n
	}
	return n, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
