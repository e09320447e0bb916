package decode

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Role is what a part of a multipart body is; its name alone decides (API.md,
// "Multipart bodies").
type Role int

// The roles of a part: neither known nor kept, a field of the endpoint's table, a file.
const (
	Ignored Role = iota
	Field
	File
)

// RoleOf gives the role of a part by its name and the fields of the endpoint's table.
func RoleOf(name string, fields []string) Role {
	switch {
	case IsFileField(name):
		return File
	case slices.Contains(fields, name):
		return Field
	}
	return Ignored
}

// IsFileField says whether a part of that name is a file: files, files[] or files[N]
// with decimal digits N.
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

// Text trims the white space (Unicode's White_Space) around s; ok is false when s
// holds a NUL or is not UTF-8. Empty means null (API.md, "strings in").
func Text(s string) (text string, ok bool) {
	if !ValidText(s) {
		return "", false
	}
	return strings.TrimSpace(s), true
}

// ValidText says whether s is UTF-8 without a NUL: what is asked of a paragraph,
// which is kept as sent.
func ValidText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// maxDigits is how many decimal digits an int64 holds whatever they are.
const maxDigits = 18

// Integer reads a form field by API.md's "integers in": decimal digits, a minus sign
// before them or not, white space around; more than 18 of them are an integer that
// names nothing, and come as 0. Empty is absent (present false, ok true). ok is false for anything else, of which API.md says "must be an integer".
// Whether a number is a valid id is the caller's to say.
func Integer(s string) (n int64, present, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false, true
	}
	n, ok = integer(s)
	return n, true, ok
}

// IntegerJSON reads a member's value by the same rule: a JSON integer (3, not 3.0 nor
// 3e0), or a string as [Integer] reads it; null, "" and a nil raw are absent.
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
