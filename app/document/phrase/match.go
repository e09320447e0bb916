// Package phrase finds the text that a user typed in a document, for find-in-page and for
// highlights.
package phrase

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MaxLength is the maximum number of characters in a phrase. Additional characters are ignored.
const MaxLength = 200

// Phrase is the text that a user searches for. The search ignores case, accents, and the styles of
// quotes and dashes. It also ignores line breaks: all whitespace is the same, and a hyphen at the
// end of a line may split a word.
//
// If all of the text is in quotes, as in `"smith" "bk 1022"`, the search looks for each quoted item
// as complete words and numbers and ignores their punctuation. If a star follows a quoted item, the
// item is a prefix. Adjacent matches are merged into one.
//
// The zero Phrase matches nothing.
type Phrase struct {
	pattern []rune
	words   *wordTree // nil unless all of the text is in quotes
}

// Span is a range of characters (not bytes). It does not include the character at End.
type Span struct{ Start, End int }

// New returns a Phrase for the text that a user typed. It uses up to MaxLength characters.
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
		// One character, such as a ligature, may have been folded into two.
		if last := len(spans) - 1; end < 0 || last >= 0 && origin[i] < spans[last].End {
			i++
			continue
		}
		spans = append(spans, Span{origin[i], origin[end-1] + 1})
		i = end
	}
	return spans
}

// lineHyphen stands for a hyphen at the end of a line and the whitespace after it in folded text.
// It matches a dash or nothing.
const lineHyphen = '\u00AD'

// ContainsAll reports whether text contains a match of every phrase.
func ContainsAll(text []rune, phrases []Phrase) bool {
	return !slices.ContainsFunc(phrases, func(p Phrase) bool { return len(p.Find(text, 1)) == 0 })
}

// match returns the end of a match that starts at i, or -1 if there is none.
func (p Phrase) match(text []rune, i int) int {
	if text[i] == lineHyphen {
		return -1 // a match can't start with a line hyphen
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

// fold normalizes text for comparison. For each character of the result, origin contains the
// position of the original character in text.
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

// endsLine reports whether the dash text[i] is at the end of a word and at the end of a line.
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
