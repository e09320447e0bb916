package query

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"deedkeep/app/search/index"
)

// Bounds of a beginning where nothing else is looked for.
const (
	minPrefixAlone = 4       // characters of one of a word of the text: shorter ones are in most documents
	maxDocsAlone   = 500_000 // records of a shorter one: those of names, and of words of fields with them
)

// openClause is a clause whose last part is a beginning.
func (b *builder) openClause(c clause) []index.Node {
	head, last := c.parts[:len(c.parts)-1], c.parts[len(c.parts)-1]
	if len(head) == 0 {
		return b.wordPrefix(last)
	}
	either, all := b.completedPhrases(c.parts)
	if c.isNumber() || areSingle(head) {
		return either
	}
	if b.stage >= relaxed && isSingleLetter(last) {
		b.wider = b.wider || b.stage == relaxed
		return append(either, phrases(head, weightField)...)
	}
	if all || c.quoted && b.stage < relaxed {
		return either
	}
	b.wider = b.wider || c.quoted && b.stage == relaxed
	begun := index.Any(append(b.word(last), b.wordPrefix(last)...))
	for _, n := range phrases(head, weightField) {
		either = append(either, index.All{n, begun})
	}
	return either
}

// completedPhrases are the phrases with the words that the last one may be about to be,
// those that most documents have; all says that there are no others.
func (b *builder) completedPhrases(parts []string) (either []index.Node, all bool) {
	last, most := parts[len(parts)-1], min(maxCompletions, max(maxCompletionWords/len(parts), 1))
	inFields, allFields := b.mostFrequent(term(nsFieldWord, last), most)
	inText, allText := b.mostFrequent(term(nsTextWord, last), most)
	begun := slices.Clone(parts)
	for _, t := range inFields {
		begun[len(begun)-1] = t[1:]
		either = append(either, fieldPhrase(begun, weightNamePrefix*float64(len(begun))))
	}
	for _, t := range inText {
		begun[len(begun)-1] = t[1:]
		either = append(either, index.Phrase{Terms: termsOf(nsTextWord, begun), Weight: weightText})
	}
	return either, allFields && allText
}

// mostFrequent are those terms that begin so which most documents have; all says that
// there are no others. Only the first in their order are looked at.
func (b *builder) mostFrequent(prefix string, most int) (found []string, all bool) {
	walked := b.expandPrefix(prefix, maxExpansion)
	if len(walked) <= most || b.err != nil {
		return walked, true
	}
	known, err := b.terms.DocFreqs(b.ctx, walked)
	if err != nil {
		b.err = err
		return nil, false
	}
	found = slices.SortedFunc(slices.Values(walked), func(s, t string) int {
		return cmp.Or(cmp.Compare(known[t], known[s]), cmp.Compare(s, t))
	})
	return found[:most], false
}

// nsWordPrefix is words that begin so.
func (b *builder) wordPrefix(w string) []index.Node {
	var either []index.Node
	s, all := indexedPrefix(w)
	if s != "" && all && fitsTerm(s) {
		either = append(either, constantTerm(nsWordPrefix, s, weightNamePrefix))
	} else if s != "" {
		either = append(either, b.longPrefix(nsFieldWord, w, nsWordPrefix, s, weightNamePrefix)...)
	}
	switch n := utf8.RuneCountInString(w); {
	case !fieldPrefixes.allows(n, w):
	case b.singleWord && n < minPrefixAlone:
		either = append(either, b.fieldWordsWithPrefix(w)...)
	case n <= fieldPrefixes.max && fitsTerm(w):
		either = append(either, constantTerm(nsOtherPrefix, w, weightOtherPrefix))
	default:
		for _, t := range slices.Concat(b.termsWithPrefix(term(nsFieldWord, w)), b.termsWithPrefix(term(nsTextWord, w))) {
			either = append(either, index.Term{Text: t, Weight: weightOtherPrefix, ConstantScore: true})
		}
	}
	return either
}

// fieldWordsWithPrefix is the words of fields that begin so, those that most records have, as far
// as these are not too many: no beginnings are in the index that are of fields alone.
func (b *builder) fieldWordsWithPrefix(w string) (either []index.Node) {
	if isDigits(w) || b.err != nil {
		return nil
	}
	names := term(nsWordPrefix, w)
	known, err := b.terms.DocFreqs(b.ctx, []string{names})
	left := maxDocsAlone - known[names]
	if err == nil && left > 0 {
		known, err = b.terms.DocFreqs(b.ctx, b.expandPrefix(term(nsFieldWord, w), maxExpansion))
	}
	if err != nil && b.err == nil {
		b.err = err
	}
	if b.err != nil || left <= 0 {
		return nil
	}
	for _, t := range mostFrequentTerms(known, nsFieldWord, maxPrefixTerms) {
		if left -= known[t]; left < 0 {
			break
		}
		either = append(either, index.Term{Text: t, Weight: weightOtherPrefix, ConstantScore: true})
	}
	return either
}

// numberPrefix is numbers that begin so, best with the same punctuation; they are written in
// words of which each could be one of a field.
func (b *builder) numberPrefix(c numberForms, words int) []index.Node {
	worth := float64(weightNumberPrefix)
	if b.singleWord && len(c.compact) <= maxShortDigits && isDigits(c.compact) {
		worth = weightShortNumberPrefix
	}
	either := b.numberFormPrefix(nsNumber, c.compact, worth*float64(words))
	if c.references == nil && c.typed != c.compact {
		either = append(either, b.numberFormPrefix(nsTypedNumber, c.typed, weightTypedPrefix*float64(words))...)
	}
	return either
}

// numberFormPrefix is numbers of which a spelling begins so.
func (b *builder) numberFormPrefix(space byte, word string, worth float64) []index.Node {
	s, all := indexedPrefix(word)
	switch {
	case s == "":
		return nil
	case all && fitsTerm(s):
		return []index.Node{constantTerm(nsNumberPrefix, s, worth)}
	}
	return b.longPrefix(space, word, nsNumberPrefix, s, worth)
}

// longPrefix is what begins with more characters than beginnings have: the terms that do,
// where they are few, else besides all that begin with its first twelve.
func (b *builder) longPrefix(space byte, long string, startSpace byte, short string, worth float64) []index.Node {
	var either []index.Node
	found := b.termsWithPrefix(term(space, truncate(long, maxWordBytes)))
	for _, t := range found {
		either = append(either, index.Term{Text: t, Weight: worth, ConstantScore: true})
	}
	if len(found) == maxPrefixTerms && fitsTerm(short) {
		either = append(either, constantTerm(startSpace, short, worth/2))
	}
	return either
}

// termsWithPrefix is at most 64 terms that begin so.
func (b *builder) termsWithPrefix(prefix string) []string {
	found := b.expandPrefix(prefix, maxPrefixTerms)
	return found[:min(len(found), maxPrefixTerms)]
}

// nameTermsWithPrefix is a few words of fields that begin so.
func (b *builder) nameTermsWithPrefix(w string) []string {
	const most = 8
	found := b.expandPrefix(term(nsFieldWord, w), most)
	return found[:min(len(found), most)]
}

// expandPrefix is at least the first so many terms that begin so, where there are as many.
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

// expansion is the first terms that begin so, or all.
type expansion struct {
	terms    []string
	complete bool
}
