package phrase

import (
	"slices"
	"strings"
	"unicode"

	"deedkeep/app/model"
)

// word is what is looked for in quotes: its letters and digits, which begin and end
// where words of the text do.
type word struct {
	runes  []rune
	parted []bool // something else stood before this one
	number bool   // it has a digit: a text may part it otherwise, 12-3-045 as 123045
	begins bool   // the text's word may go on
}

// mostWords is how many are looked for at once.
const mostWords = 32

// Split takes what somebody typed to find records by apart into phrases: each word is
// one, and what stands in quotes. Of `smith "warranty deed" 12-3` they are `"smith"`,
// `"warranty deed"` and `"12-3"*`: the last word is a beginning, as in the find box.
// Joined by blanks they are one phrase. Words that stand everywhere are left out where
// there are others.
func Split(typed string) (said []string) {
	var slight []string
	typed = strings.Join(strings.Fields(quotesPlain(typed)), " ")
	for i, part := range strings.Split(typed, `"`) {
		words := []string{part}
		if i%2 == 0 {
			words = strings.Fields(part)
		}
		for n, text := range words {
			w := newWord(text)
			if len(w.runes) == 0 {
				continue
			}
			item := `"` + strings.TrimSpace(text) + `"`
			if i%2 == 0 && n == len(words)-1 && strings.HasSuffix(typed, text) && len(w.runes) > 1 {
				item += "*"
			}
			to := &said
			if i%2 == 0 && everywhere[string(w.runes)] {
				to = &slight
			}
			if !slices.Contains(*to, item) {
				*to = append(*to, item)
			}
		}
	}
	if len(said) == 0 {
		said = slight
	}
	return said
}

// everywhere are the words of which every page of a deed has many.
var everywhere = map[string]bool{
	"a": true, "an": true, "and": true, "at": true, "by": true, "for": true, "from": true, "in": true, "of": true,
	"on": true, "or": true, "the": true, "to": true, "with": true,
}

// quotesPlain makes every kind of double quotes the plain one.
func quotesPlain(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(model.QuoteMarks, r) {
			return '"'
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// words reads a text that is nothing but things in quotes; nil of any other.
func words(typed string) (list []word) {
	rest := strings.TrimSpace(quotesPlain(typed))
	for rest != "" && len(list) < mostWords {
		if rest[0] != '"' {
			return nil
		}
		inner, after, closed := strings.Cut(rest[1:], `"`)
		begins := strings.HasPrefix(after, "*")
		after = strings.TrimPrefix(after, "*")
		if closed && after != "" && !unicode.IsSpace(rune(after[0])) {
			return nil
		}
		rest = strings.TrimSpace(after)
		if w := newWord(inner); len(w.runes) > 0 {
			w.begins = begins
			if !slices.ContainsFunc(list, w.same) {
				list = append(list, w)
			}
		}
	}
	return list
}

func (w *word) same(as word) bool {
	return w.begins == as.begins && slices.Equal(w.runes, as.runes) && slices.Equal(w.parted, as.parted)
}

func newWord(text string) (w word) {
	folded, _ := fold([]rune(text))
	parted := false
	for _, r := range folded {
		switch {
		case !bears(r):
			parted = parted || !slightly(r)
			continue
		case unicode.IsDigit(r):
			w.number = true
		}
		w.runes, w.parted = append(w.runes, r), append(w.parted, parted)
		parted = false
	}
	return w
}

// bears reports whether a character is one of a word.
func bears(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	}
	return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
}

// slightly reports whether a character parts nothing: O'Neil and ONeil are one, and so
// is a word that the end of a line parts.
func slightly(r rune) bool { return r == '\'' || r == lineHyphen }

// edge reports whether a word may end before text[i] and another begin there.
func edge(text []rune, i int) bool {
	if i == 0 || i >= len(text) || !bears(text[i-1]) || !bears(text[i]) {
		return true
	}
	return unicode.IsDigit(text[i-1]) != unicode.IsDigit(text[i])
}

// beside reports whether what is between two words leaves them together.
func beside(between []rune) bool {
	return len(between) <= 3 && !slices.ContainsFunc(between, bears)
}
