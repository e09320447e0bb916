package model

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
)

// The keys of store indexes contain text normalized by NormalizeText and NormalizeNumber, so any
// change to either function requires a schema migration.

// NormalizeText normalizes text for sorting and lookups. It folds case, replaces each run of
// characters other than letters and digits with a space, and trims the result.
func NormalizeText(s string) string { return normalize(s, " ") }

// QuoteMarks are the characters that quote an exact phrase in a search.
const QuoteMarks = `"“”„‟«»`

// NormalizeNumber normalizes file and parcel numbers. It does the same as NormalizeText but omits
// the spaces, so "12-34-567" and "1234567" are equal.
func NormalizeNumber(s string) string { return normalize(s, "") }

// normalize keeps the letters and digits of the case-folded text and joins the runs of them with
// gap.
func normalize(s, gap string) string {
	var b strings.Builder
	b.Grow(len(s))
	between := false
	for _, r := range fastFold(s) {
		switch {
		case r < 0x80 && r != '\'' && (r < '0' || r > '9') && (r < 'a' || r > 'z'), r >= 0x80 &&
			!unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number):
			between = true
		case r == '\'': // O'Neil and ONeil are equal
		default:
			if between && b.Len() > 0 {
				b.WriteString(gap)
			}
			between = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fastFold does the same as Fold, with a fast path for ASCII.
func fastFold(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return Fold(s)
		}
	}
	return strings.ToLower(s)
}

// Keys of custom fields that identify records. The templates of a new workspace define them.
const (
	keyFileNumber = "file_number"
	keyParcel     = "parcel_id"
)

// Choices returns the value of a field with a list of choices, or nil if it has another type.
func (v CustomValues) Choices(key string) (chosen []string) {
	if json.Unmarshal(v[key], &chosen) != nil {
		return nil
	}
	return chosen
}

// Text returns the value of a string or number field, or "" if there is none.
func (v CustomValues) Text(key string) string {
	raw := v[key]
	if s, ok := decodeString(raw); ok {
		return s
	}
	var n json.Number
	if len(raw) > 0 && json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// joinNonEmpty joins the parts that aren't empty.
func joinNonEmpty(separator string, parts ...string) string {
	var nonEmpty []string
	for _, part := range parts {
		if part != "" {
			nonEmpty = append(nonEmpty, part)
		}
	}
	return strings.Join(nonEmpty, separator)
}

// Fold returns the trimmed text with Unicode case folding, for comparisons that ignore case.
func Fold(s string) string {
	folded := cases.Fold().String(strings.TrimSpace(s))
	if !strings.ContainsFunc(folded, isCherokeeCapital) {
		return folded
	}
	return strings.Map(func(r rune) rune {
		if isCherokeeCapital(r) {
			return unicode.ToLower(r)
		}
		return r
	}, folded)
}

// isCherokeeCapital reports whether r is a capital Cherokee letter. Package cases swaps the case of
// Cherokee letters instead of folding it, so text in small letters becomes capitals.
func isCherokeeCapital(r rune) bool { return r >= '\u13A0' && r <= '\u13F5' }
