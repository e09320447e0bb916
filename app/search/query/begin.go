package query

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"deedkeep/app/search/index"
)

// Bounds of a beginning where nothing else is looked for.
const (
	leastAlone = 4       // characters of one of a word of the text: shorter ones are in most documents
	mostAlone  = 500_000 // records of a shorter one: those of names, and of words of fields with them
)

// opening is a clause whose last part is a beginning.
func (b *builder) opening(c clause) []index.Node {
	head, last := c.parts[:len(c.parts)-1], c.parts[len(c.parts)-1]
	if len(head) == 0 {
		return b.wordStart(last)
	}
	either, all := b.begunPhrases(c.parts)
	if c.isNumber() || areSingle(head) {
		return either
	}
	if b.stage >= loose && isLetter(last) {
		b.wider = b.wider || b.stage == loose
		return append(either, phrases(head, worthField)...)
	}
	if all || c.quoted && b.stage < loose {
		return either
	}
	b.wider = b.wider || c.quoted && b.stage == loose
	begun := index.Any(append(b.word(last), b.wordStart(last)...))
	for _, n := range phrases(head, worthField) {
		either = append(either, index.All{n, begun})
	}
	return either
}

// begunPhrases are the phrases with the words that the last one may be about to be,
// those that most documents have; all says that there are no others.
func (b *builder) begunPhrases(parts []string) (either []index.Node, all bool) {
	last, most := parts[len(parts)-1], min(mostBegun, max(mostBegunParts/len(parts), 1))
	inFields, allFields := b.commonest(term(fieldWord, last), most)
	inText, allText := b.commonest(term(textWord, last), most)
	begun := slices.Clone(parts)
	for _, t := range inFields {
		begun[len(begun)-1] = t[1:]
		either = append(either, fieldPhrase(begun, worthStart*float64(len(begun))))
	}
	for _, t := range inText {
		begun[len(begun)-1] = t[1:]
		either = append(either, index.Phrase{Terms: terms(textWord, begun), Weight: worthText})
	}
	return either, allFields && allText
}

// commonest are those terms that begin so which most documents have; all says that
// there are no others. Only the first in their order are looked at.
func (b *builder) commonest(prefix string, most int) (found []string, all bool) {
	walked := b.walk(prefix, mostWalked)
	if len(walked) <= most || b.err != nil {
		return walked, true
	}
	known, err := b.terms.Known(b.ctx, walked)
	if err != nil {
		b.err = err
		return nil, false
	}
	found = slices.SortedFunc(slices.Values(walked), func(s, t string) int {
		return cmp.Or(cmp.Compare(known[t], known[s]), cmp.Compare(s, t))
	})
	return found[:most], false
}

// wordStart is words that begin so.
func (b *builder) wordStart(w string) []index.Node {
	var either []index.Node
	s, all := start(w)
	if s != "" && all && fits(s) {
		either = append(either, flat(wordStart, s, worthStart))
	} else if s != "" {
		either = append(either, b.longer(fieldWord, w, wordStart, s, worthStart)...)
	}
	switch n := utf8.RuneCountInString(w); {
	case !fewStarts.enough(n, w):
	case b.alone && n < leastAlone:
		either = append(either, b.fieldStarts(w)...)
	case n <= fewStarts.most && fits(w):
		either = append(either, flat(otherStart, w, worthOtherStart))
	default:
		for _, t := range slices.Concat(b.beginWith(term(fieldWord, w)), b.beginWith(term(textWord, w))) {
			either = append(either, index.Term{Text: t, Weight: worthOtherStart, Flat: true})
		}
	}
	return either
}

// fieldStarts is the words of fields that begin so, those that most records have, as far
// as these are not too many: no beginnings are in the index that are of fields alone.
func (b *builder) fieldStarts(w string) (either []index.Node) {
	if isDigits(w) || b.err != nil {
		return nil
	}
	names := term(wordStart, w)
	known, err := b.terms.Known(b.ctx, []string{names})
	left := mostAlone - known[names]
	if err == nil && left > 0 {
		known, err = b.terms.Known(b.ctx, b.walk(term(fieldWord, w), mostWalked))
	}
	if err != nil && b.err == nil {
		b.err = err
	}
	if b.err != nil || left <= 0 {
		return nil
	}
	for _, t := range most(known, fieldWord, mostStarts) {
		if left -= known[t]; left < 0 {
			break
		}
		either = append(either, index.Term{Text: t, Weight: worthOtherStart, Flat: true})
	}
	return either
}

// beginning is numbers that begin so, best with the same punctuation; they are written in
// words of which each could be one of a field.
func (b *builder) beginning(c called, words int) []index.Node {
	worth := float64(worthBeginning)
	if b.alone && len(c.squeezed) <= fewDigits && isDigits(c.squeezed) {
		worth = worthFewDigits
	}
	either := b.begins(number, c.squeezed, worth*float64(words))
	if c.referred == nil && c.typed != c.squeezed {
		either = append(either, b.begins(asTyped, c.typed, worthTypedStart*float64(words))...)
	}
	return either
}

// begins is numbers of which a spelling begins so.
func (b *builder) begins(space byte, word string, worth float64) []index.Node {
	s, all := start(word)
	switch {
	case s == "":
		return nil
	case all && fits(s):
		return []index.Node{flat(numberStart, s, worth)}
	}
	return b.longer(space, word, numberStart, s, worth)
}

// longer is what begins with more characters than beginnings have: the terms that do,
// where they are few, else besides all that begin with its first twelve.
func (b *builder) longer(space byte, long string, startSpace byte, short string, worth float64) []index.Node {
	var either []index.Node
	found := b.beginWith(term(space, cut(long, mostWord)))
	for _, t := range found {
		either = append(either, index.Term{Text: t, Weight: worth, Flat: true})
	}
	if len(found) == mostStarts && fits(short) {
		either = append(either, flat(startSpace, short, worth/2))
	}
	return either
}

// beginWith is at most 64 terms that begin so.
func (b *builder) beginWith(prefix string) []string {
	found := b.walk(prefix, mostStarts)
	return found[:min(len(found), mostStarts)]
}

// walkNames is a few words of fields that begin so.
func (b *builder) walkNames(w string) []string {
	const most = 8
	found := b.walk(term(fieldWord, w), most)
	return found[:min(len(found), most)]
}

// walk is at least the first so many terms that begin so, where there are as many.
func (b *builder) walk(prefix string, limit int) []string {
	if found, known := b.begun[prefix]; known && (found.all || len(found.terms) >= limit) || b.err != nil {
		return found.terms
	}
	found, err := b.terms.Terms(b.ctx, prefix, limit)
	if err != nil {
		b.err = err
		return nil
	}
	b.begun[prefix] = begun{terms: found, all: len(found) < limit}
	return found
}

// begun is the first terms that begin so, or all.
type begun struct {
	terms []string
	all   bool
}
