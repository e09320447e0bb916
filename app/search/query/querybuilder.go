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
	weightNumber            = 100_000 // all of what was typed is a number
	weightNumberClause      = 10_000  // one of several words is
	boostSamePunctuation    = 2       // times that where it has the same punctuation
	factorTrimmedZeros      = 0.9     // times that where zeros are left out
	weightTypingZeros       = 20      // a number without the zeros that somebody is typing
	weightBookPageInText    = 1_000   // a text says the book and page that was typed
	weightField             = 40      // a word of a field
	weightNumberPrefix      = 30      // begins a number; for each word of what was typed
	weightTypedPrefix       = 35      // with the same punctuation
	weightShortNumberPrefix = 45      // all that was typed is a digit or two, which begin one
	weightNamePrefix        = 25      // begins a word of a field
	weightText              = 0.5     // times BM25 of a word of the text
	weightOtherPrefix       = 0.1     // begins a word of the text, or of a field that is no name
	weightDate              = 75      // a date in another notation is a field
	weightProximity         = 10      // the words stand together in a field
	factorFuzzy             = 0.5     // of what the word itself is worth
)

// maxNodes is how many nodes a query of so many words has at most.
func maxNodes(words int) int { return 1_024 + 32*words }

// Bounds of what a word stands for.
const (
	maxShortDigits     = 2      // that are more likely the beginning of a number than the day of a date
	maxPrefixTerms     = 64     // words that begin so
	maxProximityWords  = 8      // words that are looked for together
	maxProximityDocs   = 10_000 // that have the rarest of them
	maxCompletions     = 16     // words that a phrase may be about to end with: of
	maxCompletionWords = 256    // and words of all those phrases
	maxExpansion       = 512    // that begin so, those in most documents
)

// stage is how far a query goes.
type stage uint8

const (
	exact         stage = iota // as it is typed
	splitInitials              // and letters with blanks between them stand anywhere
	relaxed                    // and a letter that is typed just now may be missing
	fuzzy                      // and each word may have a typing error
	numStages
)

// dictionary is what the engine knows about terms.
type dictionary interface {
	DocFreqs(ctx context.Context, terms []string) (map[string]int, error)
	Terms(ctx context.Context, prefix string, limit int) ([]string, error)
}

// builder makes nodes of one query.
type builder struct {
	ctx         context.Context
	terms       dictionary
	stage       stage
	wider       bool // the stage allows for more than the one before
	hasHits     bool // the stages before have hits
	singleWord  bool // the query has one word
	numWords    int  // of the query
	err         error
	expansions  map[string]expansion // terms that begin so
	corrections map[string][]string  // terms of what a word may have been meant to be
}

func newBuilder(ctx context.Context, d dictionary) *builder {
	return &builder{ctx: ctx, terms: d, expansions: make(map[string]expansion), corrections: make(map[string][]string)}
}

// build makes the node of a stage, and says whether it may match more than that of the
// stage before.
func (b *builder) build(a parsedQuery, s stage) (n index.Node, wider bool, err error) {
	b.stage, b.wider = s, false
	if s == fuzzy {
		b.lookUpCorrections(a)
	}
	b.singleWord, b.numWords = a.numWords == 1, a.numWords
	n = b.query(a)
	return n, b.wider, b.err
}

func (b *builder) query(a parsedQuery) index.Node {
	dates := a.findDates()
	if len(a.groups) == 1 {
		return b.onlyGroup(a.groups, dates)
	}
	var must index.All
	var should []index.Node
	for i, g := range a.groups {
		if d, is := dateOfGroup(dates, i); is {
			if i == d.groupFrom {
				must = append(must, b.dateGroups(a.groups, d))
			}
			continue
		}
		n := b.group(g, false)
		if b.isOptional(a.groups, i) {
			should = append(should, n)
		} else {
			must = append(must, n)
		}
	}
	if len(must) == 0 {
		must, should = should[:1], should[1:]
	}
	should = append(should, b.proximity(a)...)
	last := a.groups[len(a.groups)-1]
	open := last.clauses[len(last.clauses)-1].open
	either := append(index.Any{preferring(allOf(must), should)}, numberNodes(a.number, true, open)...)
	either = append(either, bookPageInText(a.number.numbers)...)
	if open {
		either = append(either, b.numberPrefix(a.number, a.numWords)...)
	}
	return either
}

