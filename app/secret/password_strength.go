package secret

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ccojocar/zxcvbn-go/data"
)

// Passwords are rated as zxcvbn does (https://github.com/dropbox/zxcvbn), with the word lists
// of zxcvbn-go. Its rating isn't imported, because that loads the lists whenever a process
// starts, workers and commands included: 46 ms of CPU time and 18 MB of memory. Here, they are
// loaded when the first password is rated.

const (
	// maxJudgedBytes is the number of bytes of a password that are rated. The running time
	// is polynomial in the length, and a strong prefix of 32 bytes is enough.
	maxJudgedBytes = 32
	// minGuessBits is the base-2 logarithm of the lowest accepted number of guesses: 20
	// billion, the lower end of what zxcvbn defines as "safely unguessable" (score 3).
	minGuessBits = 34.2
	// minNumericLength is the minimum length of a password without letters.
	minNumericLength = 16
	// minPattern is the minimum length of a sequence, a repetition, or a keyboard walk.
	minPattern = 3
)

// IsWeakPassword reports whether a password can be guessed quickly. That is the case for
// common passwords, names, words, adjacent keys, dates, sequences, repetitions, and the
// given words, such as the username. It detects them even with added digits or symbols,
// or with replaced letters.
func IsWeakPassword(password string, words ...string) bool {
	if len(password) < minNumericLength && !strings.ContainsFunc(password, unicode.IsLetter) {
		return true
	}
	known := map[string]int{}
	for _, word := range append(words, "deedkeep") {
		parts := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for _, text := range append(parts, truncate(word), truncate(strings.Join(parts, ""))) {
			known[strings.ToLower(text)] = len(known) + 1
		}
	}
	return guessBits(repeatedUnit(truncate(password)), known) < minGuessBits
}

func truncate(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxJudgedBytes)], "")
}

// repeatedUnit returns the shortest prefix that, repeated, gives text. That may be text
// itself.
func repeatedUnit(text string) string {
	for n := 1; n <= len(text)/2; n++ {
		if strings.HasPrefix(strings.Repeat(text[:n], len(text)/n+1), text) {
			return text[:n]
		}
	}
	return text
}

// guessBits returns the base-2 logarithm of the number of guesses that a password takes. It
// splits the password into patterns and single bytes so that the number is lowest. known
// contains words with their ranks.
func guessBits(password string, known map[string]int) float64 {
	lower := strings.ToLower(password)
	if len(lower) != len(password) {
		password = lower // keep the positions equal
	}
	spellings := []string{lower}
	for _, letters := range leetLetters {
		spellings = append(spellings, letters.Replace(lower))
	}
	ranks, perByte := wordRanks(), math.Log2(alphabetSize(password))
	bits := make([]float64, len(password)+1)
	for end := 1; end <= len(password); end++ {
		bits[end] = bits[end-1] + perByte
		for start := range end {
			token, pattern := password[start:end], math.Inf(1)
			for _, text := range spellings {
				if rank := cmp.Or(known[text[start:end]], ranks[text[start:end]]); rank > 0 {
					pattern = min(pattern, math.Log2(float64(rank)))
				}
			}
			if strings.ContainsFunc(token, unicode.IsUpper) {
				pattern++
			}
			if len(token) >= minPattern {
				pattern = min(pattern, sequenceBits(lower[start:end]), repeatBits(token), walkBits(token), dateBits(token))
			}
			bits[end] = min(bits[end], bits[start]+pattern)
		}
	}
	return bits[len(password)]
}

// leetLetters replaces characters that are often used instead of letters. It has one
// replacer for each reading of those that look like two letters.
var leetLetters = func() (all []*strings.Replacer) {
	same := []string{
		"4", "a", "@", "a", "8", "b", "(", "c", "{", "c", "[", "c", "<", "c", "3", "e", "6", "g", "9", "g",
		"!", "i", "0", "o", "$", "s", "5", "s", "+", "t", "%", "x", "2", "z",
	}
	for _, letters := range []string{"it", "il", "lt", "ll"} {
		all = append(all, strings.NewReplacer(append(same, "1", letters[:1], "|", letters[:1], "7", letters[1:])...))
	}
	return all
}()

