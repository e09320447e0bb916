package query

import (
	"context"
	"math"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
)

// Weights of matches. A number outweighs matches of all words of a query in fields, and a field
// outweighs any text: the BM25 score of a word stays below 34 for as many documents as fit into
// memory. See "Ranking" in doc.go.
const (
	weightNumber            = 100_000 // the complete query is a number
	weightNumberClause      = 10_000  // one of several words is a number
	boostSamePunctuation    = 2       // factor if the number has the same punctuation
	factorTrimmedZeros      = 0.9     // factor if leading zeros are ignored
	weightTypingZeros       = 20      // a number without leading zeros, while zeros are being typed
	weightBookPageInText    = 1_000   // a text states the book and page that were typed
	weightField             = 40      // word of a field
	weightNumberPrefix      = 30      // prefix of a number, per word typed
	weightTypedPrefix       = 35      // prefix of a number with the same punctuation, per word typed
	weightShortNumberPrefix = 45      // the query is at most maxShortDigits digits, which are a prefix of a number
	weightNamePrefix        = 25      // prefix of a word of a name or number
	weightText              = 0.5     // times BM25, word of the text
	weightOtherPrefix       = 0.1     // prefix of a word of the text or of another field
	weightDate              = 75      // a date in a field in another notation
	weightProximity         = 10      // the words are adjacent in a field
	factorFuzzy             = 0.5     // factor for a word with a typing error
)

// maxNodes returns the maximum number of nodes of a query with the given number of words.
func maxNodes(words int) int { return 1_024 + 32*words }

// Limits for expanding words.
const (
	maxShortDigits     = 2      // digits that are more likely a prefix of a number than the day of a date
	maxPrefixTerms     = 64     // terms with a prefix
	maxProximityWords  = 8      // words in a proximity phrase
	maxProximityDocs   = 10_000 // documents with the rarest of these words
	maxCompletions     = 16     // words that can complete an open phrase
	maxCompletionWords = 256    // total words of these phrases
	maxExpansion       = 512    // terms considered when looking for the most frequent ones
)

// stage is how much a search tolerates. Each stage includes the previous ones.
type stage uint8

const (
	exact         stage = iota // as typed
	splitInitials              // letters separated by blanks may appear anywhere
	relaxed                    // an unfinished letter, and book and page, are optional
	fuzzy                      // each word may have a typing error
	numStages
)

// dictionary provides the terms of the index.
type dictionary interface {
	DocFreqs(ctx context.Context, terms []string) (map[string]int, error)
	Terms(ctx context.Context, prefix string, limit int) ([]string, error)
}

// builder builds the nodes of one query.
type builder struct {
	ctx         context.Context
	terms       dictionary
	stage       stage
	wider       bool // the stage may match more than the previous one
	hasHits     bool // previous stages have hits
	singleWord  bool // the query has one word
	numWords    int  // of the query
	err         error
	expansions  map[string]expansion // terms by prefix
	corrections map[string][]string  // terms that a word may have been meant to be
}

func newBuilder(ctx context.Context, d dictionary) *builder {
	return &builder{ctx: ctx, terms: d, expansions: make(map[string]expansion), corrections: make(map[string][]string)}
}

// build returns the node for a stage and reports whether it may match more than that of the
// previous stage.
func (b *builder) build(q parsedQuery, s stage) (n index.Node, wider bool, err error) {
	b.stage, b.wider = s, false
	if s == fuzzy {
		b.lookUpCorrections(q)
	}
	b.singleWord, b.numWords = q.numWords == 1, q.numWords
	n = b.query(q)
	return n, b.wider, b.err
}

func (b *builder) query(q parsedQuery) index.Node {
	dates := q.findDates()
	if len(q.groups) == 1 {
		return b.onlyGroup(q.groups, dates)
	}
	var must index.All
	var should []index.Node
	for i, g := range q.groups {
		if d, ok := dateOfGroup(dates, i); ok {
			if i == d.groupFrom {
				must = append(must, b.dateGroups(q.groups, d))
			}
			continue
		}
		n := b.group(g, false)
		if b.isOptional(q.groups, i) {
			should = append(should, n)
		} else {
			must = append(must, n)
		}
	}
	if len(must) == 0 {
		must, should = should[:1], should[1:]
	}
	should = append(should, b.proximity(q)...)
	last := q.groups[len(q.groups)-1]
	open := last.clauses[len(last.clauses)-1].open
	nodes := append(index.Any{preferring(allOf(must), should)}, numberNodes(q.number, true, open)...)
	nodes = append(nodes, bookPageInText(q.number.numbers)...)
	if open {
		nodes = append(nodes, b.numberPrefix(q.number, q.numWords)...)
	}
	return nodes
}

