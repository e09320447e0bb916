package query

import (
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
	expanded := b.firstTerms(prefix, maxExpansion)
	if len(expanded) <= limit {
		return expanded, true
	}
	return topTerms(b.docFreqs(expanded), prefix[0], limit), false
}

// wordPrefix returns the nodes for words with the prefix.
func (b *builder) wordPrefix(w string) []index.Node {
	nodes := b.indexedPrefix(nsFieldWord, w, nsWordPrefix, weightNamePrefix)
	switch n := utf8.RuneCountInString(w); {
	case !fieldPrefixes.allows(n, w):
	case b.singleWord && n < minPrefixAlone:
		nodes = append(nodes, b.fieldWordsWithPrefix(w)...)
	case n <= fieldPrefixes.max && fitsTerm(w):
		nodes = append(nodes, constantTerm(nsOtherPrefix, w, weightOtherPrefix))
	default:
		for _, t := range slices.Concat(b.firstTerms(term(nsFieldWord, w), maxPrefixTerms), b.firstTerms(term(nsTextWord, w), maxPrefixTerms)) {
			nodes = append(nodes, index.Term{Text: t, Weight: weightOtherPrefix, ConstantScore: true})
		}
	}
	return nodes
}

// fieldWordsWithPrefix returns nodes for the most frequent words of Fields with the prefix, until
// the total exceeds maxDocsAlone documents. Words are looked up because the index does not have
// separate prefixes for Fields.
func (b *builder) fieldWordsWithPrefix(w string) (nodes []index.Node) {
	if isDigits(w) {
		return nil
	}
	names := term(nsWordPrefix, w)
	remaining := maxDocsAlone - b.docFreqs([]string{names})[names]
	if remaining <= 0 {
		return nil
	}
	freqs := b.docFreqs(b.firstTerms(term(nsFieldWord, w), maxExpansion))
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
	nodes := b.indexedPrefix(nsNumber, c.compact, nsNumberPrefix, weight*float64(words))
	if c.references == nil && c.typed != c.compact {
		nodes = append(nodes, b.indexedPrefix(nsTypedNumber, c.typed, nsNumberPrefix, weightTypedPrefix*float64(words))...)
	}
	return nodes
}

// indexedPrefix returns the nodes for a prefix of words or numbers. ns is the namespace of the complete
// ones, and prefixNS that of their prefixes. For a prefix that is longer than those in the index, the
// nodes match the terms with that prefix. If there are too many, they also match everything with the
// same first twelve characters, at half the weight.
func (b *builder) indexedPrefix(ns byte, prefix string, prefixNS byte, weight float64) (nodes []index.Node) {
	indexed, all := indexedPrefix(prefix)
	switch {
	case indexed == "":
		return nil
	case all && fitsTerm(indexed):
		return []index.Node{constantTerm(prefixNS, indexed, weight)}
	}
	found := b.firstTerms(term(ns, truncate(prefix, maxWordBytes)), maxPrefixTerms)
	for _, t := range found {
		nodes = append(nodes, index.Term{Text: t, Weight: weight, ConstantScore: true})
	}
	if len(found) == maxPrefixTerms && fitsTerm(indexed) {
		nodes = append(nodes, constantTerm(prefixNS, indexed, weight/2))
	}
	return nodes
}

// firstTerms returns the first terms with the prefix, up to limit.
func (b *builder) firstTerms(prefix string, limit int) []string {
	found, known := b.expansions[prefix]
	if !(known && (found.complete || len(found.terms) >= limit)) && b.err == nil {
		terms, err := b.terms.Terms(b.ctx, prefix, limit)
		found, b.err = expansion{terms: terms, complete: len(terms) < limit}, err
		b.expansions[prefix] = found
	}
	return found.terms[:min(len(found.terms), limit)]
}

// expansion caches the first terms with a prefix. If complete is set, these are all of them.
type expansion struct {
	terms    []string
	complete bool
}
