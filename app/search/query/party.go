package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"deedkeep/app/search/index"
)

// ErrParty means that Query.Party has no words or too many.
var ErrParty = errors.New("the name of a party must have some words, but not too many")

// maxPartyNodes is the maximum number of nodes for Query.Party.
const maxPartyNodes = 256

// addParty adds one of Document.Parties. All words of a party have its number as position, so that
// words of different parties are never together.
func (b *Batch) addParty(number uint32, name string) {
	b.parties.joinNames = true
	b.parties.scan(name, func(t token) {
		b.term = appendTerm(b.term, nsPartyWord, t.text)
		b.sink.AddWord(b.term, number)
	})
}

// partyWord is a word of Query.Party, or several of its words joined into one.
type partyWord struct {
	text string
	end  int // index of the next word
}

// partyNode returns the node for instruments with a party whose name contains all words of text. A
// name can be written as one word or as several, as in any query.
func partyNode(text string, maxWords int) (index.Node, error) {
	spellings := partySpellings(text, maxWords)
	if len(spellings) == 0 {
		return nil, fmt.Errorf("%w: %q", ErrParty, text)
	}
	var alternatives index.Any
	nodes := 1
	for _, words := range spellings {
		if nodes += len(words); nodes > maxPartyNodes {
			break
		}
		alternatives = append(alternatives, index.Together(termsOf(nsPartyWord, words)))
	}
	if len(alternatives) == 1 {
		return alternatives[0], nil
	}
	return alternatives, nil
}

// partySpellings returns the words of a party's name, and the same name with some of its words
// joined. It returns nil if there are no words or too many.
func partySpellings(text string, maxWords int) (spellings [][]string) {
	words := partyWords(text)
	if len(words) == 0 || len(words) > maxWords {
		return nil
	}
	var spell func(at int, before []string)
	spell = func(at int, before []string) {
		if at == len(words) {
			spellings = append(spellings, slices.Clone(before))
			return
		}
		for _, w := range words[at] {
			if len(spellings) < maxPartySpellings {
				spell(w.end, append(before, w.text))
			}
		}
	}
	spell(0, nil)
	return spellings
}

// maxPartySpellings is the maximum number of spellings of a party's name.
const maxPartySpellings = 16

// partyWords returns, for each word of a text, the word and the joined words that start with it.
func partyWords(text string) (words [][]partyWord) {
	var ends []int // of each word in the text
	var variants []token
	var joined []string
	a := analyzer{joinNames: true}
	a.scan(strings.ReplaceAll(text, "&", " "), func(t token) { // otherwise, an ampersand is the word and
		if t.variant {
			joined, variants = append(joined, string(t.text)), append(variants, t)
			return
		}
		words, ends = append(words, []partyWord{{string(t.text), len(words) + 1}}), append(ends, t.end)
	})
	for i, v := range variants {
		at := int(v.position)
		end := at
		for end < len(ends) && ends[end] < v.end {
			end++
		}
		// The index contains both spellings of an abbreviation.
		if end < len(ends) && !slices.Contains(abbreviations[words[at][0].text], joined[i]) {
			words[at] = append(words[at], partyWord{joined[i], end + 1})
		}
	}
	return words
}