// isOptional reports whether a group may be missing: words for the type of the number after them
// and, in the relaxed stage, book and page and a single letter that the user is typing.
func (b *builder) isOptional(groups []group, i int) bool {
	word, open := groups[i].singleWord()
	if word == "" {
		return false
	}
	optional := open && isSingleLetter(word)
	if i < len(groups)-1 {
		label, page := labelBefore(groups[i:])
		if label {
			return true
		}
		optional = page
	}
	if !optional || b.stage < relaxed {
		return false
	}
	b.wider = b.wider || b.stage == relaxed
	return true
}

// labelBefore reports whether the first word is a label of the number after it, and whether it is a
// word for its book or page. Only such words may be between them.
func labelBefore(groups []group) (label, page bool) {
	first, _ := groups[0].singleWord()
	label, page = model.IsNumberLabel(first), model.ClassifyWord(first) == model.BookWord || model.ClassifyWord(first) == model.PageWord
	if !label && !page && model.ClassifyWord(first) != model.RecordsWord {
		return false, false
	}
	for _, g := range groups[1:] {
		word, _ := g.singleWord()
		class := model.ClassifyWord(word)
		if class == model.NotReferenceWord && !model.IsNumberLabel(word) {
			return label && g.startsWithDigits(), page && g.startsWithDigits()
		}
		label = label && model.IsNumberLabel(word)
		page = page || class == model.BookWord
	}
	return false, false
}

