package title

import "strings"

// commonWords are what the passwords that are tried first are made of: alone,
// repeated, or with digits and marks before or behind. Passwords under
// LeastPassword are refused anyway.
var commonWords = []string{
	"password", "passwort", "passw", "pass", "passwd", "qwerty", "qwertyuiop", "qwertz", "qwertzuiop", "azerty", "azertyuiop",
	"asdfghjkl", "asdfgh", "asdf", "zxcvbnm", "qazwsx", "qazwsxedc", "qwerasdfzxcv", "qwertyasdfgh", "abc", "abcd", "abcdef",
	"abcdefghij", "letmein", "welcome", "welcometo", "iloveyou", "admin", "administrator", "root", "login", "user", "guest",
	"test", "testing", "default", "changeme", "changeit", "secret", "topsecret", "master", "monkey", "dragon", "sunshine",
	"princess", "football", "baseball", "basketball", "superman", "batman", "starwars", "trustno", "whatever", "computer",
	"internet", "michael", "jennifer", "charlie", "shadow", "summer", "winter", "spring", "autumn", "january", "company",
	"office", "title", "titlecompany", "deed", "deedkeep", "vault", "abstract", "q", "qwe", "qw", "a", "x",
}

// leet undoes the exchange of letters that guessers know too.
var leet = strings.NewReplacer("@", "a", "4", "a", "3", "e", "0", "o", "1", "i", "!", "i", "$", "s", "5", "s", "7", "t")

// longNumber is from how many digits and marks on they make a password by themselves.
const longNumber = 16

// isCommon reports a password that is among the first to be tried: a common word in
// some dress, a run of neighbouring characters, or hardly any different ones.
func isCommon(password string) bool {
	folded := Fold(password)
	if isRun(folded) || different(folded) <= 3 {
		return true
	}
	core := strings.TrimFunc(folded, func(r rune) bool { return r < 0x80 && (r < 'a' || r > 'z') })
	if core == "" {
		return len(folded) < longNumber
	}
	for _, bare := range []string{bareWord(core), bareWord(leet.Replace(core))} {
		for _, word := range commonWords {
			if strings.ReplaceAll(bare, word, "") == "" {
				return true
			}
		}
	}
	return false
}

// bareWord is the folded text without digits, marks and blanks.
func bareWord(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r < 'a' || r > 'z') {
			return -1
		}
		return r
	}, Fold(text))
}

// isRun reports text whose characters go up or down one by one, a turn to the
// beginning allowed: 1234567890, zyxwvutsrq.
func isRun(text string) bool {
	up, down := 0, 0
	var last rune
	for i, r := range text {
		if i > 0 {
			switch {
			case r == last+1, last == '9' && r == '0':
				up++
			case r == last-1, last == '0' && r == '9':
				down++
			}
		}
		last = r
	}
	return max(up, down) >= len(text)-2
}

func different(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}
