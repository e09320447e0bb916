//go:build scale && linux

package cmd

import (
	"math/rand/v2"
	"slices"
	"strings"

	"deedkeep/app/vaulttest"
)

// scaleClass is a kind of search, and how one is made up of a moment of the mix.
type scaleClass struct {
	name string
	make func(o *oracle, rng *rand.Rand) (searchCase, record)
}

// Between these ranks words are called common, and rare.
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
			for at := rng.IntN(len(ranks) / 2); at+3 <= len(ranks); at++ {
				said := ranks[at : at+3]
				if slices.Max(said) < maxCommonRank && vaulttest.PageOf(at) == vaulttest.PageOf(at+2) {
					words := []string{o.words.Word(int(said[0])), o.words.Word(int(said[1])), o.words.Word(int(said[2]))}
					return searchCase{text: `"` + strings.Join(words, " ") + `"`, words: words, phrase: true}, r
				}
			}
		}
	}},
	{"one typing error", func(o *oracle, rng *rand.Rand) (searchCase, record) {
		for {
			r := record{"abstract", rng.IntN(o.Orders)}
			owner := wordsOf(o.mixRecord(r).Owner)
			if typed := withTypo(owner[1], rng); len(typed) >= 4 && !o.isPrefix(typed) {
				return searchCase{text: typed, words: []string{typed}}, r
			}
		}
	}},
}

// numberPrefix asks for what a number begins with.
func numberPrefix(length int) func(o *oracle, rng *rand.Rand) (searchCase, record) {
	return func(o *oracle, rng *rand.Rand) (searchCase, record) {
		r, number := o.number(rng)
		start := compact(number)[:length]
		return searchCase{text: start, words: []string{start}}, r
	}
}

// number is a file number, an order number or a parcel, and whose it is.
func (o *oracle) number(rng *rand.Rand) (record, string) {
	r := record{[]string{"abstract", "order"}[rng.IntN(2)], rng.IntN(o.Orders)}
	s := o.mixRecord(r)
	return r, []string{s.Number, s.Number, s.Parcel}[rng.IntN(3)]
}

// document is a file with a text, on an abstract.
func (o *oracle) document(rng *rand.Rand) record {
	for {
		if k := o.FileWithText(rng.IntN(o.Texts)); !o.InFolder(k) {
			return record{"file", k}
		}
	}
}

// wordSearch asks for words that stand in a document, each of ranks from one bound to the next.
func (o *oracle) wordSearch(rng *rand.Rand, bounds ...int) (searchCase, record) {
	for {
		r := o.document(rng)
		ranks := o.text(r)
		var words []string
		for i := 0; i < len(bounds); i += 2 {
			from := rng.IntN(len(ranks))
			for at := range ranks {
				rank := int(ranks[(from+at)%len(ranks)])
				if word := o.words.Word(rank); rank >= bounds[i] && rank < bounds[i+1] && len(word) > 1 { // one letter is too little
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

// withTypo puts a letter in, leaves one out, takes another or swaps two: behind the first.
func withTypo(word string, rng *rand.Rand) string {
	at, other := 1+rng.IntN(len(word)-2), string(rune('a'+rng.IntN(26)))
	switch rng.IntN(4) {
	case 0:
		return word[:at] + other + word[at:]
	case 1:
		return word[:at] + word[at+1:]
	case 2:
		return word[:at] + other + word[at+1:]
	default:
		return word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:]
	}
}

// isPrefix says whether somebody is called so or begins so, or something is.
func (o *oracle) isPrefix(typed string) bool {
	for n := range vaulttest.MixNames {
		if strings.HasPrefix(strings.ToLower(vaulttest.MixFirstName(n)), typed) || strings.HasPrefix(strings.ToLower(vaulttest.MixLastName(n)), typed) {
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

// makeSearches makes up so many searches of each class, and as many with filters, which
// the record fits that each was made up of.
func (o *oracle) makeSearches(each int) (list []*searchCase) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, class := range scaleClasses {
		for n := range 2 * each {
			for {
				a, of := class.make(o, rng)
				a.class = class.name
				if n >= each {
					a.addFilters(o, of)
				}
				if a.matchesFilters(o, of) {
					list = append(list, &a)
					break
				}
			}
		}
	}
	return list
}

// addFilters asks for the county of a record, and about two years.
func (a *searchCase) addFilters(o *oracle, of record) {
	s := o.mixRecord(of)
	if a.county = s.County; of.kind == "file" {
		a.county = o.Abstract(of.n / vaulttest.FilesPerOrder).County
	}
	a.from = s.At.AddDate(-1, 0, 0).Truncate(day)
	a.to = s.At.AddDate(1, 0, 0).Truncate(day)
}
