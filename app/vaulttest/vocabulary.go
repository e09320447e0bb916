package vaulttest

import (
	"math"
	"math/rand/v2"
	"strings"
)

// Vocabulary contains 50,000 words with frequencies that follow Zipf's law, as in natural text: the frequency of word n
// is proportional to 1/n.
type Vocabulary struct {
	words   []string
	samples []uint16 // ranks, each repeated according to its frequency
}

const (
	vocabularySize    = 50_000
	vocabularySamples = 1 << 22 // the rarest word has seven samples
)

// vocabularyCommon are the most common words of deeds, mortgages, and affidavits.
const vocabularyCommon = `the of and to said in or a by for as said be party county that
 state which with grantor grantee deed book page recorded records lot this land from
 feet north south east west thence on at it is will his her heirs assigns forever
 mortgage dated office clerk court hereby property premises easement line corner road
 street street's plat subdivision block section township range quarter acres more less
 beginning point iron pin set found degrees minutes seconds along right way center
 parcel tract known described follows conveyed estate interest title unto second first
 part consideration dollars receipt whereof acknowledged witness hand seal day year
 notary public commission expires before me personally appeared signed sealed delivered
 presence executor probate will trustee note sum default sale judgment lien release
 satisfied tax map assessed paid due policy commitment exception abstract search`

var vocabularySyllables = strings.Fields(`ba be bi bo bu da de di do du fa fe fi fo fu ga ge go gu ha he hi ho ja jo ka ke
 ki ko la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po pu ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo za zo`)

// NewVocabulary returns the vocabulary, which is always the same.
func NewVocabulary() *Vocabulary {
	v := &Vocabulary{samples: make([]uint16, 0, vocabularySamples)}
	known := map[string]bool{} // starts with all names, so that no word is also a name
	for n := range MixNames {
		known[strings.ToLower(MixFirstName(n))], known[strings.ToLower(MixLastName(n))] = true, true
	}
	for n := range MixCounties {
		known[strings.ToLower(MixCounty(n))] = true
	}
	add := func(word string) {
		if !known[word] && len(v.words) < vocabularySize {
			known[word] = true
			v.words = append(v.words, word)
		}
	}
	for _, word := range strings.Fields(strings.ReplaceAll(vocabularyCommon, "'", "")) {
		add(word)
	}
	rng := rand.New(rand.NewPCG(3, 5))
	for len(v.words) < vocabularySize {
		var word strings.Builder
		for range 2 + rng.IntN(3) {
			word.WriteString(vocabularySyllables[rng.IntN(len(vocabularySyllables))])
		}
		add(word.String() + []string{"", "n", "r", "s", "ble", "ght"}[rng.IntN(6)])
	}
	total := math.Log(vocabularySize) + 0.5772
	for rank := 0; len(v.samples) < vocabularySamples; rank = (rank + 1) % vocabularySize {
		share := max(1, int(vocabularySamples/(float64(rank+1)*total)))
		for range min(share, vocabularySamples-len(v.samples)) {
			v.samples = append(v.samples, uint16(rank)) // below 50,000
		}
	}
	return v
}

// Word returns the word with the given rank. Rank 0 is the most common word.
func (v *Vocabulary) Word(rank int) string { return v.words[rank] }

// Size returns the number of words.
func (v *Vocabulary) Size() int { return len(v.words) }

// TextWords is the number of words in a document, and TextPages the number of its pages.
const (
	TextWords = 1000
	TextPages = 3
)

// Ranks returns the ranks of the words in document n, in sequence. It reuses buf.
func (v *Vocabulary) Ranks(n int, buf []uint16) []uint16 {
	rng, buf := rand.NewPCG(uint64(n), 17), buf[:0] // not negative
	for range TextWords {
		buf = append(buf, v.samples[rng.Uint64()%vocabularySamples])
	}
	return buf
}

// PageOf returns the page number (from 1) of the word at the given position in the text.
func PageOf(position int) int { return 1 + position*TextPages/TextWords }

// Pages returns the text of each page of document n, split into sentences and lines.
func (v *Vocabulary) Pages(n int) []string {
	pages := make([]strings.Builder, TextPages)
	start, column := true, 0
	for place, rank := range v.Ranks(n, nil) {
		page := &pages[PageOf(place)-1]
		word := v.words[rank]
		if page.Len() == 0 {
			start, column = true, 0
		}
		if start {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		column += len(word) + 2
		switch {
		case page.Len() == 0:
		case column > 84:
			page.WriteByte('\n')
			column = len(word) + 2
		default:
			page.WriteByte(' ')
		}
		page.WriteString(word)
		if start = (place+n)%13 == 12; start {
			page.WriteByte('.')
		} else if (place+n)%7 == 3 {
			page.WriteByte(',')
		}
	}
	list := make([]string, TextPages)
	for i := range pages {
		list[i] = pages[i].String()
	}
	return list
}
