package search

import (
	"context"
	"math"
	"slices"
	"unicode/utf8"

	"deedkeep/app/postings"
)

// What a match is worth: a number more than all the fields that a query can have words
// of, a field more than any text. BM25 of a word stays under 34 for as many documents
// as memory could hold; see the ranking in doc.go.
const (
	worthNumber     = 100_000 // all of what was typed is a number
	worthNumberWord = 10_000  // one of several words is
	worthBeginning  = 60      // begins a number; for each word of what was typed
	worthField      = 40      // a word of a field
	worthStart      = 25      // begins a word of a field
	worthText       = 0.5     // times BM25 of a word of the text
	worthOtherStart = 0.1     // begins a word of the text, or of a field that is no name
	worthNear       = 10      // the words stand together in a field
	worthTypo       = 0.5     // of what the word itself is worth
)

// nodes is how many nodes a query of so many words has at most.
func nodes(words int) int { return 1_024 + 32*words }

// Bounds of what a word stands for.
const (
	mostStarts        = 64     // words that begin so
	mostNear          = 8      // words that are looked for together
	mostNearDocuments = 10_000 // that have the rarest of them
	mostBegun         = 16     // words that a phrase may be about to end with
)

// stage is how far a query goes.
type stage uint8

const (
	strict stage = iota // as it is typed
	loose               // the word that is typed just now may be missing
	typos               // and each word may have a typing error
)

// dictionary is what the engine knows about terms.
type dictionary interface {
	Known(ctx context.Context, terms []string) (map[string]int, error)
	Terms(ctx context.Context, prefix string, limit int) ([]string, error)
}

// builder makes nodes of one query.
type builder struct {
	ctx   context.Context
	terms dictionary
	stage stage
	wider bool // the stage allows for more than the one before
	err   error
	begun map[string][]string // terms that begin so
	meant map[string][]string // terms of what a word may have been meant to be
}

func newBuilder(ctx context.Context, d dictionary) *builder {
	return &builder{ctx: ctx, terms: d, begun: make(map[string][]string), meant: make(map[string][]string)}
}

// build makes the node of a stage, and says whether it may match more than that of the
// stage before.
func (b *builder) build(a asked, s stage) (n postings.Node, wider bool, err error) {
	b.stage, b.wider = s, false
	if s == typos {
		b.suggest(a)
	}
	n = b.query(a)
	return n, b.wider, b.err
}

func (b *builder) query(a asked) postings.Node {
	if len(a.groups) == 1 {
		return b.group(a.groups[0], true)
	}
	var must postings.All
	var should []postings.Node
	for i, g := range a.groups {
		n := b.group(g, false)
		if b.maybe(a.groups, i) {
			should = append(should, n)
		} else {
			must = append(must, n)
		}
	}
	if len(must) == 0 {
		must, should = should[:1], should[1:]
	}
	should = append(should, b.near(a)...)
	either := postings.Any{prefer(all(must), should), flat(number, whole(a.number), worthNumber)}
	if last := a.groups[len(a.groups)-1]; last.clauses[len(last.clauses)-1].open {
		either = append(either, b.beginning(a.number, a.words)...)
	}
	return either
}

// maybe says whether a group may be missing: the words before a number that say what
// it is and, behind the hits that have all of it, book and page, and the last word
// where it is so short that what somebody is about to type is not known yet.
func (b *builder) maybe(groups []group, i int) bool {
	word, open := groups[i].word()
	if word == "" {
		return false
	}
	last := i == len(groups)-1
	if !last && isLabel(word) {
		for i++; i < len(groups)-1; i++ {
			if next, _ := groups[i].word(); !isLabel(next) {
				break
			}
		}
		return groups[i].hasDigit()
	}
	if b.stage == strict {
		return false
	}
	if last && open && utf8.RuneCountInString(word) < fewStarts.least || !last && isPlace(word) != noPlace && groups[i+1].hasDigit() {
		b.wider = b.wider || b.stage == loose
		return true
	}
	return false
}

