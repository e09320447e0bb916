package query

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class is the role of a character in words.
type class uint8

const (
	separator  class = iota // separates words
	letter                  // part of a word of letters
	digit                   // part of a word of digits
	standalone              // is a complete word, in scripts without spaces between words
	apostrophe              // omitted within a word: O'Brien is obrien
	ignored                 // omitted anywhere, such as a soft hyphen
	fraction                // becomes several words: ½ is 1 and 2
)

// asciiClasses has the classes of the ASCII characters.
var asciiClasses = func() (c [utf8.RuneSelf]class) {
	for r := range c {
		switch {
		case '0' <= r && r <= '9':
			c[r] = digit
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			c[r] = letter
		case r == '\'' || r == '`':
			c[r] = apostrophe
		}
	}
	return c
}()

// unspacedScripts are the scripts that do not put spaces between words.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// classOf returns the class of r, a non-ASCII character at the start of s.
func classOf(r rune, s string) class {
	switch {
	case r == utf8.RuneError:
		return separator
	case r == '’' || r == '‘' || r == 'ʼ' || r == 'ʻ' || r == '′':
		return apostrophe
	case unicode.Is(unicode.Cf, r):
		return ignored
	case unicode.Is(unicode.Nd, r):
		return digit
	case unicode.IsNumber(r):
		return classOfNumber(norm.NFKD.PropertiesString(s).Decomposition())
	case unicode.IsMark(r):
		return letter
	case unicode.IsLetter(r) && unicode.In(r, unspacedScripts...):
		return standalone
	case unicode.IsLetter(r):
		return letter
	}
	return separator
}

const fractionSlash = '⁄' // separates the numbers in the decomposition of ½

// classOfNumber returns the class of a number character with the given decomposition.
func classOfNumber(parts []byte) class {
	c := digit
	for _, r := range string(parts) {
		switch {
		case r == fractionSlash:
			c = fraction
		case r < '0' || r > '9':
			return separator
		}
	}
	return c
}

// appendFoldedUnicode appends r, the non-ASCII character at the start of s, without case and
// accents.
func appendFoldedUnicode(dst []byte, r rune, s string) []byte {
	parts := norm.NFKD.PropertiesString(s).Decomposition()
	if parts == nil {
		return appendFoldedSimple(dst, r)
	}
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		dst = appendFoldedSimple(dst, part)
		parts = parts[size:]
	}
	return dst
}

// appendFoldedSimple appends a character that has no decomposition.
func appendFoldedSimple(dst []byte, r rune) []byte {
	if r >= utf8.RuneSelf && isAccent(r) {
		return dst
	}
	r = unicode.ToLower(r)
	if s, special := transliterations[r]; special {
		return append(dst, s...)
	}
	if r < utf8.RuneSelf && asciiClasses[r] != letter && asciiClasses[r] != digit {
		return dst
	}
	return utf8.AppendRune(dst, r)
}

// transliterations maps letters that Unicode does not decompose to their common ASCII spellings.
var transliterations = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l",
	'ħ': "h", 'ı': "i", 'ς': "σ", fractionSlash: "/",
}

// isAccent reports whether r is a mark that people usually omit when typing. In some scripts, marks
// are part of the spelling, so isAccent does not include them.
func isAccent(r rune) bool {
	return 0x0300 <= r && r <= 0x036F || 0x1AB0 <= r && r <= 0x1AFF || 0x1DC0 <= r && r <= 0x1DFF ||
		0x20D0 <= r && r <= 0x20FF || 0xFE20 <= r && r <= 0xFE2F
}

// classAt decodes the character at byte i of s and returns its class.
func classAt(s string, i int) (c class, r rune, size int) {
	if b := s[i]; b < utf8.RuneSelf {
		return asciiClasses[b], rune(b), 1
	}
	r, size = utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && size == 1 {
		return separator, r, 1
	}
	return classOf(r, s[i:]), r, size
}

// appendFoldedRune appends r, the letter or digit at the start of s, without case and accents.
func appendFoldedRune(dst []byte, r rune, s string) []byte {
	if r >= utf8.RuneSelf {
		return appendFoldedUnicode(dst, r, s)
	}
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return append(dst, byte(r))
}

// typedForm returns a number with its typed punctuation, but without case and accents and with
// single blanks.
func typedForm(s string) string {
	dst := make([]byte, 0, len(s))
	gap := false
	for i := 0; i < len(s); {
		c, r, size := classAt(s, i)
		switch {
		case c == separator && unicode.IsSpace(r):
			gap = len(dst) > 0
		case c == ignored:
		default:
			if gap {
				dst = append(dst, ' ')
				gap = false
			}
			if c == separator || c == apostrophe {
				dst = append(dst, s[i:i+size]...)
			} else {
				dst = appendFoldedRune(dst, r, s[i:])
			}
		}
		i += size
	}
	return string(dst)
}
