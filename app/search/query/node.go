package query

import (
	"context"
	"math"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
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
	worthSaid       = 1_000   // a text says the book and page that was typed
	worthField      = 40      // a word of a field
	worthBeginning  = 30      // begins a number; for each word of what was typed
	worthTypedStart = 35      // with the same punctuation
	worthFewDigits  = 45      // all that was typed is a digit or two, which begin one
	worthStart      = 25      // begins a word of a field
	worthText       = 0.5     // times BM25 of a word of the text
	worthOtherStart = 0.1     // begins a word of the text, or of a field that is no name
	worthDate       = 75      // a date in another notation is a field
	worthNear       = 10      // the words stand together in a field
	worthTypo       = 0.5     // of what the word itself is worth
)

// nodes is how many nodes a query of so many words has at most.
func nodes(words int) int { return 1_024 + 32*words }

// Bounds of what a word stands for.
const (
	fewDigits         = 2      // that are more likely the beginning of a number than the day of a date
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
	parted              // and letters with blanks between them stand anywhere
	loose               // and a letter that is typed just now may be missing
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
	words int  // of the query
	err   error
	begun map[string]begun    // terms that begin so
	meant map[string][]string // terms of what a word may have been meant to be
}

func newBuilder(ctx context.Context, d dictionary) *builder {
	return &builder{ctx: ctx, terms: d, begun: make(map[string]begun), meant: make(map[string][]string)}
}

// build makes the node of a stage, and says whether it may match more than that of the
// stage before.
func (b *builder) build(a asked, s stage) (n index.Node, wider bool, err error) {
	b.stage, b.wider = s, false
	if s == typos {
		b.suggest(a)
	}
	b.alone, b.words = a.words == 1, a.words
	n = b.query(a)
	return n, b.wider, b.err
}