// isOptional says whether a group may be missing: the words before a number that say what
// it is and, behind the hits that have all of it, book and page, and a letter that what
// somebody is about to type begins with.
func (b *builder) isOptional(groups []group, i int) bool {
	word, open := groups[i].singleWord()
	if word == "" {
		return false
	}
	maybe := open && isSingleLetter(word)
	if i < len(groups)-1 {
		label, page := labelBefore(groups[i:])
		if label {
			return true
		}
		maybe = page
	}
	if !maybe || b.stage < relaxed {
		return false
	}
	b.wider = b.wider || b.stage == relaxed
	return true
}

// labelBefore says whether a word, and those between it and a number, say what kind of
// number that is, or in which book or on which page.
func labelBefore(groups []group) (label, page bool) {
	first, _ := groups[0].singleWord()
	label, page = model.IsNumberLabel(first), model.ClassifyWord(first) == model.BookWord || model.ClassifyWord(first) == model.PageWord
	if !label && !page && model.ClassifyWord(first) != model.RecordsWord {
		return false, false
	}
	for _, g := range groups[1:] {
		word, _ := g.singleWord()
		place := model.ClassifyWord(word)
		if place == model.NotReferenceWord && !model.IsNumberLabel(word) {
			return label && g.startsWithDigits(), page && g.startsWithDigits()
		}
		label = label && model.IsNumberLabel(word)
		page = page || place == model.BookWord
	}
	return false, false
}

// proximity are the words of a query standing together, which is worth something. It is
// asked of each document that has them all, so only where those are not too many.
func (b *builder) proximity(a parsedQuery) []index.Node {
	var words []string
	for _, g := range a.groups {
		for _, c := range g.clauses {
			if c.quoted {
				return nil
			}
			words = append(words, c.parts...)
		}
	}
	if len(words) > maxProximityWords {
		return nil
	}
	var should []index.Node
	if n := b.minDocFreq(nsFieldWord, words); n > 0 && n <= maxProximityDocs {
		should = append(should, fieldPhrase(words, weightProximity))
	}
	if n := b.minDocFreq(nsTextWord, words); n > 0 && n <= maxProximityDocs {
		should = append(should, index.Phrase{Terms: termsOf(nsTextWord, words), Weight: weightText})
	}
	return should
}

// minDocFreq is how many documents have the rarest of the words.
func (b *builder) minDocFreq(space byte, words []string) int {
	look := termsOf(space, words)
	slices.Sort(look)
	look = slices.Compact(look)
	known, err := b.terms.DocFreqs(b.ctx, look)
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
	either := append(index.Any{allOf(parts)}, numberNodes(g.number, only, open)...)
	if open {
		either = append(either, b.numberPrefix(g.number, g.numWords())...)
	}
	return append(either, b.joinedWords(g.joined, open)...)
}

// numberNodes is a number, best with its punctuation; only says that nothing else was typed.
// Zeros of a number that is being typed are more likely to be followed by something.
func numberNodes(c numberForms, only, open bool) []index.Node {
	worth := float64(weightNumberClause)
	if only {
		worth = weightNumber
	}
	plain := worth * factorTrimmedZeros
	if open && c.padded {
		plain = weightTypingZeros
	}
	either := []index.Node{constantTerm(nsPlainNumber, boundedValue(c.trimmed), plain)}
	if c.bookPage != "" {
		either = append(either, constantTerm(nsNumber, boundedValue(c.bookPage), worth))
	}
	if c.references == nil {
		return append(either, constantTerm(nsNumber, boundedValue(c.compact), worth), constantTerm(nsTypedNumber, boundedValue(c.typed), worth*boostSamePunctuation))
	}
	for _, r := range c.references {
		either = append(either, constantTerm(nsTypedNumber, boundedValue(r), worth*boostSamePunctuation))
	}
	return either
}

