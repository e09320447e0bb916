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
	make func(o *oracle, chance *rand.Rand) (asked, record)
}

// Between these ranks words are called common, and rare.
const (
	commonest = 50
	rare      = 30_000
)

var scaleClasses = []scaleClass{
	{"exact number", func(o *oracle, chance *rand.Rand) (asked, record) {
		r, number := o.number(chance)
		if chance.IntN(3) == 0 {
			return asked{text: squeezed(number), words: []string{squeezed(number)}, first: number}, r
		}
		return asked{text: number, words: []string{squeezed(number)}, first: number}, r
	}},
	{"number, 2 characters", beginning(2)},
	{"number, 3 characters", beginning(3)},
	{"number, 6 characters", beginning(6)},
	{"rare word", func(o *oracle, chance *rand.Rand) (asked, record) {
		return o.worded(chance, rare, vaulttest.TextWords*50)
	}},
	{"one of the 50 commonest", func(o *oracle, chance *rand.Rand) (asked, record) { return o.worded(chance, 0, commonest) }},
	{"two words", func(o *oracle, chance *rand.Rand) (asked, record) {
		return o.worded(chance, commonest, 1000, 1000, rare)
	}},
	{"two of the 50 commonest", func(o *oracle, chance *rand.Rand) (asked, record) {
		return o.worded(chance, 0, commonest/2, commonest/2, commonest)
	}},
	{"first and last name", func(o *oracle, chance *rand.Rand) (asked, record) {
		r := record{"abstract", chance.IntN(o.Orders)}
		owner := o.said(r).Owner
		return asked{text: owner, words: wordsOf(owner)}, r
	}},
	{"phrase of common words", func(o *oracle, chance *rand.Rand) (asked, record) {
		for {
			r := o.document(chance)
			ranks := o.text(r)
			for at := chance.IntN(len(ranks) / 2); at+3 <= len(ranks); at++ {
				said := ranks[at : at+3]
				if slices.Max(said) < commonest && vaulttest.PageOf(at) == vaulttest.PageOf(at+2) {
					words := []string{o.words.Word(int(said[0])), o.words.Word(int(said[1])), o.words.Word(int(said[2]))}
					return asked{text: `"` + strings.Join(words, " ") + `"`, words: words, phrase: true}, r
				}
			}
		}
	}},
	{"one typing error", func(o *oracle, chance *rand.Rand) (asked, record) {
		for {
			r := record{"abstract", chance.IntN(o.Orders)}
			owner := wordsOf(o.said(r).Owner)
			if typed := mistyped(owner[1], chance); len(typed) >= 4 && !o.called(typed) {
				return asked{text: typed, words: []string{typed}}, r
			}
		}
	}},
}

// beginning asks for what a number begins with.
func beginning(length int) func(o *oracle, chance *rand.Rand) (asked, record) {
	return func(o *oracle, chance *rand.Rand) (asked, record) {
		r, number := o.number(chance)
		begun := squeezed(number)[:length]
		return asked{text: begun, words: []string{begun}}, r
	}
}

// number is a file number, an order number or a parcel, and whose it is.
func (o *oracle) number(chance *rand.Rand) (record, string) {
	r := record{[]string{"abstract", "order"}[chance.IntN(2)], chance.IntN(o.Orders)}
	s := o.said(r)
	return r, []string{s.Number, s.Number, s.Parcel}[chance.IntN(3)]
}

// document is a file with a text, on an abstract.
func (o *oracle) document(chance *rand.Rand) record {
	for {
		if k := o.FileOf(chance.IntN(o.Texts)); !o.InFolder(k) {
			return record{"file", k}
		}
	}
}

// worded asks for words that stand in a document, each of ranks from one bound to the next.
func (o *oracle) worded(chance *rand.Rand, bounds ...int) (asked, record) {
	for {
		r := o.document(chance)
		ranks := o.text(r)
		var words []string
		for i := 0; i < len(bounds); i += 2 {
			from := chance.IntN(len(ranks))
			for at := range ranks {
				rank := int(ranks[(from+at)%len(ranks)])
				if word := o.words.Word(rank); rank >= bounds[i] && rank < bounds[i+1] && len(word) > 1 { // one letter is too little
					words = append(words, word)
					break
				}
			}
		}
		if len(words) == len(bounds)/2 && (len(words) < 2 || words[0] != words[1]) {
			return asked{text: strings.Join(words, " "), words: words}, r
		}
	}
}

// mistyped puts a letter in, leaves one out, takes another or swaps two: behind the first.
func mistyped(word string, chance *rand.Rand) string {
	at, other := 1+chance.IntN(len(word)-2), string(rune('a'+chance.IntN(26)))
	switch chance.IntN(4) {
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

// called says whether somebody is called so or begins so, or something is.
func (o *oracle) called(typed string) bool {
	for n := range vaulttest.MixNames {
		if strings.HasPrefix(strings.ToLower(vaulttest.MixFirst(n)), typed) || strings.HasPrefix(strings.ToLower(vaulttest.MixLast(n)), typed) {
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

// scaleSearches makes up so many searches of each class, and as many with filters, which
// the record fits that each was made up of.
func (o *oracle) scaleSearches(each int) (list []*asked) {
	chance := rand.New(rand.NewPCG(5, 6))
	for _, class := range scaleClasses {
		for n := range 2 * each {
			for {
				a, of := class.make(o, chance)
				a.class = class.name
				if n >= each {
					a.filter(o, of)
				}
				if a.fits(o, of) {
					list = append(list, &a)
					break
				}
			}
		}
	}
	return list
}

// filter asks for the county of a record, and about two years.
func (a *asked) filter(o *oracle, of record) {
	s := o.said(of)
	if a.county = s.County; of.kind == "file" {
		a.county = o.Abstract(of.n / vaulttest.FilesPerOrder).County
	}
	a.from = s.At.AddDate(-1, 0, 0).Truncate(day)
	a.to = s.At.AddDate(1, 0, 0).Truncate(day)
}
