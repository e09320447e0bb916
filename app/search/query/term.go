package query

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
)

// Namespaces of terms, described in doc.go.
const (
	nsTextWord     byte = 'w'
	nsFieldWord    byte = 'f'
	nsWordPrefix   byte = 'h'
	nsNumber       byte = 'x'
	nsNumberPrefix byte = 'g'
	nsOtherPrefix  byte = 'b'
	nsTypedNumber  byte = 'e'
	nsPlainNumber  byte = 'z'
	nsTemplate     byte = 't'
	nsCounty       byte = 'c'
	nsState        byte = 's'
	nsStatus       byte = 'u'
	nsDocumentType byte = 'd'
	nsPartyWord    byte = 'p'
)

// prefixLengths is the range of lengths for which prefixes are indexed, in characters. Words of
// digits have a different minimum.
type prefixLengths struct{ min, minDigits, max int }

var (
	longPrefixes  = prefixLengths{2, 1, 12} // of numbers and names
	fieldPrefixes = prefixLengths{2, 1, 6}  // of other fields
	textPrefixes  = prefixLengths{2, 4, 6}  // of the text
)

// allows reports whether a prefix of word with this number of characters has at least the minimum
// length.
func (l prefixLengths) allows(characters int, word string) bool {
	return characters >= l.min || characters >= l.minDigits && isDigit(word[0])
}

// appendTerm overwrites dst with the term of a word and returns it.
func appendTerm(dst []byte, ns byte, word []byte) []byte {
	return append(append(dst[:0], ns), word...)
}

// term returns the term of a word.
func term(ns byte, word string) string { return string(ns) + word }

// boundedValue shortens a value so that it fits into a term. A long value ends with a hash that
// keeps it distinct from other values.
func boundedValue(value string) string {
	const hashed = 8
	if len(value) <= maxWordBytes {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return truncate(value, maxWordBytes-2*hashed) + hex.EncodeToString(sum[:hashed])
}

// idTerm returns the filter term of an ID.
func idTerm(ns byte, id uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{ns}, id))
}

// indexedPrefix returns the longest prefix of a word that the index has, or "" if the word is too
// short. all reports whether that prefix is the complete word.
func indexedPrefix(word string) (s string, all bool) {
	characters := 0
	for i := range word {
		if characters == longPrefixes.max {
			return word[:i], false
		}
		characters++
	}
	if word == "" || !longPrefixes.allows(characters, word) {
		return "", false
	}
	return word, true
}

// fitsTerm reports whether a prefix fits into a term. In some scripts, twelve characters take more
// bytes than that.
func fitsTerm(s string) bool { return len(s) < index.MaxTermBytes }

// compactNumber returns a number without punctuation. All notations of a book and page have the
// same result: Bk 1022 Pg 311, Liber 1022 folio 311, COB 1022/311.
func compactNumber(parts []string) string { return strings.Join(numericParts(parts), "") }

// MatchesNumber reports whether a text, taken as one number, equals one of the numbers. Punctuation
// is ignored, but leading zeros count: 123045 equals 12-3-045, and 1022/311 equals Bk 1022 Pg 311.
func MatchesNumber(text string, numbers []string) bool {
	want := parseCompactNumber(text)
	return want != "" && slices.ContainsFunc(numbers, func(n string) bool { return parseCompactNumber(n) == want })
}

// parseCompactNumber returns the compactNumber of a text.
func parseCompactNumber(text string) string {
	var parts []string
	var a analyzer
	a.scan(text, func(t token) {
		if !t.variant {
			parts = append(parts, string(t.text))
		}
	})
	return compactNumber(parts)
}

// numericParts returns the parts of a number. For a book and page, it returns only the digits.
func numericParts(parts []string) []string {
	if r, ok := model.ParseBookPage(parts); ok {
		return r.Numbers
	}
	return parts
}

// countLabels returns how many words at the start of a number are labels for its type, as in order
// no. 2026-0117, Inst. # 88123, and deed book 1022.
func countLabels(parts []string) int {
	n := 0
	for n < len(parts) && model.IsNumberLabel(parts[n]) {
		n++
	}
	if n == 0 {
		for n < len(parts) && model.ClassifyWord(parts[n]) == model.RecordsWord {
			n++
		}
		if n < len(parts) && model.ClassifyWord(parts[n]) == model.BookWord {
			return n
		}
		return 0
	}
	if n < len(parts) && (isDigits(parts[n]) || n+1 < len(parts) && len(parts[n]) <= maxAlphanumLetters && isDigits(parts[n+1])) {
		return n
	}
	return 0
}

// trimmedNumber returns a number with hyphens between its parts and without leading zeros: 12-3-45
// for 12-3-045, and 2417-883 for 2417/0883 and Bk 2417 Pg 883.
func trimmedNumber(parts []string) string {
	return strings.Join(numericParts(trimZerosOfParts(parts)), "-")
}

// bookPageNumber returns the nsNumber value of the numbers of a book and page. For 2300 12 (book
// 2300, page 12), it is "2300 12". For a single number, it is "book 230012" because 230012 may be
// the same book and page. 23-0012 cannot be: its value has no prefix.
func bookPageNumber(numbers []string) string {
	if len(numbers) == 1 {
		return "book " + numbers[0]
	}
	return strings.Join(numbers, " ")
}

// referenceTerms returns the values under which a book and page may be indexed: with its own
// register and without one. If it has no register, these are the values with each register.
func referenceTerms(r model.BookPage) []string {
	if r.Type == model.AnyBook {
		var all []string
		for _, register := range model.BookTypes {
			all = append(all, referenceTerm(register, r.Numbers))
		}
		return all
	}
	return []string{referenceTerm(r.Type, r.Numbers), referenceTerm(model.AnyBook, r.Numbers)}
}

// referenceTerm returns the value of a book and page in a register, independent of its notation.
func referenceTerm(r model.BookType, numbers []string) string {
	return string(r) + " book " + strings.Join(numbers, " ")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isDigits(s string) bool {
	for _, r := range s {
		if r < utf8.RuneSelf && asciiClasses[r] != digit {
			return false
		}
	}
	return s != ""
}
