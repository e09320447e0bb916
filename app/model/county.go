package model

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FoldCounty is how two counties are compared where they are searched: without case,
// accents and punctuation, and without the word that says what they are. St. Tammany
// Parish, Parish of St. Tammany and saint tammany are "st tammany".
func FoldCounty(s string) string {
	words := plainWords(s)
	if len(words) > 2 && isCountyWord(words[0]) && words[1] == "of" {
		words = words[2:]
	}
	if last := len(words) - 1; last > 0 && (isCountyWord(words[last]) || words[last] == "co") {
		words = words[:last]
	}
	for i, w := range words {
		switch w {
		case "saint":
			words[i] = "st"
		case "sainte":
			words[i] = "ste"
		}
	}
	return strings.Join(words, " ")
}

// IsCountyWord says whether a word, in small letters, says that a county stands before it:
// county, parish or borough, and where it is being typed, the beginning of one.
func IsCountyWord(word string, open bool) bool {
	const least = 2 // letters of a beginning
	if !open || len(word) < least {
		return isCountyWord(word)
	}
	return slices.ContainsFunc([]string{"county", "parish", "borough"}, func(whole string) bool { return strings.HasPrefix(whole, word) })
}

func isCountyWord(word string) bool { return word == "county" || word == "parish" || word == "borough" }

// FoldState is how two states are compared where they are searched: Louisiana and la are
// "la". What is no state of the Union is compared as a county is.
func FoldState(s string) string {
	plain := strings.Join(plainWords(s), " ")
	if short, known := states[plain]; known {
		return short
	}
	return plain
}

// plainWords are the words of a text without case, accents and punctuation.
func plainWords(s string) []string {
	s = Fold(s)
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		s = norm.NFD.String(s)
	}
	return strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r) || strings.ContainsRune("'’‘ʼʻ`", r):
			return -1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		}
		return ' '
	}, s))
}

// states are the states of the Union and what belongs to it, as the Postal Service
// shortens them (USPS Publication 28, appendix B).
var states = map[string]string{
	"alabama": "al", "alaska": "ak", "arizona": "az", "arkansas": "ar", "california": "ca", "colorado": "co", "connecticut": "ct",
	"delaware": "de", "district of columbia": "dc", "florida": "fl", "georgia": "ga", "hawaii": "hi", "idaho": "id", "illinois": "il",
	"indiana": "in", "iowa": "ia", "kansas": "ks", "kentucky": "ky", "louisiana": "la", "maine": "me", "maryland": "md",
	"massachusetts": "ma", "michigan": "mi", "minnesota": "mn", "mississippi": "ms", "missouri": "mo", "montana": "mt", "nebraska": "ne",
	"nevada": "nv", "new hampshire": "nh", "new jersey": "nj", "new mexico": "nm", "new york": "ny", "north carolina": "nc",
	"north dakota": "nd", "ohio": "oh", "oklahoma": "ok", "oregon": "or", "pennsylvania": "pa", "rhode island": "ri",
	"south carolina": "sc", "south dakota": "sd", "tennessee": "tn", "texas": "tx", "utah": "ut", "vermont": "vt", "virginia": "va",
	"washington": "wa", "west virginia": "wv", "wisconsin": "wi", "wyoming": "wy",
	"american samoa": "as", "guam": "gu", "northern mariana islands": "mp", "puerto rico": "pr", "virgin islands": "vi",
}
