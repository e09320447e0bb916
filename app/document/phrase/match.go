// Package phrase finds what a user typed in the text of a document, for find-in-page and for
// highlights.
package phrase

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MaxLength is how many characters of what was typed count.
const MaxLength = 200

// Phrase is what a user searches for in a text. Case, accents, and the kind of quotes and
// dashes don't matter, nor where the text breaks its lines: all white space is alike, and a
// word may be split by a hyphen at the end of a line.
//
// If all of it is in quotes, as in `"smith" "bk 1022"`, each quoted item is searched for as
// complete words and numbers, however they are punctuated. A star after a quoted item makes it
// a prefix. Adjacent matches are merged into one.
//
// The zero Phrase matches nothing.
type Phrase struct {
	pattern []rune
	words   *wordTree // nil unless all of it is in quotes
}

// Span is a range of characters (not bytes), without the one at End.
type Span struct{ Start, End int }

// New returns a Phrase of what was typed, up to MaxLength characters.
func New(typed string) Phrase {
	runes := []rune(strings.TrimSpace(strings.ToValidUTF8(typed, "")))
	runes = runes[:min(len(runes), MaxLength)]
	folded, _ := fold(runes)
	if list := quotedWords(string(runes)); len(list) > 0 {
		return Phrase{folded, newWordTree(list)}
	}
	return Phrase{pattern: folded}
}

// Empty reports whether the phrase matches nothing.
func (p Phrase) Empty() bool { return len(p.pattern) == 0 }

// Find returns up to n matches in text, in order. They don't overlap.
func (p Phrase) Find(text []rune, n int) []Span {
	if p.Empty() {
		return nil
	}
	if p.words != nil {
		return p.words.find(text, n)
	}
	folded, origin := fold(text)
	var spans []Span
	for i := 0; i+len(p.pattern) <= len(folded) && len(spans) < n; {
		end := p.match(folded, i)
		// Two folded characters may come from one, as of a ligature.
		if last := len(spans) - 1; end < 0 || last >= 0 && origin[i] < spans[last].End {
			i++
			continue
		}
		spans = append(spans, Span{origin[i], origin[end-1] + 1})
		i = end
	}
	return spans
}

// lineHyphen represents a hyphen at the end of a line and the white space after it in folded
// text. It matches a dash or nothing.
const lineHyphen = '\u00AD'

// ContainsAll reports whether text matches each of the phrases.
func ContainsAll(text []rune, phrases []Phrase) bool {
	return !slices.ContainsFunc(phrases, func(p Phrase) bool { return len(p.Find(text, 1)) == 0 })
}

// match returns the end of a match that begins at i, -1 if there is none.
func (p Phrase) match(text []rune, i int) int {
	if text[i] == lineHyphen {
		return -1 // a match can't begin with it
	}
	for k := 0; k < len(p.pattern); i++ {
		switch {
		case i >= len(text):
			return -1
		case text[i] == p.pattern[k]:
			k++
		case text[i] != lineHyphen:
			return -1
		case p.pattern[k] == '-':
			k++
			if k < len(p.pattern) && p.pattern[k] == ' ' {
				k++
			}
		}
	}
	return i
}

// fold normalizes text for comparison and returns, for each resulting character, the position
// of the character it came from.
func fold(text []rune) (folded []rune, origin []int) {
	folded, origin = make([]rune, 0, len(text)), make([]int, 0, len(text))
	add := func(r rune, i int) { folded, origin = append(folded, r), append(origin, i) }
	for i := 0; i < len(text); i++ {
		switch r := text[i]; {
		case unicode.IsSpace(r) || r == 0:
			if n := len(folded); n > 0 && folded[n-1] != ' ' && folded[n-1] != lineHyphen {
				add(' ', i)
			}
		case r == '\u00AD' || r == '\u200B' || r == '\uFEFF': // soft hyphen and zero-width characters
		case isDash(r):
			if endsLine(text, i) {
				add(lineHyphen, i)
			} else {
				add('-', i)
			}
		case r < 0x80:
			add(unicode.ToLower(r), i)
		default:
			foldNonASCII(r, func(r rune) { add(r, i) })
		}
	}
	for n := len(folded); n > 0 && folded[n-1] == ' '; n-- {
		folded, origin = folded[:n-1], origin[:n-1]
	}
	return folded, origin
}

// endsLine reports whether text[i], a dash, is at the end of a word and of a line.
func endsLine(text []rune, i int) bool {
	if i == 0 || unicode.IsSpace(text[i-1]) {
		return false
	}
	for _, r := range text[i+1:] {
		switch {
		case r == '\n' || r == '\r':
			return true
		case !unicode.IsSpace(r):
			return false
		}
	}
	return false
}

func isDash(r rune) bool {
	return r == '-' || r >= 0x2010 && r <= 0x2015 || r == 0x2212 || r == 0xFE63 || r == 0xFF0D
}

// foldNonASCII removes accents, splits ligatures, and replaces typographic quotes.
func foldNonASCII(r rune, add func(rune)) {
	switch r {
	case '‘', '’', '‚', '‛', '′':
		add('\'')
		return
	case '“', '”', '„', '‟', '″':
		add('"')
		return
	}
	var buffer [4]byte
	form := norm.NFKD.AppendString(buffer[:0], string(r))
	for _, part := range string(form) {
		if !unicode.Is(unicode.Mn, part) {
			add(unicode.ToLower(part))
		}
	}
}
