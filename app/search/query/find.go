package query

import (
	"bytes"
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"deedkeep/app/model"
)

// MaxFindLength is the maximum number of characters that a Finder searches for. Additional
// characters are ignored.
const MaxFindLength = 200

// Finder finds what a user typed in the text of a document. It is safe for concurrent use.
type Finder struct {
	pattern     []rune
	highlighter *Highlighter // nil: find the pattern
	required    WordSet
}

// Span is a range of bytes. It does not include the byte at End.
type Span struct{ Start, End int }

// NewFinder returns a Finder. If words is set, it finds the words of a query in the same way as a
// Highlighter. Otherwise, it finds the typed characters, even in the middle of a word. It then
// ignores only case, accents, the styles of quotes and dashes, and line breaks: all whitespace is
// the same, and a hyphen at the end of a line may split a word.
func NewFinder(typed string, words bool) *Finder {
	typed = strings.TrimSpace(strings.ToValidUTF8(typed, ""))
	if runes := []rune(typed); len(runes) > MaxFindLength {
		typed = string(runes[:MaxFindLength])
	}
	if !words {
		pattern, _ := foldCharacters(typed)
		return &Finder{pattern: pattern, required: 1}
	}
	h := NewHighlighter(typed)
	f := &Finder{highlighter: h, required: WordSet(h.required &^ h.stopWords)}
	if f.required == 0 {
		f.required = h.RequiredWords()
	}
	return f
}

// Empty reports whether the Finder finds nothing in any text.
func (f *Finder) Empty() bool {
	return len(f.pattern) == 0 && (f.highlighter == nil || len(f.highlighter.targets) == 0)
}

// HasAll reports whether matched, the words found in one or more texts, contains all required words.
// Words like "of" are not required if there are others.
func (f *Finder) HasAll(matched WordSet) bool { return matched&f.required == f.required }

// Find returns up to n matches in a text, in order. They don't overlap. Adjacent words are one match.
// matched is the set of words that the text contains. If ctx ends before the complete text was
// examined, there are no matches.
func (f *Finder) Find(ctx context.Context, text string, n int) (spans []Span, matched WordSet) {
	if f.highlighter == nil {
		if spans = f.findPattern(ctx, text, n); len(spans) > 0 {
			matched = 1
		}
		return spans, matched
	}
	scan := f.highlighter.scan(ctx, text)
	for _, k := range scan.prune() {
		last := len(spans) - 1
		if last >= 0 && (k.start <= spans[last].End || isAdjacent(text[spans[last].End:k.start])) {
			spans[last].End = max(spans[last].End, k.end)
			continue
		}
		if len(spans) == n {
			break
		}
		spans = append(spans, Span{k.start, k.end})
	}
	return spans, scan.matchedWords()
}

// isAdjacent reports whether two words are next to each other. between is the text between them.
func isAdjacent(between string) bool {
	const maxBytes = 3
	return len(between) <= maxBytes && !strings.ContainsFunc(between, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// findPattern returns up to n matches of the typed characters, or none if ctx ends before the complete
// text was examined.
func (f *Finder) findPattern(ctx context.Context, text string, n int) (spans []Span) {
	if len(f.pattern) == 0 {
		return nil
	}
	folded, origin := foldCharacters(text)
	for i, checked := 0, 0; i+len(f.pattern) <= len(folded) && len(spans) < n; {
		if i-checked >= charactersPerCheck {
			if checked = i; ctx.Err() != nil {
				return nil
			}
		}
		end := f.matchPattern(folded, i)
		// One character, such as a ligature, may have been folded into two.
		if last := len(spans) - 1; end < 0 || last >= 0 && origin[i] < spans[last].End {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(text[origin[end-1]:])
		spans = append(spans, Span{origin[i], origin[end-1] + size})
		i = end
	}
	return spans
}

// charactersPerCheck is the number of characters after which findPattern checks for cancellation.
const charactersPerCheck = 4_096

// lineHyphen stands for a hyphen at the end of a line and the whitespace after it in folded text.
// It matches a dash or nothing.
const lineHyphen = '\u00AD'

// matchPattern returns the end of a match that starts at i, or -1 if there is none.
func (f *Finder) matchPattern(text []rune, i int) int {
	if text[i] == lineHyphen {
		return -1 // a match can't start with a line hyphen
	}
	for k := 0; k < len(f.pattern); i++ {
		switch {
		case i >= len(text):
			return -1
		case text[i] == f.pattern[k]:
			k++
		case text[i] != lineHyphen:
			return -1
		case f.pattern[k] == '-':
			k++
			if k < len(f.pattern) && f.pattern[k] == ' ' {
				k++
			}
		}
	}
	return i
}

// foldCharacters normalizes text for comparison by character. For each character of the result,
// origin contains the position of the original character in text.
func foldCharacters(text string) (folded []rune, origin []int) {
	folded, origin = make([]rune, 0, len(text)), make([]int, 0, len(text))
	var buffer []byte
	for i := 0; i < len(text); {
		c, r, size := classAt(text, i)
		buffer = buffer[:0]
		switch {
		case unicode.IsSpace(r) || r == 0:
			if n := len(folded); n > 0 && folded[n-1] != ' ' && folded[n-1] != lineHyphen {
				buffer = append(buffer, ' ')
			}
		case c == ignored:
		case isDash(r) && endsLine(text, i, i+size):
			buffer = utf8.AppendRune(buffer, lineHyphen)
		case isDash(r):
			buffer = append(buffer, '-')
		case c == apostrophe && r != '`', r == '‚', r == '‛':
			buffer = append(buffer, '\'')
		case strings.ContainsRune(model.QuoteMarks+"‟″", r):
			buffer = append(buffer, '"')
		case c != separator:
			buffer = appendFoldedRune(buffer, r, text[i:])
		case r < utf8.RuneSelf:
			buffer = append(buffer, byte(r))
		default:
			buffer = append(buffer, bytes.ToLower(norm.NFKD.Bytes(utf8.AppendRune(nil, r)))...)
		}
		for _, r := range string(buffer) {
			folded, origin = append(folded, r), append(origin, i)
		}
		i += size
	}
	for n := len(folded); n > 0 && folded[n-1] == ' '; n-- {
		folded, origin = folded[:n-1], origin[:n-1]
	}
	return folded, origin
}

// endsLine reports whether the dash text[i:end] is at the end of a word and at the end of a line.
func endsLine(text string, i, end int) bool {
	if before, _ := utf8.DecodeLastRuneInString(text[:i]); i == 0 || unicode.IsSpace(before) {
		return false
	}
	for _, r := range text[end:] {
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