// bookPageInText is book and page as texts have them, whatever the book is called there. Short
// numbers beside each other are mostly something else: the month and day of a date.
func bookPageInText(numbers []string) []index.Node {
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
		for _, space := range []byte{nsFieldWord, nsTextWord} {
			either = append(either, index.Prefer{
				Must:   index.Phrase{Terms: termsOf(space, words)},
				Should: []index.Node{constantTerm(space, words[0], weightBookPageInText)},
			})
		}
	}
	return either
}

func (b *builder) clause(c clause, only bool) index.Node {
	either := index.Any(numberNodes(c.number, only, c.open))
	either = append(either, b.together(c, c.parts, weightField)...)
	if another := c.alternative(); another != nil {
		either = append(either, b.together(c, another, weightNamePrefix)...)
	}
	either = append(either, b.initials(c)...)
	either = append(either, b.joinedWords(c.joined, c.open)...)
	either = append(either, b.nameVariants(c.variants)...)
	either = append(either, c.place.nodes()...)
	if c.open {
		either = append(either, b.numberPrefix(c.number, len(c.parts))...)
		either = append(either, b.openClause(c)...)
	}
	if b.stage == fuzzy && !c.quoted && !c.isNumber() {
		either = append(either, b.misspelled(c)...)
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
	if short := c.trimmedZeros(parts); short != nil {
		either = append(either, phrases(short, worth*factorTrimmedZeros)...)
	}
	return either
}

// phrases is words one behind the other, in a field or in the text.
func phrases(parts []string, worth float64) []index.Node {
	fields := fieldPhrase(parts, worth*float64(len(parts)))
	if len(parts) == 1 {
		return []index.Node{fields, index.Term{Text: term(nsTextWord, parts[0]), Weight: weightText}}
	}
	return []index.Node{fields, index.Phrase{Terms: termsOf(nsTextWord, parts), Weight: weightText}}
}

// word is a whole word.
func (b *builder) word(w string) []index.Node {
	return phrases([]string{w}, weightField)
}

// joinedWords is what is typed in parts and may stand as one word.
func (b *builder) joinedWords(joined []string, open bool) []index.Node {
	var either []index.Node
	for _, w := range joined {
		either = append(either, b.word(w)...)
		if open {
			either = append(either, b.wordPrefix(w)...)
		}
	}
	return either
}

// nameVariants is names of which a clause is a part.
func (b *builder) nameVariants(names []nameVariant) []index.Node {
	var either []index.Node
	for _, n := range names {
		either = append(either, b.word(n.word)...)
		if !n.open {
			continue
		}
		if s, all := indexedPrefix(n.word); s != "" && all && fitsTerm(s) {
			either = append(either, constantTerm(nsWordPrefix, s, weightNamePrefix))
			continue
		}
		for _, t := range b.nameTermsWithPrefix(n.word) {
			either = append(either, index.Term{Text: t, Weight: weightNamePrefix, ConstantScore: true})
		}
	}
	return either
}

// isSingleLetter says whether a word is one letter.
func isSingleLetter(word string) bool { return isSingle(word) && !isDigits(word) }

// constantTerm is a term that is worth the same wherever it stands.
func constantTerm(space byte, word string, worth float64) index.Node {
	return index.Term{Text: term(space, word), Weight: worth, ConstantScore: true}
}

// fieldPhrase is words one behind the other in a field; how often is no matter.
func fieldPhrase(words []string, worth float64) index.Node {
	t := termsOf(nsFieldWord, words)
	if len(t) == 1 {
		return index.Term{Text: t[0], Weight: worth, ConstantScore: true}
	}
	return index.Prefer{
		Must:   index.Phrase{Terms: t},
		Should: []index.Node{index.Term{Text: t[0], Weight: worth, ConstantScore: true}},
	}
}

func termsOf(space byte, words []string) []string {
	t := make([]string, len(words))
	for i, w := range words {
		t[i] = term(space, w)
	}
	return t
}

// allOf and prefer leave out what has one member.
func allOf(n index.All) index.Node {
	if len(n) == 1 {
		return n[0]
	}
	return n
}

func preferring(must index.Node, should []index.Node) index.Node {
	if len(should) == 0 {
		return must
	}
	return index.Prefer{Must: must, Should: should}
}
