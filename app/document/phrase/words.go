package phrase

import (
	"slices"
	"strings"
	"unicode"

	"deedkeep/app/model"
)

// word contains the letters and digits of a quoted item. A match must start and end at word
// boundaries of the text.
type word struct {
	runes  []rune
	gap    []bool // whether punctuation or a space precedes this character
	number bool   // contains a digit; the text may group it differently, such as 12-3-045 and 123045
	prefix bool   // the word in the text may be longer
}

// maxWords is the maximum number of quoted items in a search. Additional items are ignored.
const maxWords = 32

// Split splits a search query into phrases. Each word and each quoted text is a phrase. For
// example, `smith "warranty deed" 12-3` becomes `"smith"`, `"warranty deed"`, and `"12-3"*`. The
// last word is a prefix, as in the search box. Joined with spaces, the phrases form one Phrase.
// Stop words are omitted unless there are only stop words.
func Split(typed string) (phrases []string) {
	var stopPhrases []string
	typed = strings.Join(strings.Fields(plainQuotes(typed)), " ")
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
			list := &phrases
			if i%2 == 0 && stopWords[string(w.runes)] {
				list = &stopPhrases
			}
			if !slices.Contains(*list, item) {
				*list = append(*list, item)
			}
		}
	}
	if len(phrases) == 0 {
		phrases = stopPhrases
	}
	return phrases
}

// stopWords contains words that occur many times on every page of a deed.
var stopWords = map[string]bool{
	"a": true, "an": true, "and": true, "at": true, "by": true, "for": true, "from": true, "in": true, "of": true,
	"on": true, "or": true, "the": true, "to": true, "with": true,
}

// plainQuotes replaces all types of double quotes with ASCII quotes.
func plainQuotes(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(model.QuoteMarks, r) {
			return '"'
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// quotedWords returns the items of a text if all of the text is in quotes, else nil.
func quotedWords(typed string) (list []word) {
	rest := strings.TrimSpace(plainQuotes(typed))
	for rest != "" && len(list) < maxWords {
		if rest[0] != '"' {
			return nil
		}
		inner, after, closed := strings.Cut(rest[1:], `"`)
		prefix := strings.HasPrefix(after, "*")
		after = strings.TrimPrefix(after, "*")
		if closed && after != "" && !unicode.IsSpace(rune(after[0])) {
			return nil
		}
		rest = strings.TrimSpace(after)
		if w := newWord(inner); len(w.runes) > 0 {
			w.prefix = prefix
			if !slices.ContainsFunc(list, w.same) {
				list = append(list, w)
			}
		}
	}
	return list
}

// same reports whether two words are equal.
func (w *word) same(other word) bool {
	return w.prefix == other.prefix && slices.Equal(w.runes, other.runes) && slices.Equal(w.gap, other.gap)
}

// newWord returns the letters and digits of a text as a word.
func newWord(text string) (w word) {
	folded, _ := fold([]rune(text))
	gap := false
	for _, r := range folded {
		switch {
		case !isWordCharacter(r):
			gap = gap || !isIgnored(r)
			continue
		case unicode.IsDigit(r):
			w.number = true
		}
		w.runes, w.gap = append(w.runes, r), append(w.gap, gap)
		gap = false
	}
	return w
}

// isWordCharacter reports whether a character is part of a word.
func isWordCharacter(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	}
	return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
}

// isIgnored reports whether a character doesn't separate words. O'Neil is the same as ONeil, and a
// word may be split at the end of a line.
func isIgnored(r rune) bool { return r == '\'' || r == lineHyphen }

// isBoundary reports whether a word may end before text[i] and another word may start there.
func isBoundary(text []rune, i int) bool {
	if i == 0 || i >= len(text) || !isWordCharacter(text[i-1]) || !isWordCharacter(text[i]) {
		return true
	}
	return unicode.IsDigit(text[i-1]) != unicode.IsDigit(text[i])
}

// adjacent reports whether two words are next to each other. between contains the characters
// between them.
func adjacent(between []rune) bool {
	return len(between) <= 3 && !slices.ContainsFunc(between, isWordCharacter)
}