// loadFile decodes a JSON file of zxcvbn-go.
func loadFile[T any](name string) (content T) {
	if err := json.Unmarshal(data.MustAsset("data/"+name+".json"), &content); err != nil {
		panic(err) // not reached: the files are part of the program
	}
	return content
}

// wordRanks returns the rank of each common word, name, and password in its list.
var wordRanks = sync.OnceValue(func() map[string]int {
	ranks := map[string]int{}
	for _, name := range []string{"MaleNames", "FemaleNames", "Surnames", "English", "Passwords"} {
		for i, word := range loadFile[struct{ List []string }](name).List {
			ranks[word] = min(i+1, cmp.Or(ranks[word], i+1))
		}
	}
	return ranks
})

// keyboard maps each key to its neighbors, by direction. Each neighbor is a text of the
// characters without and with Shift.
type keyboard map[string][]string

var keyboards = sync.OnceValue(func() (all []keyboard) {
	for _, name := range []string{"Qwerty", "Dvorak", "Keypad", "MacKeypad"} {
		all = append(all, loadFile[struct{ Graph keyboard }](name).Graph)
	}
	return all
})

// walkBits rates adjacent keys by the first one, the length, and the number of turns. A keypad
// has fewer directions.
func walkBits(token string) float64 {
	bits := math.Inf(1)
	for _, keys := range keyboards() {
		turns, perTurn, last, i := 0.0, 1.0, -1, 1
		if len(keys) < 26 {
			perTurn = 0.5
		}
		for ; i < len(token); i++ {
			direction := slices.IndexFunc(keys[token[i-1:i]], func(key string) bool { return strings.Contains(key, token[i:i+1]) })
			if direction < 0 {
				break
			}
			if direction != last {
				turns, last = turns+perTurn, direction
			}
		}
		if i == len(token) {
			bits = min(bits, math.Log2(float64(len(keys)*len(token)))+turns)
		}
	}
	return bits
}

var sequences = []string{"abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba", "0123456789", "9876543210"}

func sequenceBits(token string) float64 {
	for _, characters := range sequences {
		if strings.Contains(characters, token) {
			if token[0] == 'a' || token[0] == '1' {
				return math.Log2(float64(len(token)))
			}
			return math.Log2(float64(len(token) * len(characters)))
		}
	}
	return math.Inf(1)
}

// repeatBits rates repetitions of one character.
func repeatBits(token string) float64 {
	_, size := utf8.DecodeRuneInString(token)
	if n := len(token) / size; n >= minPattern && strings.EqualFold(token, strings.Repeat(token[:size], n)) {
		return math.Log2(alphabetSize(token) * float64(n))
	}
	return math.Inf(1)
}

// alphabetSize returns the number of characters that an attacker tries for each byte of text.
func alphabetSize(text string) (size float64) {
	for _, class := range []struct {
		contains func(rune) bool
		size     float64
	}{{unicode.IsLower, 26}, {unicode.IsUpper, 26}, {unicode.IsDigit, 10}, {isSymbol, 33}} {
		if strings.ContainsFunc(text, class.contains) {
			size += class.size
		}
	}
	return size
}

func isSymbol(r rune) bool { return !unicode.IsLower(r) && !unicode.IsUpper(r) && !unicode.IsDigit(r) }

var (
	dateSeparators = strings.NewReplacer("-", "/", ".", "/", "_", "/", " ", "/", `\`, "/")
	dateLayouts    = []string{
		"1/2/2006", "2/1/2006", "2006/1/2", "2006/2/1", "1/2/06", "2/1/06", "06/1/2", "06/2/1",
		"01022006", "02012006", "20060102", "20060201", "010206", "020106", "060102", "060201",
	}
)

// dateBits rates a date of the years 1900 to 2099.
func dateBits(token string) float64 {
	if len(token) >= len("1/2/06") && len(token) <= len("01/02/2006") {
		text := dateSeparators.Replace(token)
		for _, layout := range dateLayouts {
			if date, err := time.Parse(layout, text); err == nil && date.Year() >= 1900 && date.Year() < 2100 {
				return math.Log2(31 * 12 * 100)
			}
		}
	}
	return math.Inf(1)
}
