package search

import (
	"context"
	"math"
	"slices"

	"deedkeep/app/postings"
)

// What a match is worth: a number more than all the fields that a query can have words
// of, a field more than any text. BM25 of a word stays under 34 for as many documents
// as memory could hold; see the ranking in doc.go.
const (
	worthNumber     = 100_000 // all of what was typed is a number
	worthNumberWord = 10_000  // one of several words is
	worthTyped      = 2       // times that where it has the same punctuation
	worthPlain      = 0.9     // times that where zeros are left out
	worthOpenZeros  = 20      // a number without the zeros that somebody is typing
	worthField      = 40      // a word of a field
	worthBeginning  = 30      // begins a number; for each word of what was typed
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
	mostBegun         = 16     // words that a phrase may be about to end with: of
	mostBegunParts    = 256    // and words of all those phrases
	mostWalked        = 512    // that begin so, those in most documents
)

// stage is how far a query goes.
type stage uint8

const (
	strict stage = iota // as it is typed
	loose               // a letter that is typed just now may be missing
	typos               // and each word may have a typing error
	stages
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
	found bool // the stages before have hits
	alone bool // the query has one word
	err   error
	begun map[string]begun    // terms that begin so
	meant map[string][]string // terms of what a word may have been meant to be
}

func newBuilder(ctx context.Context, d dictionary) *builder {
	return &builder{ctx: ctx, terms: d, begun: make(map[string]begun), meant: make(map[string][]string)}
}

// build makes the node of a stage, and says whether it may match more than that of the
// stage before.
func (b *builder) build(a asked, s stage) (n postings.Node, wider bool, err error) {
	b.stage, b.wider = s, false
	if s == typos {
		b.suggest(a)
	}
	b.alone = a.words == 1
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
	last := a.groups[len(a.groups)-1]
	open := last.clauses[len(last.clauses)-1].open
	either := append(postings.Any{prefer(all(must), should)}, exact(a.called, true, open)...)
	if open {
		either = append(either, b.beginning(a.called.squeezed, a.words)...)
	}
	return either
}

// maybe says whether a group may be missing: the words before a number that say what
// it is and, behind the hits that have all of it, book and page, and a letter that what
// somebody is about to type begins with.
func (b *builder) maybe(groups []group, i int) bool {
	word, open := groups[i].word()
	if word == "" {
		return false
	}
	last := i == len(groups)-1
	if !last && isLabel(word) {
		return isLabelOf(groups, i)
	}
	if b.stage == strict {
		return false
	}
	if last && open && isLetter(word) || !last && isPlace(word) != noPlace && groups[i+1].hasDigit() {
		b.wider = b.wider || b.stage == loose
		return true
	}
	return false
}

// isLabelOf says whether a group is a word that says what kind of number is behind it.
func isLabelOf(groups []group, i int) bool {
	word, _ := groups[i].word()
	if !isLabel(word) || i == len(groups)-1 {
		return false
	}
	for i++; i < len(groups)-1; i++ {
		if next, _ := groups[i].word(); !isLabel(next) {
			break
		}
	}
	return groups[i].hasDigit()
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
	open := g.clauses[len(g.clauses)-1].open
	either := append(postings.Any{all(parts)}, exact(g.called, only, open)...)
	if open {
		either = append(either, b.beginning(g.called.squeezed, g.words())...)
	}
	return append(either, b.oneWord(g.joined, open)...)
}

// exact is a number, best with its punctuation; only says that nothing else was typed.
// Zeros of a number that is being typed are more likely to be followed by something.
func exact(c called, only, open bool) []postings.Node {
	worth := float64(worthNumberWord)
	if only {
		worth = worthNumber
	}
	plain := worth * worthPlain
	if open && c.padded {
		plain = worthOpenZeros
	}
	return []postings.Node{
		flat(asTyped, whole(c.typed), worth*worthTyped), flat(number, whole(c.squeezed), worth), flat(plainNumber, whole(c.plain), plain),
	}
}

func (b *builder) clause(c clause, only bool) postings.Node {
	either := postings.Any(exact(c.called, only, c.open))
	either = append(either, b.together(c, c.parts, worthField)...)
	if another := c.another(); another != nil {
		either = append(either, b.together(c, another, worthStart)...)
	}
	either = append(either, b.oneWord(c.joined, c.open)...)
	either = append(either, b.spelled(c.spellings)...)
	either = append(either, c.place.nodes()...)
	if c.open {
		either = append(either, b.beginning(c.called.squeezed, len(c.parts))...)
		either = append(either, b.opening(c)...)
	}
	if b.stage == typos && !c.quoted && !c.isNumber() {
		either = append(either, b.mistyped(c)...)
	}
	return either
}

// together is words one behind the other, and behind them those of which numbers have
// no zeros before them; a word of a field is worth so much.
func (b *builder) together(c clause, parts []string, worth float64) []postings.Node {
	either := phrases(parts, worth)
	if c.open {
		worth /= 3
	}
	if short := c.short(parts); short != nil {
		either = append(either, phrases(short, worth*worthPlain)...)
	}
	return either
}

// phrases is words one behind the other, in a field or in the text.
func phrases(parts []string, worth float64) []postings.Node {
	fields := fieldPhrase(parts, worth*float64(len(parts)))
	if len(parts) == 1 {
		return []postings.Node{fields, postings.Term{Text: term(textWord, parts[0]), Weight: worthText}}
	}
	return []postings.Node{fields, postings.Phrase{Terms: terms(textWord, parts), Weight: worthText}}
}

// word is a whole word.
func (b *builder) word(w string) []postings.Node {
	return phrases([]string{w}, worthField)
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

// spelled is names of which a clause is a part.
func (b *builder) spelled(names []spelling) []postings.Node {
	var either []postings.Node
	for _, n := range names {
		either = append(either, b.word(n.word)...)
		if !n.open {
			continue
		}
		if s, all := start(n.word); s != "" && all && fits(s) {
			either = append(either, flat(wordStart, s, worthStart))
			continue
		}
		for _, t := range b.walkNames(n.word) {
			either = append(either, postings.Term{Text: t, Weight: worthStart, Flat: true})
		}
	}
	return either
}

// isLetter says whether a word is one letter.
func isLetter(word string) bool { return isSingle(word) && !isDigits(word) }

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
