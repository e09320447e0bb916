// Package phrase finds what a person typed in the text of a document.
package phrase

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MaxLength is how many characters of a phrase are looked for.
const MaxLength = 200

// Phrase is what somebody looks for in a text. It is found whatever the case, the
// accents, the kind of quotes and dashes, and however the text breaks its lines:
// white space is like any other, and a word may be parted by a hyphen at the end
// of a line. What is nothing but things in quotes, `"smith" "bk 1022"`, is each of
// them, as whole words and numbers however they are punctuated; a star after one
// makes it a beginning. Places that follow each other are one then. The zero Phrase
// is found nowhere.
type Phrase struct {
	pattern []rune
	words   *wordTree // nil: it is looked for as it is
}

// Span is a run of characters (not bytes): from Start up to, and without, End.
type Span struct{ Start, End int }

// New reads what was typed; only its first MaxLength characters count.
func New(typed string) Phrase {
	runes := []rune(strings.TrimSpace(strings.ToValidUTF8(typed, "")))
	runes = runes[:min(len(runes), MaxLength)]
	folded, _ := fold(runes)
	if list := words(string(runes)); len(list) > 0 {
		return Phrase{folded, newWordTree(list)}
	}
	return Phrase{pattern: folded}
}

// Empty reports whether there is nothing to look for.
func (p Phrase) Empty() bool { return len(p.pattern) == 0 }

// Find returns up to most places of the phrase in text, in order; none overlaps
// another.
func (p Phrase) Find(text []rune, most int) []Span {
	if p.Empty() {
		return nil
	}
	if p.words != nil {
		return p.words.find(text, most)
	}
	folded, at := fold(text)
	var spans []Span
	for i := 0; i+len(p.pattern) <= len(folded) && len(spans) < most; {
		end := p.match(folded, i)
		// Two characters may have come of one, as of a ligature.
		if n := len(spans); end < 0 || n > 0 && at[i] < spans[n-1].End {
			i++
			continue
		}
		spans = append(spans, Span{at[i], at[end-1] + 1})
		i = end
	}
	return spans
}

// lineHyphen stands in folded text for a hyphen at the end of a line and the white
// space after it: a dash, or nothing.
const lineHyphen = '\u00AD'

// ContainsAll reports whether a text has every one of several phrases.
func ContainsAll(text []rune, each []Phrase) bool {
	return !slices.ContainsFunc(each, func(p Phrase) bool { return len(p.Find(text, 1)) == 0 })
}

// match returns where the phrase ends that begins at i, -1 where none does.
func (p Phrase) match(text []rune, i int) int {
	if text[i] == lineHyphen {
		return -1 // nothing begins with nothing
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

// fold makes text comparable, and says for each character of what it made where it
// came from.
func fold(text []rune) (folded []rune, at []int) {
	folded, at = make([]rune, 0, len(text)), make([]int, 0, len(text))
	add := func(r rune, i int) { folded, at = append(folded, r), append(at, i) }
	for i := 0; i < len(text); i++ {
		switch r := text[i]; {
		case unicode.IsSpace(r) || r == 0:
			if n := len(folded); n > 0 && folded[n-1] != ' ' && folded[n-1] != lineHyphen {
				add(' ', i)
			}
		case r == '\u00AD' || r == '\u200B' || r == '\uFEFF': // soft hyphen and what has no width
		case dash(r):
			if endsLine(text, i) {
				add(lineHyphen, i)
			} else {
				add('-', i)
			}
		case r < 0x80:
			add(unicode.ToLower(r), i)
		default:
			foldWide(r, func(r rune) { add(r, i) })
		}
	}
	for n := len(folded); n > 0 && folded[n-1] == ' '; n-- {
		folded, at = folded[:n-1], at[:n-1]
	}
	return folded, at
}

// endsLine reports whether text[i], a dash, is followed by the end of a line and
// stands at the end of a word.
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

func dash(r rune) bool {
	return r == '-' || r >= 0x2010 && r <= 0x2015 || r == 0x2212 || r == 0xFE63 || r == 0xFF0D
}

// foldWide takes accents off, ligatures apart, and makes quotes plain.
func foldWide(r rune, add func(rune)) {
	switch r {
	case '‘', '’', '‚', '‛', '′':
		add('\'')
		return
	case '“', '”', '„', '‟', '″':
		add('"')
		return
	}
	var room [4]byte
	form := norm.NFKD.AppendString(room[:0], string(r))
	for _, part := range string(form) {
		if !unicode.Is(unicode.Mn, part) {
			add(unicode.ToLower(part))
		}
	}
}