func (b *builder) query(a asked) index.Node {
	dates := a.dates()
	if len(a.groups) == 1 {
		return b.only(a.groups, dates)
	}
	var must index.All
	var should []index.Node
	for i, g := range a.groups {
		if d, is := dateOver(dates, i); is {
			if i == d.from {
				must = append(must, b.dated(a.groups, d))
			}
			continue
		}
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
	either := append(index.Any{prefer(all(must), should)}, exact(a.called, true, open)...)
	either = append(either, said(a.called.numbers)...)
	if open {
		either = append(either, b.beginning(a.called, a.words)...)
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
	maybe := open && isLetter(word)
	if i < len(groups)-1 {
		label, page := before(groups[i:])
		if label {
			return true
		}
		maybe = page
	}
	if !maybe || b.stage < loose {
		return false
	}
	b.wider = b.wider || b.stage == loose
	return true
}

// before says whether a word, and those between it and a number, say what kind of
// number that is, or in which book or on which page.
func before(groups []group) (label, page bool) {
	first, _ := groups[0].word()
	label, page = model.IsLabel(first), model.PlaceOf(first) == model.Book || model.PlaceOf(first) == model.Page
	if !label && !page && model.PlaceOf(first) != model.Records {
		return false, false
	}
	for _, g := range groups[1:] {
		word, _ := g.word()
		place := model.PlaceOf(word)
		if place == model.NoPlace && !model.IsLabel(word) {
			return label && g.hasDigit(), page && g.hasDigit()
		}
		label = label && model.IsLabel(word)
		page = page || place == model.Book
	}
	return false, false
}

// near are the words of a query standing together, which is worth something. It is
// asked of each document that has them all, so only where those are not too many.
func (b *builder) near(a asked) []index.Node {
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
	var should []index.Node
	if n := b.fewest(fieldWord, words); n > 0 && n <= mostNearDocuments {
		should = append(should, fieldPhrase(words, worthNear))
	}
	if n := b.fewest(textWord, words); n > 0 && n <= mostNearDocuments {
		should = append(should, index.Phrase{Terms: terms(textWord, words), Weight: worthText})
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

func (b *builder) group(g group, only bool) index.Node {
	if len(g.clauses) == 1 {
		return b.clause(g.clauses[0], only)
	}
	var parts index.All
	for _, c := range g.clauses {
		parts = append(parts, b.clause(c, false))
	}
	open := g.clauses[len(g.clauses)-1].open
	either := append(index.Any{all(parts)}, exact(g.called, only, open)...)
	if open {
		either = append(either, b.beginning(g.called, g.words())...)
	}
	return append(either, b.oneWord(g.joined, open)...)
}

// exact is a number, best with its punctuation; only says that nothing else was typed.
// Zeros of a number that is being typed are more likely to be followed by something.
func exact(c called, only, open bool) []index.Node {
	worth := float64(worthNumberWord)
	if only {
		worth = worthNumber
	}
	plain := worth * worthPlain
	if open && c.padded {
		plain = worthOpenZeros
	}
	either := []index.Node{flat(plainNumber, whole(c.plain), plain)}
	if c.paged != "" {
		either = append(either, flat(number, whole(c.paged), worth))
	}
	if c.referred == nil {
		return append(either, flat(number, whole(c.squeezed), worth), flat(asTyped, whole(c.typed), worth*worthTyped))
	}
	for _, r := range c.referred {
		either = append(either, flat(asTyped, whole(r), worth*worthTyped))
	}
	return either
}

// said is book and page as texts have them, whatever the book is called there. Short
// numbers beside each other are mostly something else: the month and day of a date.
func said(numbers []string) []index.Node {
	const long = 3 // digits
	if len(numbers) != 2 {
		return nil
	}
	var spoken [][]string
	for _, page := range []string{"page", "p", "folio", "fol"} {
		spoken = append(spoken, []string{numbers[0], page, numbers[1]})
	}
	if min(len(numbers[0]), len(numbers[1])) >= long {
		spoken = append(spoken, numbers)
	}
	var either []index.Node
	for _, words := range spoken {
		for _, space := range []byte{fieldWord, textWord} {
			either = append(either, index.Prefer{
				Must:   index.Phrase{Terms: terms(space, words)},
				Should: []index.Node{flat(space, words[0], worthSaid)},
			})
		}
	}
	return either
}

func (b *builder) clause(c clause, only bool) index.Node {
	either := index.Any(exact(c.called, only, c.open))
	either = append(either, b.together(c, c.parts, worthField)...)
	if another := c.another(); another != nil {
		either = append(either, b.together(c, another, worthStart)...)
	}
	either = append(either, b.parted(c)...)
	either = append(either, b.oneWord(c.joined, c.open)...)
	either = append(either, b.spelled(c.spellings)...)
	either = append(either, c.place.nodes()...)
	if c.open {
		either = append(either, b.beginning(c.called, len(c.parts))...)
		either = append(either, b.opening(c)...)
	}
	if b.stage == typos && !c.quoted && !c.isNumber() {
		either = append(either, b.mistyped(c)...)
	}
	return either
}

// together is words one behind the other, and behind them those of which numbers have
// no zeros before them; a word of a field is worth so much.
func (b *builder) together(c clause, parts []string, worth float64) []index.Node {
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
func phrases(parts []string, worth float64) []index.Node {
	fields := fieldPhrase(parts, worth*float64(len(parts)))
	if len(parts) == 1 {
		return []index.Node{fields, index.Term{Text: term(textWord, parts[0]), Weight: worthText}}
	}
	return []index.Node{fields, index.Phrase{Terms: terms(textWord, parts), Weight: worthText}}
}

// word is a whole word.
func (b *builder) word(w string) []index.Node {
	return phrases([]string{w}, worthField)
}

// oneWord is what is typed in parts and may stand as one word.
func (b *builder) oneWord(joined []string, open bool) []index.Node {
	var either []index.Node
	for _, w := range joined {
		either = append(either, b.word(w)...)
		if open {
			either = append(either, b.wordStart(w)...)
		}
	}
	return either
}

// spelled is names of which a clause is a part.
func (b *builder) spelled(names []spelling) []index.Node {
	var either []index.Node
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
			either = append(either, index.Term{Text: t, Weight: worthStart, Flat: true})
		}
	}
	return either
}

// isLetter says whether a word is one letter.
func isLetter(word string) bool { return isSingle(word) && !isDigits(word) }

// flat is a term that is worth the same wherever it stands.
func flat(space byte, word string, worth float64) index.Node {
	return index.Term{Text: term(space, word), Weight: worth, Flat: true}
}

// fieldPhrase is words one behind the other in a field; how often is no matter.
func fieldPhrase(words []string, worth float64) index.Node {
	t := terms(fieldWord, words)
	if len(t) == 1 {
		return index.Term{Text: t[0], Weight: worth, Flat: true}
	}
	return index.Prefer{
		Must:   index.Phrase{Terms: t},
		Should: []index.Node{index.Term{Text: t[0], Weight: worth, Flat: true}},
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
func all(n index.All) index.Node {
	if len(n) == 1 {
		return n[0]
	}
	return n
}

func prefer(must index.Node, should []index.Node) index.Node {
	if len(should) == 0 {
		return must
	}
	return index.Prefer{Must: must, Should: should}
}
