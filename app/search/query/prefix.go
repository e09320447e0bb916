package query

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"deedkeep/app/search/index"
)

// Limits for a query that consists only of a prefix.
const (
	minPrefixAlone = 4       // minimum length of a prefix to search for in texts; most documents contain the shorter ones
	maxDocsAlone   = 500_000 // maximum number of documents that a shorter prefix may find in names and fields
)

// openClause returns the nodes for a clause whose last part is a prefix.
func (b *builder) openClause(c clause) []index.Node {
	head, last := c.parts[:len(c.parts)-1], c.parts[len(c.parts)-1]
	if len(head) == 0 {
		return b.wordPrefix(last)
	}
	nodes, all := b.completedPhrases(c.parts)
	if c.isNumber() || areSingle(head) {
		return nodes
	}
	if b.stage >= relaxed && isSingleLetter(last) {
		b.wider = b.wider || b.stage == relaxed
		return append(nodes, phrases(head, weightField)...)
	}
	if all || c.quoted && b.stage < relaxed {
		return nodes
	}
	b.wider = b.wider || c.quoted && b.stage == relaxed
	withPrefix := index.Any(append(b.word(last), b.wordPrefix(last)...))
	for _, n := range phrases(head, weightField) {
		nodes = append(nodes, index.All{n, withPrefix})
	}
	return nodes
}

// completedPhrases returns phrases in which the last part is replaced by the most frequent words
// with that prefix. all reports whether these are all words with that prefix.
func (b *builder) completedPhrases(parts []string) (nodes []index.Node, all bool) {
	last, limit := parts[len(parts)-1], min(maxCompletions, max(maxCompletionWords/len(parts), 1))
	fieldTerms, allFields := b.frequentTerms(term(nsFieldWord, last), limit)
	textTerms, allText := b.frequentTerms(term(nsTextWord, last), limit)
	withPrefix := slices.Clone(parts)
	for _, t := range fieldTerms {
		withPrefix[len(withPrefix)-1] = t[1:]
		nodes = append(nodes, fieldPhrase(withPrefix, weightNamePrefix*float64(len(withPrefix))))
	}
	for _, t := range textTerms {
		withPrefix[len(withPrefix)-1] = t[1:]
		nodes = append(nodes, index.Phrase{Terms: termsOf(nsTextWord, withPrefix), Weight: weightText})
	}
	return nodes, allFields && allText
}

// frequentTerms returns up to limit terms with the prefix, most frequent first. It considers only
// the first maxExpansion terms. all reports whether it returns every term with the prefix.
func (b *builder) frequentTerms(prefix string, limit int) (found []string, all bool) {
	expanded := b.expandPrefix(prefix, maxExpansion)
	if len(expanded) <= limit || b.err != nil {
		return expanded, true
	}
	freqs, err := b.terms.DocFreqs(b.ctx, expanded)
	if err != nil {
		b.err = err
		return nil, false
	}
	found = slices.SortedFunc(slices.Values(expanded), func(s, t string) int {
		return cmp.Or(cmp.Compare(freqs[t], freqs[s]), cmp.Compare(s, t))
	})
	return found[:limit], false
}

// wordPrefix returns the nodes for words with the prefix.
func (b *builder) wordPrefix(w string) []index.Node {
	var nodes []index.Node
	s, all := indexedPrefix(w)
	if s != "" && all && fitsTerm(s) {
		nodes = append(nodes, constantTerm(nsWordPrefix, s, weightNamePrefix))
	} else if s != "" {
		nodes = append(nodes, b.longPrefix(nsFieldWord, w, nsWordPrefix, s, weightNamePrefix)...)
	}
	switch n := utf8.RuneCountInString(w); {
	case !fieldPrefixes.allows(n, w):
	case b.singleWord && n < minPrefixAlone:
		nodes = append(nodes, b.fieldWordsWithPrefix(w)...)
	case n <= fieldPrefixes.max && fitsTerm(w):
		nodes = append(nodes, constantTerm(nsOtherPrefix, w, weightOtherPrefix))
	default:
		for _, t := range slices.Concat(b.termsWithPrefix(term(nsFieldWord, w)), b.termsWithPrefix(term(nsTextWord, w))) {
			nodes = append(nodes, index.Term{Text: t, Weight: weightOtherPrefix, ConstantScore: true})
		}
	}
	return nodes
}

