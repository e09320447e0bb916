package decode

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Role is the role of a part of a multipart body. Its name alone decides.
type Role int

// Roles of parts: unknown and ignored, a field of the endpoint, a file.
const (
	Ignored Role = iota
	Field
	File
)

// RoleOf returns the role of a part by its name and the fields of the endpoint.
func RoleOf(name string, fields []string) Role {
	switch {
	case IsFileField(name):
		return File
	case slices.Contains(fields, name):
		return Field
	}
	return Ignored
}

// IsFileField reports whether a part of that name is a file: files, files[], or files[N] with decimal digits N.
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

// Text trims Unicode white space around s. ok is false if s contains a NUL or is not UTF-8. Callers treat "" as null.
func Text(s string) (text string, ok bool) {
	if !ValidText(s) {
		return "", false
	}
	return strings.TrimSpace(s), true
}

// ValidText reports whether s is UTF-8 without a NUL, which is all that is required of a paragraph.
func ValidText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// maxDigits is the number of decimal digits that always fit into an int64.
const maxDigits = 18

// Integer parses a form field: decimal digits with an optional minus sign and white space around them. More than 18
// digits are a valid integer that identifies nothing, returned as 0. Empty is absent (present false, ok true). ok is
// false for anything else. The caller decides whether the number is a valid ID.
func Integer(s string) (n int64, present, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false, true
	}
	n, ok = integer(s)
	return n, true, ok
}

// IntegerJSON parses a JSON value by the same rules: an integer (3, not 3.0 or 3e0), or a string as [Integer] parses
// it. null, "", and a nil raw are absent.
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
