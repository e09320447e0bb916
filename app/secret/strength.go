package secret

import (
	"strings"
	"unicode"

	"github.com/ccojocar/zxcvbn-go"
	"github.com/ccojocar/zxcvbn-go/match"
	"github.com/ccojocar/zxcvbn-go/matching"
)

const (
	// judged is how many bytes of a password are judged: the time of zxcvbn grows with
	// a power of their number, and 32 that are hard to guess stay so with more behind them.
	judged = 32
	// leastScore of 4 is what zxcvbn calls safely unguessable: 10 billion guesses.
	leastScore = 3
	// longNumber is from how many characters on a password may do without letters.
	longNumber = 16
	// mostLeet of the characters that stand for letters may differ: zxcvbn tries them in
	// all combinations, and a common word in such a dress has few.
	leet     = "4@8({[<369!1|05$+7%2"
	mostLeet = 6
)

// IsWeakPassword reports a password that programs find in few guesses: common passwords, names and
// words, keys that are neighbors, dates, sequences, repeats, and the words that are given,
// such as the user's name, with digits, marks, and letters exchanged.
func IsWeakPassword(password string, words ...string) bool {
	if len(password) < longNumber && !strings.ContainsFunc(password, unicode.IsLetter) {
		return true
	}
	password = period(head(password))
	var known []string
	for _, word := range append(words, "deedkeep") {
		parts := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		known = append(append(known, head(word), head(strings.Join(parts, ""))), parts...)
	}
	var without []func(match.Matcher) bool
	if different(password, leet) > mostLeet {
		without = append(without, matching.FilterL33tMatcher)
	}
	return zxcvbn.PasswordStrength(password, known, without...).Score < leastScore
}

func head(text string) string { return strings.ToValidUTF8(text[:min(len(text), judged)], "") }

// different is how many of the characters are in a text.
func different(text, characters string) (n int) {
	for _, r := range characters {
		if strings.ContainsRune(text, r) {
			n++
		}
	}
	return n
}

// period is the beginning of a text that the rest repeats, which zxcvbn sees of single
// characters alone.
func period(text string) string {
	for n := 1; n <= len(text)/2; n++ {
		if strings.HasPrefix(strings.Repeat(text[:n], len(text)/n+1), text) {
			return text[:n]
		}
	}
	return text
}
