//go:build scale && linux

package cmd

import (
	"math/rand/v2"
	"slices"
	"strings"

	"deedkeep/app/vaulttest"
)

// scaleClass is a class of searches. generate creates a random search of this class and returns it
// with a record that it matches.
type scaleClass struct {
	name     string
	generate func(o *oracle, rng *rand.Rand) (searchCase, record)
}

// Words are ranked by frequency; 0 is the most frequent word. Words with a rank of maxFrequentRank
// or higher are rare.
const (
	maxCommonRank   = 50
	maxFrequentRank = 30_000
)

var scaleClasses = []scaleClass{
	{"exact number", func(o *oracle, rng *rand.Rand) (searchCase, record) {
		r, number := o.number(rng)
		if rng.IntN(3) == 0 {
			return searchCase{text: compact(number), words: []string{compact(number)}, first: number}, r
		}
		return searchCase{text: number, words: []string{compact(number)}, first: number}, r
	}},
	{"number, 2 characters", numberPrefix(2)},
	{"number, 3 characters", numberPrefix(3)},
	{"number, 6 characters", numberPrefix(6)},
	{"rare word", func(o *oracle, rng *rand.Rand) (searchCase, record) {
		return o.wordSearch(rng, maxFrequentRank, vaulttest.TextWords*50)
	}},
	{"one of the 50 commonest", func(o *oracle, rng *rand.Rand) (searchCase, record) { return o.wordSearch(rng, 0, maxCommonRank) }},
	{"two words", func(o *oracle, rng *rand.Rand) (searchCase, record) {
		return o.wordSearch(rng, maxCommonRank, 1000, 1000, maxFrequentRank)
	}},
	{"two of the 50 commonest", func(o *oracle, rng *rand.Rand) (searchCase, record) {
		return o.wordSearch(rng, 0, maxCommonRank/2, maxCommonRank/2, maxCommonRank)
	}},
	{"first and last name", func(o *oracle, rng *rand.Rand) (searchCase, record) {
		r := record{"abstract", rng.IntN(o.Orders)}
		owner := o.mixRecord(r).Owner
		return searchCase{text: owner, words: wordsOf(owner)}, r
	}},
	{"phrase of common words", func(o *oracle, rng *rand.Rand) (searchCase, record) {
		for {
			r := o.document(rng)
			ranks := o.text(r)
			for i := rng.IntN(len(ranks) / 2); i+3 <= len(ranks); i++ {
				window := ranks[i : i+3]
				if slices.Max(window) < maxCommonRank && vaulttest.PageOf(i) == vaulttest.PageOf(i+2) {
					words := []string{o.words.Word(int(window[0])), o.words.Word(int(window[1])), o.words.Word(int(window[2]))}
					return searchCase{text: `"` + strings.Join(words, " ") + `"`, words: words, phrase: true}, r
				}
			}
		}
	}},
	{"one typo", func(o *oracle, rng *rand.Rand) (searchCase, record) {
		for {
			r := record{"abstract", rng.IntN(o.Orders)}
			owner := wordsOf(o.mixRecord(r).Owner)
			if typed := withTypo(owner[1], rng); len(typed) >= 4 && !o.isPrefix(typed) {
				return searchCase{text: typed, words: []string{typed}}, r
			}
		}
	}},
}

// numberPrefix returns a generator for searches for the first length characters of a number.
func numberPrefix(length int) func(o *oracle, rng *rand.Rand) (searchCase, record) {
	return func(o *oracle, rng *rand.Rand) (searchCase, record) {
		r, number := o.number(rng)
		start := compact(number)[:length]
		return searchCase{text: start, words: []string{start}}, r
	}
}

// number returns a random record and its file number, order number, or parcel ID.
func (o *oracle) number(rng *rand.Rand) (record, string) {
	r := record{[]string{"abstract", "order"}[rng.IntN(2)], rng.IntN(o.Orders)}
	s := o.mixRecord(r)
	return r, []string{s.Number, s.Number, s.Parcel}[rng.IntN(3)]
}

// document returns a random file that has text and is part of an abstract.
func (o *oracle) document(rng *rand.Rand) record {
	for {
		if k := o.FileWithText(rng.IntN(o.Texts)); !o.InFolder(k) {
			return record{"file", k}
		}
	}
}

// wordSearch returns a search for words from one document. Each pair of bounds is the range of
// frequency ranks from which one word is chosen; the upper bound is excluded.
func (o *oracle) wordSearch(rng *rand.Rand, bounds ...int) (searchCase, record) {
	for {
		r := o.document(rng)
		ranks := o.text(r)
		var words []string
		for i := 0; i < len(bounds); i += 2 {
			from := rng.IntN(len(ranks))
			for i := range ranks {
				rank := int(ranks[(from+i)%len(ranks)])
				if word := o.words.Word(rank); rank >= bounds[i] && rank < bounds[i+1] && len(word) > 1 { // the search ignores one-letter words
					words = append(words, word)
					break
				}
			}
		}
		if len(words) == len(bounds)/2 && (len(words) < 2 || words[0] != words[1]) {
			return searchCase{text: strings.Join(words, " "), words: words}, r
		}
	}
}

// withTypo inserts, removes, or replaces a random letter of a word, or swaps two adjacent letters.
// The first letter doesn't change.
func withTypo(word string, rng *rand.Rand) string {
	i, letter := 1+rng.IntN(len(word)-2), string(rune('a'+rng.IntN(26)))
	switch rng.IntN(4) {
	case 0:
		return word[:i] + letter + word[i:]
	case 1:
		return word[:i] + word[i+1:]
	case 2:
		return word[:i] + letter + word[i+1:]
	default:
		return word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
	}
}

// isPrefix reports whether any name or word starts with typed.
func (o *oracle) isPrefix(typed string) bool {
	for n := range vaulttest.MixNames {
		first, last := strings.ToLower(vaulttest.MixFirstName(n)), strings.ToLower(vaulttest.MixLastName(n))
		if strings.HasPrefix(first, typed) || strings.HasPrefix(last, typed) {
			return true
		}
	}
	for rank := range o.words.Size() {
		if strings.HasPrefix(o.words.Word(rank), typed) {
			return true
		}
	}
	return false
}

// makeSearches returns perClass searches of each class without filters, and the same number with
// filters. Each search matches the record that it was created from.
func (o *oracle) makeSearches(perClass int) (list []*searchCase) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, class := range scaleClasses {
		for i := range 2 * perClass {
			for {
				a, r := class.generate(o, rng)
				a.class = class.name
				if i >= perClass {
					a.addFilters(o, r)
				}
				if a.matchesFilters(o, r) {
					list = append(list, &a)
					break
				}
			}
		}
	}
	return list
}

// addFilters adds filters for the county of a record and for a two-year period around its date.
func (sc *searchCase) addFilters(o *oracle, r record) {
	s := o.mixRecord(r)
	if sc.county = s.County; r.kind == "file" {
		sc.county = o.Abstract(r.n / vaulttest.FilesPerOrder).County
	}
	sc.from = s.At.AddDate(-1, 0, 0).Truncate(day)
	sc.to = s.At.AddDate(1, 0, 0).Truncate(day)
}
