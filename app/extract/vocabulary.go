package extract

import (
	"strings"
	"unicode"
)

// vocabulary is a list of words that OCR may have misread.
type vocabulary struct {
	exact    map[string]bool
	shape    map[string]string   // words by what they look like
	deletion map[string][]string // long words, complete and with a letter left out
}

// Lengths of words, in letters. A shorter word must be exact, and a word that isn't long must at
// least look the same.
const (
	minShapeWord = 4
	minLongWord  = 6
	maxWord      = 20
)

func newVocabulary(words []string) vocabulary {
	v := vocabulary{exact: map[string]bool{}, shape: map[string]string{}, deletion: map[string][]string{}}
	for _, word := range words {
		v.exact[word] = true
	}
	for _, word := range words {
		if len(word) < minShapeWord {
			continue
		}
		if other, twice := v.shape[shapeOf(word)]; twice && other != word {
			v.shape[shapeOf(word)] = "" // ambiguous
		} else {
			v.shape[shapeOf(word)] = word
		}
		if len(word) < minLongWord {
			continue
		}
		v.deletion[word] = append(v.deletion[word], word)
		for n := range word {
			v.deletion[word[:n]+word[n+1:]] = append(v.deletion[word[:n]+word[n+1:]], word)
		}
	}
	return v
}

var shapes = strings.NewReplacer("rn", "m", "ii", "u", "vv", "w", "li", "h", "cl", "d", "0", "o", "c", "o", "e", "o", "1", "l",
	"|", "l", "!", "l", "i", "l",
	"5", "s", "$", "s", "8", "b", "6", "b", "9", "g", "q", "g", "f", "t", "7", "t", "v", "u")

// shapeOf returns a text that is equal for words that look alike.
func shapeOf(word string) string { return shapes.Replace(word) }

// repair returns the word of the vocabulary that OCR misread as word, or "" if there is none or if word
// was read correctly.
func (v vocabulary) repair(word string) string {
	if len(word) < minShapeWord || len(word) > maxWord {
		return ""
	}
	lower := strings.ToLower(word)
	if v.exact[lower] || isNumber(lower) {
		return ""
	}
	if known := v.shape[shapeOf(lower)]; known != "" {
		return likeCase(known, word)
	}
	if len(lower) < minLongWord-1 {
		return ""
	}
	found := ""
	add := func(key string) {
		for _, known := range v.deletion[key] {
			if len(known) <= len(lower)+1 && len(known)+1 >= len(lower) && (found == "" || found == known) {
				found = known
			} else if found != "" {
				found = "?"
			}
		}
	}
	add(lower)
	for n := range lower {
		if found == "?" {
			break
		}
		if rest := lower[:n] + lower[n+1:]; len(rest) >= minLongWord-2 {
			add(rest)
		}
	}
	if found == "" || found == "?" || !isOneLetterOff(lower, found) {
		return ""
	}
	return likeCase(found, word)
}

// repairAll repairs all words of a text.
func (v vocabulary) repairAll(text string) string {
	words := strings.Fields(text)
	for n, word := range words {
		if fixed := v.repair(strings.Trim(word, ".,")); fixed != "" {
			words[n] = fixed
		}
	}
	return strings.Join(words, " ")
}

// isOneLetterOff reports whether b is a with one letter replaced, added, or left out.
func isOneLetterOff(a, b string) bool {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	a, b = a[from:], b[from:]
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1
}

// isNumber reports whether a word is a number, perhaps with misread digits.
func isNumber(word string) bool {
	digits := 0
	for _, r := range word {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return 2*digits >= len(word)
}

// likeCase returns word in the case of another word.
func likeCase(word, like string) string {
	upper, lower := 0, 0
	for _, r := range like {
		switch {
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		}
	}
	switch {
	case upper > lower:
		return strings.ToUpper(word)
	case upper > 0 && unicode.IsUpper(rune(like[0])):
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return word
}
