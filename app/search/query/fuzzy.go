package query

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"deedkeep/app/search/index"
)

// Limits for correcting typos.
const (
	minFuzzyLetters = 4  // minimum letters; for one less, only a missing letter is tried, and only if the query has other words
	maxFuzzyLetters = 24 // maximum length; longer ones are usually not real words
	maxCorrections  = 12 // maximum number of corrections per word and namespace, most frequent first

	maxFuzzyLookups = 4_000 // after this many lookups in a query, no further words are corrected
)

// mayBeMisspelled reports whether to look for corrections of a word: it has a suitable length and
// is not a number.
func mayBeMisspelled(w string, singleWord bool) bool {
	n := utf8.RuneCountInString(w)
	return (n >= minFuzzyLetters || n == minFuzzyLetters-1 && !singleWord) && n <= maxFuzzyLetters && !isDigits(w)
}

// singleEdits returns the words that are one insertion, deletion, replacement, or transposition
// away from w, without duplicates, in no particular order. The inserted letters are the English
// ones and those of w. For a word of three letters, only insertions are returned.
func singleEdits(w string) []string {
	letters := []rune("abcdefghijklmnopqrstuvwxyz")
	word := []rune(w)
	for _, r := range word {
		if !slices.Contains(letters, r) {
			letters = append(letters, r)
		}
	}
	seen := map[string]bool{w: true}
	var found []string
	add := func(head []rune, middle string, tail []rune) {
		s := string(head) + middle + string(tail)
		if !seen[s] && len(s) <= maxWordBytes {
			seen[s] = true
			found = append(found, s)
		}
	}
	for i := range len(word) + 1 {
		for _, r := range letters {
			add(word[:i], string(r), word[i:])
			if i < len(word) && len(word) >= minFuzzyLetters {
				add(word[:i], string(r), word[i+1:])
			}
		}
		if len(word) < minFuzzyLetters {
			continue
		}
		if i < len(word) {
			add(word[:i], "", word[i+1:])
		}
		if i+1 < len(word) {
			add(word[:i], string(word[i+1])+string(word[i]), word[i+2:])
		}
	}
	return found
}

// suspect is a word that may have a typo.
type suspect struct {
	word string
	open bool
}

// lookUpCorrections looks up the words that the user may have meant. It starts with the typed words
// that are in the fewest documents.
func (b *builder) lookUpCorrections(q parsedQuery) {
	var suspects []suspect
	var terms []string
	for _, g := range q.groups {
		for _, c := range g.clauses {
			for i, p := range c.parts {
				if !c.quoted && !c.isNumber() && mayBeMisspelled(p, b.singleWord) {
					suspects = append(suspects, suspect{word: p, open: c.open && i == len(c.parts)-1})
					terms = append(terms, term(nsFieldWord, p), term(nsTextWord, p))
				}
			}
		}
	}
	freqs := b.docFreqs(terms)
	wordFreq := func(w string) int { return freqs[term(nsFieldWord, w)] + freqs[term(nsTextWord, w)] }
	slices.SortStableFunc(suspects, func(s, t suspect) int {
		return cmp.Compare(wordFreq(s.word), wordFreq(t.word))
	})
	lookups := 0
	for _, s := range suspects {
		occurs := wordFreq(s.word) > 0
		if utf8.RuneCountInString(s.word) <= minFuzzyLetters && s.open && b.hasHits {
			continue // earlier stages have already found the words with this prefix
		}
		s.open = s.open && !occurs
		if lookups < maxFuzzyLookups {
			lookups += b.correct(s)
		}
	}
}

// correct looks up the corrections of a word and, if it is open, of the prefix. It returns the
// number of terms looked up.
func (b *builder) correct(s suspect) int {
	if _, known := b.corrections[s.word]; known || b.err != nil {
		return 0
	}
	namespaces := []byte{nsFieldWord, nsTextWord}
	if s.open {
		namespaces = append(namespaces, nsWordPrefix)
	}
	edits := singleEdits(s.word)
	candidates := make([]string, 0, len(edits)*len(namespaces))
	for _, ns := range namespaces {
		for _, n := range edits {
			if ns != nsWordPrefix || utf8.RuneCountInString(n) <= longPrefixes.max {
				candidates = append(candidates, term(ns, n))
			}
		}
	}
	freqs := b.docFreqs(candidates)
	var found []string
	for _, ns := range namespaces {
		found = append(found, topTerms(freqs, ns, maxCorrections)...)
	}
	b.corrections[s.word] = found
	b.wider = b.wider || len(found) > 0
	return len(candidates)
}

// topTerms returns up to limit terms of a namespace, most frequent first.
func topTerms(freqs map[string]int, ns byte, limit int) []string {
	var found []string
	for t := range freqs {
		if t[0] == ns {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(s, t string) int { return cmp.Or(cmp.Compare(freqs[t], freqs[s]), cmp.Compare(s, t)) })
	return found[:min(len(found), limit)]
}

// misspelled returns the nodes for a clause in which any word may have a typo.
func (b *builder) misspelled(c clause) []index.Node {
	var words index.All
	anyFound := false
	for i, p := range c.parts {
		nodes := index.Any{}
		for _, t := range b.corrections[p] {
			anyFound = true
			weight := map[byte]float64{nsFieldWord: weightField, nsWordPrefix: weightNamePrefix, nsTextWord: weightText}[t[0]]
			nodes = append(nodes, index.Term{Text: t, Weight: weight * factorFuzzy, ConstantScore: t[0] != nsTextWord})
		}
		if len(c.parts) > 1 {
			nodes = append(nodes, b.word(p)...)
			if c.open && i == len(c.parts)-1 {
				nodes = append(nodes, b.wordPrefix(p)...)
			}
		}
		words = append(words, nodes)
	}
	if !anyFound {
		return nil
	}
	if len(words) == 1 {
		return words[0].(index.Any)
	}
	return []index.Node{words}
}