// near are the words of a query standing together, which is worth something. It is
// asked of each document that has them all, so only where those are not too many.
func (b *builder) near(a asked) []postings.Node {
	var words []string
	for _, g := range a.groups {
		for _, c := range g.clauses {
			if c.quoted {
				return nil
			}
			words = append(words, c.parts...)
		}
	}
	if len(words) > mostNear {
		return nil
	}
	var should []postings.Node
	if n := b.fewest(fieldWord, words); n > 0 && n <= mostNearDocuments {
		should = append(should, fieldPhrase(words, worthNear))
	}
	if n := b.fewest(textWord, words); n > 0 && n <= mostNearDocuments {
		should = append(should, postings.Phrase{Terms: terms(textWord, words), Weight: worthText})
	}
	return should
}

// fewest is how many documents have the rarest of the words.
func (b *builder) fewest(space byte, words []string) int {
	look := terms(space, words)
	slices.Sort(look)
	look = slices.Compact(look)
	known, err := b.terms.Known(b.ctx, look)
	if err != nil && b.err == nil {
		b.err = err
	}
	fewest := math.MaxInt
	for _, t := range look {
		fewest = min(fewest, known[t])
	}
	return fewest
}

func (b *builder) group(g group, only bool) postings.Node {
	if len(g.clauses) == 1 {
		return b.clause(g.clauses[0], only)
	}
	var parts postings.All
	for _, c := range g.clauses {
		parts = append(parts, b.clause(c, false))
	}
	either := postings.Any{all(parts), b.exact(g.number, only)}
	if g.clauses[len(g.clauses)-1].open {
		either = append(either, b.beginning(g.number, g.words())...)
	}
	return append(either, b.oneWord(g.joined, g.clauses[len(g.clauses)-1].open)...)
}

// exact is a number; only says that nothing else was typed.
func (b *builder) exact(squeezed string, only bool) postings.Node {
	if only {
		return flat(number, whole(squeezed), worthNumber)
	}
	return flat(number, whole(squeezed), worthNumberWord)
}

func (b *builder) clause(c clause, only bool) postings.Node {
	either := postings.Any{b.exact(c.number, only)}
	if len(c.parts) == 1 {
		either = append(either, b.word(c.parts[0])...)
	} else {
		either = append(either, fieldPhrase(c.parts, worthField*float64(len(c.parts))),
			postings.Phrase{Terms: terms(textWord, c.parts), Weight: worthText})
	}
	either = append(either, b.oneWord(c.joined, c.open)...)
	if c.open {
		either = append(either, b.beginning(c.number, len(c.parts))...)
		either = append(either, b.opening(c)...)
	}
	if b.stage == typos && !c.quoted {
		either = append(either, b.mistyped(c)...)
	}
	return either
}

// word is a whole word.
func (b *builder) word(w string) []postings.Node {
	return []postings.Node{flat(fieldWord, w, worthField), postings.Term{Text: term(textWord, w), Weight: worthText}}
}

// oneWord is what is typed in parts and may stand as one word.
func (b *builder) oneWord(joined []string, open bool) []postings.Node {
	var either []postings.Node
	for _, w := range joined {
		either = append(either, b.word(w)...)
		if open {
			either = append(either, b.wordStart(w)...)
		}
	}
	return either
}

// opening is a clause whose last part is a beginning.
func (b *builder) opening(c clause) []postings.Node {
	head, last := c.parts[:len(c.parts)-1], c.parts[len(c.parts)-1]
	if len(head) == 0 {
		return b.wordStart(last)
	}
	fields := fieldPhrase(head, worthField*float64(len(head)))
	text := postings.Node(postings.Phrase{Terms: terms(textWord, head), Weight: worthText})
	if b.stage != strict && utf8.RuneCountInString(last) < anyStart.least {
		b.wider = b.wider || b.stage == loose
		return []postings.Node{fields, text}
	}
	either := b.begunPhrases(c.parts)
	if either == nil {
		begun := postings.Any(append(b.word(last), b.wordStart(last)...))
		either = []postings.Node{postings.All{fields, begun}, postings.All{text, begun}}
	}
	return either
}