// fieldWordsWithPrefix returns nodes for the most frequent words of Fields with the prefix, until
// the total exceeds maxDocsAlone documents. Words are looked up because the index does not have
// separate prefixes for Fields.
func (b *builder) fieldWordsWithPrefix(w string) (nodes []index.Node) {
	if isDigits(w) || b.err != nil {
		return nil
	}
	names := term(nsWordPrefix, w)
	freqs, err := b.terms.DocFreqs(b.ctx, []string{names})
	remaining := maxDocsAlone - freqs[names]
	if err == nil && remaining > 0 {
		freqs, err = b.terms.DocFreqs(b.ctx, b.expandPrefix(term(nsFieldWord, w), maxExpansion))
	}
	if err != nil && b.err == nil {
		b.err = err
	}
	if b.err != nil || remaining <= 0 {
		return nil
	}
	for _, t := range topTerms(freqs, nsFieldWord, maxPrefixTerms) {
		if remaining -= freqs[t]; remaining < 0 {
			break
		}
		nodes = append(nodes, index.Term{Text: t, Weight: weightOtherPrefix, ConstantScore: true})
	}
	return nodes
}

// numberPrefix returns the nodes for numbers with the prefix. The same punctuation scores higher.
// The weight is multiplied by the number of typed words because each of them could match a field
// instead.
func (b *builder) numberPrefix(c numberForms, words int) []index.Node {
	weight := float64(weightNumberPrefix)
	if b.singleWord && len(c.compact) <= maxShortDigits && isDigits(c.compact) {
		weight = weightShortNumberPrefix
	}
	nodes := b.numberFormPrefix(nsNumber, c.compact, weight*float64(words))
	if c.references == nil && c.typed != c.compact {
		nodes = append(nodes, b.numberFormPrefix(nsTypedNumber, c.typed, weightTypedPrefix*float64(words))...)
	}
	return nodes
}

// numberFormPrefix returns the nodes for numbers of which one spelling has the prefix.
func (b *builder) numberFormPrefix(ns byte, word string, weight float64) []index.Node {
	s, all := indexedPrefix(word)
	switch {
	case s == "":
		return nil
	case all && fitsTerm(s):
		return []index.Node{constantTerm(nsNumberPrefix, s, weight)}
	}
	return b.longPrefix(ns, word, nsNumberPrefix, s, weight)
}

// longPrefix returns the nodes for a prefix that is longer than those in the index. They match the
// terms with that prefix. If there are too many, they also match everything with the same first
// twelve characters, at half the weight.
func (b *builder) longPrefix(ns byte, prefix string, prefixNS byte, indexed string, weight float64) []index.Node {
	var nodes []index.Node
	found := b.termsWithPrefix(term(ns, truncate(prefix, maxWordBytes)))
	for _, t := range found {
		nodes = append(nodes, index.Term{Text: t, Weight: weight, ConstantScore: true})
	}
	if len(found) == maxPrefixTerms && fitsTerm(indexed) {
		nodes = append(nodes, constantTerm(prefixNS, indexed, weight/2))
	}
	return nodes
}

// termsWithPrefix returns up to maxPrefixTerms terms with the prefix.
func (b *builder) termsWithPrefix(prefix string) []string {
	found := b.expandPrefix(prefix, maxPrefixTerms)
	return found[:min(len(found), maxPrefixTerms)]
}

// nameTermsWithPrefix returns the first few words of fields with the prefix.
func (b *builder) nameTermsWithPrefix(w string) []string {
	const limit = 8
	found := b.expandPrefix(term(nsFieldWord, w), limit)
	return found[:min(len(found), limit)]
}

// expandPrefix returns the first terms with the prefix: at least limit terms, or all of them if
// there are fewer.
func (b *builder) expandPrefix(prefix string, limit int) []string {
	if found, known := b.expansions[prefix]; known && (found.complete || len(found.terms) >= limit) || b.err != nil {
		return found.terms
	}
	found, err := b.terms.Terms(b.ctx, prefix, limit)
	if err != nil {
		b.err = err
		return nil
	}
	b.expansions[prefix] = expansion{terms: found, complete: len(found) < limit}
	return found
}

// expansion caches the first terms with a prefix. If complete is set, these are all of them.
type expansion struct {
	terms    []string
	complete bool
}