// proximity returns optional phrases of all words of the query. They are evaluated for each
// document that has the words, so they are omitted if there are too many.
func (b *builder) proximity(q parsedQuery) []index.Node {
	var words []string
	for _, g := range q.groups {
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

// minDocFreq returns the document frequency of the rarest word.
func (b *builder) minDocFreq(ns byte, words []string) int {
	list := termsOf(ns, words)
	slices.Sort(list)
	list = slices.Compact(list)
	freqs, err := b.terms.DocFreqs(b.ctx, list)
	if err != nil && b.err == nil {
		b.err = err
	}
	lowest := math.MaxInt
	for _, t := range list {
		lowest = min(lowest, freqs[t])
	}
	return lowest
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
	nodes := append(index.Any{allOf(parts)}, numberNodes(g.number, only, open)...)
	if open {
		nodes = append(nodes, b.numberPrefix(g.number, g.numWords())...)
	}
	return append(nodes, b.joinedWords(g.joined, open)...)
}

// numberNodes returns the nodes for a complete number; the same punctuation scores higher. only
// means that nothing else was typed. If a number with leading zeros is still being typed, ignoring
// these scores low.
func numberNodes(c numberForms, only, open bool) []index.Node {
	weight := float64(weightNumberClause)
	if only {
		weight = weightNumber
	}
	trimmedWeight := weight * factorTrimmedZeros
	if open && c.padded {
		trimmedWeight = weightTypingZeros
	}
	nodes := []index.Node{constantTerm(nsPlainNumber, boundedValue(c.trimmed), trimmedWeight)}
	if c.bookPage != "" {
		nodes = append(nodes, constantTerm(nsNumber, boundedValue(c.bookPage), weight))
	}
	if c.references == nil {
		return append(nodes,
			constantTerm(nsNumber, boundedValue(c.compact), weight),
			constantTerm(nsTypedNumber, boundedValue(c.typed), weight*boostSamePunctuation))
	}
	for _, r := range c.references {
		nodes = append(nodes, constantTerm(nsTypedNumber, boundedValue(r), weight*boostSamePunctuation))
	}
	return nodes
}

// bookPageInText returns the nodes for a book and page in other words. Two short adjacent numbers
// are usually something else, such as the month and day of a date.
func bookPageInText(numbers []string) []index.Node {
	const minDigits = 3 // digits
	if len(numbers) != 2 {
		return nil
	}
	var spellings [][]string
	for _, page := range []string{"page", "p", "folio", "fol"} {
		spellings = append(spellings, []string{numbers[0], page, numbers[1]})
	}
	if min(len(numbers[0]), len(numbers[1])) >= minDigits {
		spellings = append(spellings, numbers)
	}
	var nodes []index.Node
	for _, words := range spellings {
		for _, ns := range []byte{nsFieldWord, nsTextWord} {
			nodes = append(nodes, index.Prefer{
				Must:   index.Phrase{Terms: termsOf(ns, words)},
				Should: []index.Node{constantTerm(ns, words[0], weightBookPageInText)},
			})
		}
	}
	return nodes
}

func (b *builder) clause(c clause, only bool) index.Node {
	nodes := index.Any(numberNodes(c.number, only, c.open))
	nodes = append(nodes, b.together(c, c.parts, weightField)...)
	if alternative := c.alternative(); alternative != nil {
		nodes = append(nodes, b.together(c, alternative, weightNamePrefix)...)
	}
	nodes = append(nodes, b.initials(c)...)
	nodes = append(nodes, b.joinedWords(c.joined, c.open)...)
	nodes = append(nodes, b.nameVariants(c.variants)...)
	nodes = append(nodes, c.place.nodes()...)
	if c.open {
		nodes = append(nodes, b.numberPrefix(c.number, len(c.parts))...)
		nodes = append(nodes, b.openClause(c)...)
	}
	if b.stage == fuzzy && !c.quoted && !c.isNumber() {
		nodes = append(nodes, b.misspelled(c)...)
	}
	return nodes
}

// together returns the nodes for consecutive words and, with a lower weight, for the same without
// leading zeros.
func (b *builder) together(c clause, parts []string, weight float64) []index.Node {
	nodes := phrases(parts, weight)
	if c.open {
		weight /= 3
	}
	if trimmed := c.trimmedZeros(parts); trimmed != nil {
		nodes = append(nodes, phrases(trimmed, weight*factorTrimmedZeros)...)
	}
	return nodes
}

// phrases returns the nodes for consecutive words in a field or in the text.
func phrases(parts []string, weight float64) []index.Node {
	fields := fieldPhrase(parts, weight*float64(len(parts)))
	if len(parts) == 1 {
		return []index.Node{fields, index.Term{Text: term(nsTextWord, parts[0]), Weight: weightText}}
	}
	return []index.Node{fields, index.Phrase{Terms: termsOf(nsTextWord, parts), Weight: weightText}}
}

// word returns the nodes for a word.
func (b *builder) word(w string) []index.Node {
	return phrases([]string{w}, weightField)
}

// joinedWords returns the nodes for words typed in parts that may be written as one.
func (b *builder) joinedWords(joined []string, open bool) []index.Node {
	var nodes []index.Node
	for _, w := range joined {
		nodes = append(nodes, b.word(w)...)
		if open {
			nodes = append(nodes, b.wordPrefix(w)...)
		}
	}
	return nodes
}

// nameVariants returns the nodes for names that contain a clause.
func (b *builder) nameVariants(names []nameVariant) []index.Node {
	var nodes []index.Node
	for _, n := range names {
		nodes = append(nodes, b.word(n.word)...)
		if !n.open {
			continue
		}
		if s, all := indexedPrefix(n.word); s != "" && all && fitsTerm(s) {
			nodes = append(nodes, constantTerm(nsWordPrefix, s, weightNamePrefix))
			continue
		}
		for _, t := range b.nameTermsWithPrefix(n.word) {
			nodes = append(nodes, index.Term{Text: t, Weight: weightNamePrefix, ConstantScore: true})
		}
	}
	return nodes
}

// isSingleLetter reports whether a word is one letter.
func isSingleLetter(word string) bool { return isSingle(word) && !isDigits(word) }

// constantTerm returns a term with a constant score.
func constantTerm(ns byte, word string, weight float64) index.Node {
	return index.Term{Text: term(ns, word), Weight: weight, ConstantScore: true}
}

// fieldPhrase returns consecutive words in a field, with a constant score.
func fieldPhrase(words []string, weight float64) index.Node {
	t := termsOf(nsFieldWord, words)
	if len(t) == 1 {
		return index.Term{Text: t[0], Weight: weight, ConstantScore: true}
	}
	return index.Prefer{
		Must:   index.Phrase{Terms: t},
		Should: []index.Node{index.Term{Text: t[0], Weight: weight, ConstantScore: true}},
	}
}

func termsOf(ns byte, words []string) []string {
	t := make([]string, len(words))
	for i, w := range words {
		t[i] = term(ns, w)
	}
	return t
}

// allOf and preferring omit a node with only one member.
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
