package search

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"unicode/utf8"

	"deedkeep/app/postings"
)

// The namespaces of terms, drawn in doc.go.
const (
	textWord    byte = 'w'
	fieldWord   byte = 'f'
	wordStart   byte = 'h'
	number      byte = 'x'
	numberStart byte = 'g'
	otherStart  byte = 'b'
	byTemplate  byte = 't'
	byCounty    byte = 'c'
	byState     byte = 's'
	byStatus    byte = 'u'
)

// lengths are how many characters beginnings have that are terms.
type lengths struct{ least, most int }

var (
	anyStart  = lengths{2, 12} // of numbers and names
	fewStarts = lengths{4, 6}  // of other fields and of the text
)

// appendTerm makes the term of a word, over dst.
func appendTerm(dst []byte, space byte, word []byte) []byte {
	return append(append(dst[:0], space), word...)
}

// term is appendTerm for text.
func term(space byte, word string) string { return string(space) + word }

// whole makes a value fit a term and differ from every other: a long one is its
// beginning and what it hashes to.
func whole(value string) string {
	const hashed = 8
	if len(value) <= mostWord {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return cut(value, mostWord-2*hashed) + hex.EncodeToString(sum[:hashed])
}

// templateTerm is the filter of a template.
func templateTerm(id uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{byTemplate}, id))
}

// start is the longest beginning of a word that is in the index, "" where the word is
// too short, and whether that is all of it.
func start(word string) (s string, all bool) {
	characters := 0
	for i := range word {
		if characters == anyStart.most {
			return word[:i], false
		}
		characters++
	}
	if characters < anyStart.least {
		return "", false
	}
	return word, true
}

// fits says whether a beginning is short enough for a term: in some scripts twelve
// characters are more bytes than a term has.
func fits(s string) bool { return len(s) < postings.MostTerm }

// squeezed is a number without its punctuation. Book and page are the same number
// whether they are called so or not: Bk 1022 Pg 311, 1022/311.
func squeezed(parts []string) string {
	var all, digits []byte
	books, pages := 0, 0
	for i, p := range parts {
		all = append(all, p...)
		switch {
		case isDigits(p):
			digits = append(digits, p...)
		case i == 0 && (p == "book" || p == "bk"):
			books++
		case i > 1 && i < len(parts)-1 && (p == "page" || p == "pg") && isDigits(parts[i-1]):
			pages++
		default:
			books = -len(parts)
		}
	}
	if books == 1 && pages == 1 {
		return string(digits)
	}
	return string(all)
}

func isDigits(s string) bool {
	for _, r := range s {
		if r < utf8.RuneSelf && classes[r] != digit {
			return false
		}
	}
	return s != ""
}
