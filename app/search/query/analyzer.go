package query

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"deedkeep/app/search/index"
)

const (
	maxWordBytes = index.MaxTermBytes - 1 // bytes of a word; what is longer is cut
	positionGap  = 16                     // positions between two texts, so that no phrase crosses
)

// token is a word of a text.
type token struct {
	text        []byte // folded; good until the next token
	start, end  int    // bytes of the text, before folding
	position    uint32
	variant     bool // another spelling of what stands at its position, or of more than that
	nameVariant bool // it is several words as one name
}

// analyzer cuts texts into tokens. Letters and digits are words of their own: Bk1022
// is bk 1022. Another spelling follows the words it stands for:
//
//	12-3-045, 12 3 045     123045
//	(985) 555-0142         9855550142
//	O Brien, de la Croix   obrien; dela, lacroix, delacroix (see name.go)
//	L.L.C.                 llc
//	convey-⏎ance           conveyance
//	Smith's                smiths, beside smith
//	Bk, Pg, Street, …      book, page, st, … (see spellings)
//	0883                   883
//	B-119.04, T24.1093     b11904, t241093 (see code.go)
//	Smith-Jones            smithjones
//	A/K/A, J. P.           aka, jp
//
// S½ is s 1 2, of which the last two stand at the same place of the text.
//
// Words of one analyser have ascending positions; those of one spelling too.
type analyzer struct {
	position   uint32
	emit       func(token)
	word       []byte
	joined     []byte
	joinNames  bool // any short word may be the first half of a name
	prev       prevWord
	beforePrev prevWord // the word before last
	run        numberRun
	alphanum   alphanum
}

// scan gives the tokens of a text. Positions go on behind those of the text before.
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

// skip leaves a gap that no phrase crosses.
func (a *analyzer) skip() { a.position += positionGap }

// hasBlanksAround says whether blanks are around the character at i.
func hasBlanksAround(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isBlank(s[i-1]) && isBlank(s[i+1])
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// scanLetters gives the word of letters that begins at i, and returns where it ends.
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

// letterAt says whether a letter stands at i, and whether one more behind it.
func letterAt(s string, i int) (here, behind bool) {
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

// scanDigits gives the word of digits that begins at i, and returns where it ends.
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

// scanFraction gives the words of ½, which no number goes on with: 5½ is no 512.
func (a *analyzer) scanFraction(s string, start, end int) {
	a.endRun()
	a.endAlphanum()
	a.prev.text = a.prev.text[:0]
	for part := range strings.SplitSeq(norm.NFKD.String(s[start:end]), string(fractionSlash)) {
		if part == "" {
			continue // ⅟
		}
		a.word = append(a.word[:0], part...)
		a.emit(token{text: a.word, start: start, end: end, position: a.position})
		a.position++
	}
}

// emitWord gives a.word, and the other spellings that it ends.
func (a *analyzer) emitWord(s string, start, end int, c class) {
	a.word = truncate(a.word, maxWordBytes)
	if len(a.word) == 0 {
		return // nothing but marks
	}
	t := token{text: a.word, start: start, end: end, position: a.position}
	a.endAlphanumBefore(s, t, c)
	if c == digit {
		a.endRunBefore(s, start)
		a.emit(t)
		if short := trimZeros(t.text); len(short) < len(t.text) {
			a.emit(token{text: short, start: start, end: end, position: a.position, variant: true})
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

// trimZeros is a word of digits without the zeros before it.
func trimZeros[T string | []byte](digits T) T {
	at := 0
	for at+1 < len(digits) && digits[at] == '0' {
		at++
	}
	return digits[at:]
}

// truncate takes at most n bytes of a text, and no part of a character.
func truncate[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for least := n - utf8.UTFMax; n > max(least, 0) && !utf8.RuneStart(s[n]); {
		n--
	}
	return s[:n]
}

// abbreviations are words that are written in several ways; each is found by all of them.
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
