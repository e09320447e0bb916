package query

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"deedkeep/app/search/index"
)

const (
	maxWordBytes = index.MaxTermBytes - 1 // longer words are truncated
	positionGap  = 16                     // added between two texts so that no phrase matches across them
)

// token is a word of a text.
type token struct {
	text        []byte // folded; valid only until the next token is emitted
	start, end  int    // byte range in the text, before folding
	position    uint32
	variant     bool // an alternative spelling of the words at the same position
	nameVariant bool // a name of several words, joined into one
}

// analyzer splits texts into tokens. Letters and digits form separate words: Bk1022 becomes bk
// 1022. Alternative spellings are emitted after the words they stand for:
//
//	12-3-045, 12 3 045     123045
//	(985) 555-0142         9855550142
//	O Brien, de la Croix   obrien; dela, lacroix, delacroix (name.go)
//	L.L.C.                 llc
//	convey-⏎ance           conveyance
//	Smith's                smiths, in addition to smith
//	Bk, Pg, Street, …      book, page, st, … (abbreviations)
//	0883                   883
//	B-119.04, T24.1093     b11904, t241093 (alphanum.go)
//	Smith-Jones            smithjones
//	A/K/A, J. P.           aka, jp
//
// S½ becomes s 1 2. Its last two words have the same byte range.
//
// The positions of words ascend. So do the positions of each type of variant.
type analyzer struct {
	position   uint32
	emit       func(token)
	word       []byte
	joined     []byte
	joinNames  bool // whether any short word may be the first part of a name
	prev       prevWord
	beforePrev prevWord // the word before prev
	run        numberRun
	alphanum   alphanum
}

// scan calls emit for each token of a text. Positions continue after those of the previous text.
func (a *analyzer) scan(s string, emit func(token)) {
	a.emit = emit
	a.prev.text, a.run.parts, a.alphanum.parts = a.prev.text[:0], 0, 0
	for i := 0; i < len(s); {
		c, _, size := classAt(s, i)
		switch c {
		case letter:
			i = a.scanLetters(s, i)
		case digit:
			i = a.scanDigits(s, i)
		case standalone:
			_, r, _ := classAt(s, i)
			a.word = appendFoldedRune(a.word[:0], r, s[i:])
			a.emitWord(s, i, i+size, letter)
			i += size
		case fraction:
			a.scanFraction(s, i, i+size)
			i += size
		default:
			if s[i] == '&' && hasBlanksAround(s, i) {
				a.word = append(a.word[:0], "and"...)
				a.emitWord(s, i, i+1, letter)
			}
			i += size
		}
	}
	a.endRun()
	a.endAlphanum()
}

// addGap advances the position so that no phrase matches across two texts.
func (a *analyzer) addGap() { a.position += positionGap }