// begunPhrases are the phrases with every word that the last one may be about to be,
// nil where that may be too many.
func (b *builder) begunPhrases(parts []string) []postings.Node {
	last := parts[len(parts)-1]
	if utf8.RuneCountInString(last) < fewStarts.least {
		return nil
	}
	inText, inFields := b.beginWith(term(textWord, last)), b.beginWith(term(fieldWord, last))
	if len(inText) > mostBegun || len(inFields) > mostBegun {
		return nil
	}
	either := []postings.Node{}
	whole := slices.Clone(parts)
	for _, t := range inFields {
		whole[len(whole)-1] = t[1:]
		either = append(either, fieldPhrase(whole, worthField*float64(len(whole))))
	}
	for _, t := range inText {
		whole[len(whole)-1] = t[1:]
		either = append(either, postings.Phrase{Terms: terms(textWord, whole), Weight: worthText})
	}
	return either
}

// wordStart is words that begin so.
func (b *builder) wordStart(w string) []postings.Node {
	var either []postings.Node
	s, all := start(w)
	if s != "" && all && fits(s) {
		either = append(either, flat(wordStart, s, worthStart))
	} else if s != "" {
		either = append(either, b.longer(fieldWord, w, wordStart, s, worthStart)...)
	}
	switch n := utf8.RuneCountInString(w); {
	case n < fewStarts.least:
	case n <= fewStarts.most && fits(w):
		either = append(either, flat(otherStart, w, worthOtherStart))
	default:
		for _, t := range slices.Concat(b.beginWith(term(fieldWord, w)), b.beginWith(term(textWord, w))) {
			either = append(either, postings.Term{Text: t, Weight: worthOtherStart, Flat: true})
		}
	}
	return either
}

// beginning is numbers that begin so; they are written in words of which each could be
// one of a field.
func (b *builder) beginning(squeezed string, words int) []postings.Node {
	s, all := start(squeezed)
	worth := worthBeginning * float64(words)
	switch {
	case s == "":
		return nil
	case all && fits(s):
		return []postings.Node{flat(numberStart, s, worth)}
	}
	return b.longer(number, squeezed, numberStart, s, worth)
}

// longer is what begins with more characters than beginnings have: the terms that do,
// where they are few, else besides all that begin with its first twelve.
func (b *builder) longer(space byte, long string, startSpace byte, short string, worth float64) []postings.Node {
	var either []postings.Node
	found := b.beginWith(term(space, cut(long, mostWord)))
	for _, t := range found {
		either = append(either, postings.Term{Text: t, Weight: worth, Flat: true})
	}
	if len(found) == mostStarts && fits(short) {
		either = append(either, flat(startSpace, short, worth/2))
	}
	return either
}

// beginWith is at most 64 terms that begin so.
func (b *builder) beginWith(prefix string) []string {
	if found, known := b.begun[prefix]; known || b.err != nil {
		return found
	}
	found, err := b.terms.Terms(b.ctx, prefix, mostStarts)
	if err != nil {
		b.err = err
		return nil
	}
	b.begun[prefix] = found
	return found
}

// flat is a term that is worth the same wherever it stands.
func flat(space byte, word string, worth float64) postings.Node {
	return postings.Term{Text: term(space, word), Weight: worth, Flat: true}
}

// fieldPhrase is words one behind the other in a field; how often is no matter.
func fieldPhrase(words []string, worth float64) postings.Node {
	t := terms(fieldWord, words)
	if len(t) == 1 {
		return postings.Term{Text: t[0], Weight: worth, Flat: true}
	}
	return postings.Prefer{
		Must:   postings.Phrase{Terms: t},
		Should: []postings.Node{postings.Term{Text: t[0], Weight: worth, Flat: true}},
	}
}

func terms(space byte, words []string) []string {
	t := make([]string, len(words))
	for i, w := range words {
		t[i] = term(space, w)
	}
	return t
}

// all and prefer leave out what has one member.
func all(n postings.All) postings.Node {
	if len(n) == 1 {
		return n[0]
	}
	return n
}

func prefer(must postings.Node, should []postings.Node) postings.Node {
	if len(should) == 0 {
		return must
	}
	return postings.Prefer{Must: must, Should: should}
}
