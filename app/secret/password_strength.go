package secret

import (
	"strings"
	"unicode"

	"github.com/ccojocar/zxcvbn-go"
	"github.com/ccojocar/zxcvbn-go/match"
	"github.com/ccojocar/zxcvbn-go/matching"
)

const (
	// maxJudgedBytes is the number of bytes of a password that are rated. The running time
	// of zxcvbn is polynomial in the length, and a strong prefix of 32 bytes is enough.
	maxJudgedBytes = 32
	// minScore is the lowest accepted zxcvbn score on a scale of 0 to 4. zxcvbn defines a
	// score of 3 as "safely unguessable" (up to 10 billion guesses).
	minScore = 3
	// minNumericLength is the minimum length of a password without letters.
	minNumericLength = 16
	// maxLeetCharacters is the maximum number of different leet characters (which replace
	// letters) that are rated as leet. zxcvbn tries all combinations, and common words
	// contain only a few of them.
	leet              = "4@8({[<369!1|05$+7%2"
	maxLeetCharacters = 6
)

// IsWeakPassword reports whether a password can be guessed quickly. That is the case for
// common passwords, names, words, adjacent keys, dates, sequences, repetitions, and the
// given words, such as the username. It detects them even with added digits or symbols,
// or with replaced letters.
func IsWeakPassword(password string, words ...string) bool {
	if len(password) < minNumericLength && !strings.ContainsFunc(password, unicode.IsLetter) {
		return true
	}
	password = repeatedUnit(truncate(password))
	var known []string
	for _, word := range append(words, "deedkeep") {
		parts := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		known = append(append(known, truncate(word), truncate(strings.Join(parts, ""))), parts...)
	}
	var without []func(match.Matcher) bool
	if countPresent(password, leet) > maxLeetCharacters {
		without = append(without, matching.FilterL33tMatcher)
	}
	return zxcvbn.PasswordStrength(password, known, without...).Score < minScore
}

func truncate(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxJudgedBytes)], "")
}

// countPresent returns how many of the characters are in text.
func countPresent(text, characters string) (n int) {
	for _, r := range characters {
		if strings.ContainsRune(text, r) {
			n++
		}
	}
	return n
}

// repeatedUnit returns the shortest prefix that, repeated, gives text. That may be text
// itself. zxcvbn detects only repetitions of a single character.
func repeatedUnit(text string) string {
	for n := 1; n <= len(text)/2; n++ {
		if strings.HasPrefix(strings.Repeat(text[:n], len(text)/n+1), text) {
			return text[:n]
		}
	}
	return text
}