// hasBlanksAround reports whether the character at i has a blank on both sides.
func hasBlanksAround(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isBlank(s[i-1]) && isBlank(s[i+1])
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// scanLetters emits the word of letters that starts at i and returns where it ends.
func (a *analyzer) scanLetters(s string, i int) int {
	start, possessive := i, false
	a.word = a.word[:0]
loop:
	for i < len(s) {
		c, r, size := classAt(s, i)
		switch c {
		case letter:
			if len(a.word) <= maxWordBytes {
				a.word = appendFoldedRune(a.word, r, s[i:])
			}
		case apostrophe:
			next, after := letterAt(s, i+size)
			if !next {
				break loop
			}
			if s[i+size]|0x20 == 's' && !after {
				possessive = true
				i += size + 1
				break loop
			}
		case ignored:
		default:
			break loop
		}
		i += size
	}
	a.emitWord(s, start, i, letter)
	if possessive && len(a.word) > 0 && len(a.word) < maxWordBytes {
		a.joined = append(append(a.joined[:0], a.word...), 's')
		a.emit(token{text: a.joined, start: start, end: i, position: a.position - 1, variant: true})
	}
	return i
}

// letterAt reports whether the character at i is a letter and whether another letter follows it.
func letterAt(s string, i int) (ok, follows bool) {
	if i >= len(s) {
		return false, false
	}
	c, _, size := classAt(s, i)
	if c != letter {
		return false, false
	}
	if i += size; i >= len(s) {
		return true, false
	}
	c, _, _ = classAt(s, i)
	return true, c == letter || c == apostrophe
}

// scanDigits emits the word of digits that starts at i and returns where it ends.
func (a *analyzer) scanDigits(s string, i int) int {
	start := i
	a.word = a.word[:0]
	for i < len(s) {
		c, r, size := classAt(s, i)
		if c != digit && c != ignored {
			break
		}
		if c == digit && len(a.word) <= maxWordBytes {
			a.word = appendFoldedRune(a.word, r, s[i:])
		}
		i += size
	}
	a.emitWord(s, start, i, digit)
	return i
}

// scanFraction emits the numbers of a fraction such as ½ as words. They are not joined to an
// adjacent number: 5½ is not 512.
func (a *analyzer) scanFraction(s string, start, end int) {
	a.endRun()
	a.endAlphanum()
	a.prev.text = a.prev.text[:0]
	for part := range strings.SplitSeq(norm.NFKD.String(s[start:end]), string(fractionSlash)) {
		if part == "" {
			continue // for example ⅟
		}
		a.word = append(a.word[:0], part...)
		a.emit(token{text: a.word, start: start, end: end, position: a.position})
		a.position++
	}
}

// emitWord emits a.word, followed by the alternative spellings that it completes.
func (a *analyzer) emitWord(s string, start, end int, c class) {
	a.word = truncate(a.word, maxWordBytes)
	if len(a.word) == 0 {
		return // the word consists only of combining marks
	}
	t := token{text: a.word, start: start, end: end, position: a.position}
	a.endAlphanumBefore(s, t, c)
	if c == digit {
		a.endRunBefore(s, start)
		a.emit(t)
		if trimmed := trimZeros(t.text); len(trimmed) < len(t.text) {
			a.emit(token{text: trimmed, start: start, end: end, position: a.position, variant: true})
		}
		a.addToRun(t, false)
		a.prev.text = a.prev.text[:0]
	} else {
		a.endInitialsBefore(s, start, end)
		a.emit(t)
		a.emitVariants(s, t)
		if t.end-t.start == 1 {
			a.addToRun(t, true)
		}
	}
	a.addToAlphanum(t, c)
	a.position++
}

// trimZeros removes the leading zeros from a word of digits.
func trimZeros[T string | []byte](digits T) T {
	at := 0
	for at+1 < len(digits) && digits[at] == '0' {
		at++
	}
	return digits[at:]
}

// truncate limits s to n bytes without splitting a character.
func truncate[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for lowest := n - utf8.UTFMax; n > max(lowest, 0) && !utf8.RuneStart(s[n]); {
		n--
	}
	return s[:n]
}

// abbreviations maps each word to its alternative spellings, all of which are indexed.
var abbreviations = map[string][]string{
	"bk": {"book"}, "book": {"bk"},
	"pg": {"page"}, "page": {"pg"},
	"pgs": {"pages"}, "pages": {"pgs"},
	"vol": {"volume"}, "volume": {"vol"},
	"st": {"street", "saint"}, "street": {"st"}, "saint": {"st"},
	"ste": {"sainte"}, "sainte": {"ste"},
	"ft": {"fort"}, "fort": {"ft"},
	"mt": {"mount"}, "mount": {"mt"},
	"gov": {"governor"}, "governor": {"gov"},
	"ave": {"avenue"}, "avenue": {"ave"},
	"rd": {"road"}, "road": {"rd"},
	"dr": {"drive"}, "drive": {"dr"},
	"ln": {"lane"}, "lane": {"ln"},
	"ct": {"court"}, "court": {"ct"},
	"blvd": {"boulevard"}, "boulevard": {"blvd"},
	"hwy": {"highway"}, "highway": {"hwy"},
	"twp": {"township"}, "township": {"twp"},
	"co": {"county", "company"}, "county": {"co"}, "company": {"co"},
}
