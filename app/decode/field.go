package decode

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var fileField = regexp.MustCompile(`^files(\[[0-9]*\])?$`)

// IsFileField reports whether parts with this name are files. That is the case for files, files[], and files[N],
// where N consists of decimal digits.
func IsFileField(name string) bool { return fileField.MatchString(name) }

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
	switch jsontext.Value(raw).Kind() {
	case 'n':
		return 0, false, true
	case '"':
		s, isString := String(raw)
		if !isString {
			return 0, true, false
		}
		return Integer(s)
	case '0':
		n, ok = integer(strings.TrimSpace(string(raw)))
		return n, true, ok
	}
	return 0, len(raw) > 0, len(raw) == 0
}

func integer(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	if len(digits) > maxDigits {
		return 0, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
