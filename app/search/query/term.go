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

// The namespaces of terms, drawn in doc.go.
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
)

// prefixLengths are how many characters beginnings have that are terms: of words of letters,
// and of digits.
type prefixLengths struct{ min, minDigits, max int }

var (
	longPrefixes  = prefixLengths{2, 1, 12} // of numbers and names
	fieldPrefixes = prefixLengths{2, 1, 6}  // of other fields
	textPrefixes  = prefixLengths{2, 4, 6}  // of the text
)

// allows says whether so many characters are enough for a beginning of a word.
func (l prefixLengths) allows(characters int, word string) bool {
	return characters >= l.min || characters >= l.minDigits && isDigit(word[0])
}

// appendTerm makes the term of a word, over dst.
func appendTerm(dst []byte, space byte, word []byte) []byte {
	return append(append(dst[:0], space), word...)
}

// term is appendTerm for text.
func term(space byte, word string) string { return string(space) + word }

// boundedValue makes a value fit a term and differ from every other: a long one is its
// beginning and what it hashes to.
func boundedValue(value string) string {
	const hashed = 8
	if len(value) <= maxWordBytes {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return truncate(value, maxWordBytes-2*hashed) + hex.EncodeToString(sum[:hashed])
}

// templateTerm is the filter of a template.
func templateTerm(id uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{nsTemplate}, id))
}

// indexedPrefix is the longest beginning of a word that is in the index, "" where the word is
// too short, and whether that is all of it.
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

// fitsTerm says whether a beginning is short enough for a term: in some scripts twelve
// characters are more bytes than a term has.
func fitsTerm(s string) bool { return len(s) < index.MaxTermBytes }

// compactNumber is a number without its punctuation. Book and page are the same number
// whatever they are called: Bk 1022 Pg 311, Liber 1022 folio 311, COB 1022/311.
func compactNumber(parts []string) string { return strings.Join(numericParts(parts), "") }

// MatchesNumber says whether a text, all of it taken as a number, is one of those, whatever the
// punctuation: 123045 is 12-3-045, and 1022/311 is Bk 1022 Pg 311. Zeros count.
func MatchesNumber(text string, numbers []string) bool {
	want := parseCompactNumber(text)
	return want != "" && slices.ContainsFunc(numbers, func(n string) bool { return parseCompactNumber(n) == want })
}

// parseCompactNumber is a text as the index has numbers.
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

// numericParts is the parts of a number; of book and page only the digits.
func numericParts(parts []string) []string {
	if r, is := model.ParseBookPage(parts); is {
		return r.Numbers
	}
	return parts
}

// countLabels is how many words before a number say what kind of number it is: order no.
// 2026-0117, Inst. # 88123, deed book 1022.
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

// trimmedNumber is a number in whose parts no zeros stand before others: 12-3-045 is 12-3-45,
// and 2417/0883 and Bk 2417 Pg 883 are 2417-883.
func trimmedNumber(parts []string) string {
	return strings.Join(numericParts(trimZerosOfParts(parts)), "-")
}

// bookPageNumber is a book and page among the numbers without punctuation: 2300 12 is book 2300
// page 12, and 230012 may be it; 23-0012 is not.
func bookPageNumber(numbers []string) string {
	if len(numbers) == 1 {
		return "book " + numbers[0]
	}
	return strings.Join(numbers, " ")
}

// referenceTerms are the ways in which a book and page of a register is in the index as it is
// typed: its own, and that of books which are called nothing but so; of those, any.
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

// referenceTerm is a book and page of a register, however it is written.
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
