package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// corpus generates the records and the searches. Each record depends only on its number.
type corpus struct {
	records, texts int
	known          map[string]bool // all words
}

// record is a document with a number, a name, a county, and sometimes a text.
type record struct {
	id                         uint64
	number, name, county, text string
}

const (
	textWords  = 1000   // words of a text
	vocabulary = 50_000 // different words; the first ones are the most common
	names      = 20_000 // different first and last names
	counties   = 88
	common     = 50 // the most common words
)

func newCorpus(records, texts int) *corpus {
	c := &corpus{records: records, texts: min(texts, records), known: map[string]bool{}}
	for rank := range vocabulary + names {
		c.known[c.word(rank)] = true
	}
	return c
}

// word returns a word of three syllables. Words and names are one in 14 of all that are possible, so a
// typing error usually results in none of them.
func (c *corpus) word(rank int) string {
	const consonants, vowels = "bcdfghjklmnprstvwxyz", "aeiou"
	n, w := rank*7919%1_000_000, make([]byte, 0, 6)
	for range 3 {
		w = append(w, consonants[n%20], vowels[n/20%5])
		n /= 100
	}
	return string(w)
}

func (c *corpus) record(n int) record {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	name := func() string { return c.word(vocabulary + int(float64(names)*r.Float64()*r.Float64())) }
	d := record{
		id: uint64(n) + 1, number: fmt.Sprintf("%d%06d", 2006+n%20, n), name: name() + " " + name(),
		county: fmt.Sprintf("county%d", r.IntN(counties)),
	}
	if c.hasText(n) {
		d.text = strings.Join(c.text(n), " ")
	}
	return d
}

// hasText spreads the texts evenly over the records.
func (c *corpus) hasText(n int) bool { return n*c.texts/c.records != (n+1)*c.texts/c.records }

// text returns the words of a text. Their frequency follows Zipf's law.
func (c *corpus) text(n int) []string {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	zipf := rand.NewZipf(r, 1.1, 4, vocabulary-1)
	words := make([]string, textWords)
	for i := range words {
		words[i] = c.word(int(zipf.Uint64()))
	}
	return words
}

// search is a search for a number, a prefix of a number, words of a text, a phrase, or a name with a
// typing error.
type search struct {
	class  string
	words  []string
	county string // "" for all
}

// Classes of searches.
const (
	exactNumber  = "exact number"
	numberPrefix = "prefix of a number"
	rareWord     = "rare word"
	commonWord   = "one of the 50 most common words"
	inCounty     = "the same in one county"
	twoWords     = "two common words"
	phrase       = "phrase of common words"
	rarePhrase   = "phrase of other words"
	typingError  = "name with a typing error"
)

// makers make a search of each class from a random record.
var makers = []struct {
	class string
	make  func(c *corpus, r *rand.Rand, n int) search
}{
	{exactNumber, func(c *corpus, _ *rand.Rand, n int) search { return search{words: []string{c.record(n).number}} }},
	{numberPrefix, func(c *corpus, _ *rand.Rand, n int) search { return search{words: []string{c.record(n).number[:6]}} }},
	{rareWord, func(c *corpus, r *rand.Rand, _ int) search {
		return search{words: []string{c.word(20_000 + r.IntN(20_000))}}
	}},
	{commonWord, func(c *corpus, r *rand.Rand, _ int) search { return search{words: []string{c.word(r.IntN(common))}} }},
	{inCounty, func(c *corpus, r *rand.Rand, n int) search {
		return search{words: []string{c.word(r.IntN(common))}, county: c.record(n).county}
	}},
	{twoWords, func(c *corpus, r *rand.Rand, _ int) search {
		first := r.IntN(common)
		return search{words: []string{c.word(first), c.word(first + 1)}}
	}},
	{phrase, func(c *corpus, r *rand.Rand, n int) search { return search{words: c.phrase(r, n, 0, common)} }},
	{rarePhrase, func(c *corpus, r *rand.Rand, n int) search { return search{words: c.phrase(r, n, common, 10_000)} }},
	{typingError, func(c *corpus, r *rand.Rand, n int) search { return search{words: []string{c.mistyped(r, n)}} }},
}

func classNames() (names []string) {
	for _, m := range makers {
		names = append(names, m.class)
	}
	return names
}

// searches returns the given number of searches of each class.
func (c *corpus) searches(each int) (list []search) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, m := range makers {
		for range each {
			s := m.make(c, r, r.IntN(c.records))
			s.class = m.class
			list = append(list, s)
		}
	}
	return list
}

// phrase returns three consecutive words of a text whose ranks are between from and to.
func (c *corpus) phrase(r *rand.Rand, n, from, to int) []string {
	allowed := map[string]bool{}
	for rank := from; rank < to; rank++ {
		allowed[c.word(rank)] = true
	}
	for ; ; n = (n + 1) % c.records {
		if !c.hasText(n) {
			continue
		}
		for words := c.text(n)[r.IntN(textWords/2):]; len(words) >= 3; words = words[1:] {
			if !slices.ContainsFunc(words[:3], func(w string) bool { return !allowed[w] }) {
				return words[:3]
			}
		}
	}
}

// mistyped returns a last name with one wrong letter.
func (c *corpus) mistyped(r *rand.Rand, n int) string {
	for ; ; n = (n + 1) % c.records {
		_, last, _ := strings.Cut(c.record(n).name, " ")
		at := 1 + r.IntN(len(last)-2)
		if typed := last[:at] + string(rune('a'+r.IntN(26))) + last[at+1:]; !c.known[typed] {
			return typed
		}
	}
}
