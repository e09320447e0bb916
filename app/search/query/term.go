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
	textWord    byte = 'w'
	fieldWord   byte = 'f'
	wordStart   byte = 'h'
	number      byte = 'x'
	numberStart byte = 'g'
	otherStart  byte = 'b'
	asTyped     byte = 'e'
	plainNumber byte = 'z'
	byTemplate  byte = 't'
	byCounty    byte = 'c'
	byState     byte = 's'
	byStatus    byte = 'u'
)

// lengths are how many characters beginnings have that are terms: of words of letters,
// and of digits.
type lengths struct{ least, leastDigits, most int }

var (
	anyStart   = lengths{2, 1, 12} // of numbers and names
	fewStarts  = lengths{2, 1, 6}  // of other fields
	textStarts = lengths{2, 4, 6}  // of the text
)

// enough says whether so many characters are enough for a beginning of a word.
func (l lengths) enough(characters int, word string) bool {
	return characters >= l.least || characters >= l.leastDigits && isDigit(word[0])
}

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
	if word == "" || !anyStart.enough(characters, word) {
		return "", false
	}
	return word, true
}

// fits says whether a beginning is short enough for a term: in some scripts twelve
// characters are more bytes than a term has.
func fits(s string) bool { return len(s) < index.MostTerm }

// squeezed is a number without its punctuation. Book and page are the same number
// whatever they are called: Bk 1022 Pg 311, Liber 1022 folio 311, COB 1022/311.
func squeezed(parts []string) string { return strings.Join(essence(parts), "") }

// Called says whether a text, all of it taken as a number, is one of those, whatever the
// punctuation: 123045 is 12-3-045, and 1022/311 is Bk 1022 Pg 311. Zeros count.
func Called(text string, numbers []string) bool {
	want := numberOf(text)
	return want != "" && slices.ContainsFunc(numbers, func(n string) bool { return numberOf(n) == want })
}

// numberOf is a text as the index has numbers.
func numberOf(text string) string {
	var parts []string
	var a analyser
	a.scan(text, func(t token) {
		if !t.also {
			parts = append(parts, string(t.text))
		}
	})
	return squeezed(parts)
}

// essence is the parts of a number; of book and page only the digits.
func essence(parts []string) []string {
	if r, is := model.ReferenceOf(parts); is {
		return r.Numbers
	}
	return parts
}

// heading is how many words before a number say what kind of number it is: order no.
// 2026-0117, Inst. # 88123, deed book 1022.
func heading(parts []string) int {
	n := 0
	for n < len(parts) && model.IsLabel(parts[n]) {
		n++
	}
	if n == 0 {
		for n < len(parts) && model.PlaceOf(parts[n]) == model.Records {
			n++
		}
		if n < len(parts) && model.PlaceOf(parts[n]) == model.Book {
			return n
		}
		return 0
	}
	if n < len(parts) && (isDigits(parts[n]) || n+1 < len(parts) && len(parts[n]) <= mostCodeLetters && isDigits(parts[n+1])) {
		return n
	}
	return 0
}

// plain is a number in whose parts no zeros stand before others: 12-3-045 is 12-3-45,
// and 2417/0883 and Bk 2417 Pg 883 are 2417-883.
func plain(parts []string) string {
	return strings.Join(essence(unpaddedParts(parts)), "-")
}

// paged is a book and page among the numbers without punctuation: 2300 12 is book 2300
// page 12, and 230012 may be it; 23-0012 is not.
func paged(numbers []string) string {
	if len(numbers) == 1 {
		return "book " + numbers[0]
	}
	return strings.Join(numbers, " ")
}

// referred are the ways in which a book and page of a register is in the index as it is
// typed: its own, and that of books which are called nothing but so; of those, any.
func referred(r model.Reference) []string {
	if r.Register == model.AnyRegister {
		var all []string
		for _, register := range model.Registers {
			all = append(all, entered(register, r.Numbers))
		}
		return all
	}
	return []string{entered(r.Register, r.Numbers), entered(model.AnyRegister, r.Numbers)}
}

// entered is a book and page of a register, however it is written.
func entered(r model.Register, numbers []string) string {
	return string(r) + " book " + strings.Join(numbers, " ")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isDigits(s string) bool {
	for _, r := range s {
		if r < utf8.RuneSelf && classes[r] != digit {
			return false
		}
	}
	return s != ""
}
