package query

import (
	"context"
	"math"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
)

// Weights of matches. A number outweighs any matches of the query words in fields. A field
// outweighs any text because the BM25 score of a word stays below 34 for any number of documents
// that fits into memory. See "Ranking" in doc.go.
const (
	weightNumber            = 100_000 // the complete query equals a number
	weightNumberClause      = 10_000  // one of several words equals a number
	boostSamePunctuation    = 2       // factor if the number has the same punctuation
	factorTrimmedZeros      = 0.9     // factor if leading zeros are ignored
	weightTypingZeros       = 20      // a number without the leading zeros of a number that is still being typed
	weightBookPageInText    = 1_000   // a field or text contains the typed book and page in other words
	weightField             = 40      // a word of a field
	weightNumberPrefix      = 30      // a prefix of a number, per typed word
	weightTypedPrefix       = 35      // a prefix of a number with the same punctuation, per typed word
	weightShortNumberPrefix = 45      // the query has up to maxShortDigits digits, which are a prefix of a number
	weightNamePrefix        = 25      // a prefix of a word of a name or number
	weightText              = 0.5     // a word of the text; multiplied by BM25
	weightOtherPrefix       = 0.1     // a prefix of a word of the text or of another field
	weightDate              = 75      // a date in a field, in another notation
	weightProximity         = 10      // the words are adjacent in a field
	factorFuzzy             = 0.5     // factor for a word with a typo
)

// maxNodes returns the maximum number of nodes in a query with the given number of words.
func maxNodes(words int) int { return 1_024 + 32*words }

// Limits for expanding words.
const (
	maxShortDigits     = 2      // maximum number of digits that are more likely a prefix of a number than the day of a date
	maxPrefixTerms     = 64     // maximum number of terms with a prefix
	maxVariantTerms    = 8      // the same for a name that is written differently
	maxProximityWords  = 8      // maximum number of words in a proximity phrase
	maxProximityDocs   = 10_000 // maximum number of documents with the rarest of these words
	maxCompletions     = 16     // maximum number of words that complete an open phrase
	maxCompletionWords = 256    // maximum total number of words in these phrases
	maxExpansion       = 512    // maximum number of terms from which the most frequent ones are selected
)

// stage is the degree of tolerance of a search. Each stage includes the previous ones.
type stage uint8

const (
	exact         stage = iota // as typed
	splitInitials              // letters separated by blanks may appear anywhere
	relaxed                    // the letter being typed and the words book and page are optional
	fuzzy                      // each word may have a typo
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
	wider       bool // whether the stage may match more documents than the previous one
	hasHits     bool // whether previous stages have hits
	singleWord  bool // whether the query has only one word
	numWords    int  // number of words in the query
	err         error
	expansions  map[string]expansion // terms for each prefix
	corrections map[string][]string  // terms that the user may have meant by each word
}

func newBuilder(ctx context.Context, d dictionary) *builder {
	return &builder{ctx: ctx, terms: d, expansions: make(map[string]expansion), corrections: make(map[string][]string)}
}

// build returns the node for a stage. wider reports whether it may match more documents than the
// node of the previous stage.
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

// isOptional reports whether documents may lack a group. This applies to words for the type of the
// number after them. In the relaxed stage, it also applies to the words book and page and to a
// single letter that the user is typing.
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

// labelBefore reports whether the first word is a label of the number after it (label), and whether
// it is the word book or page before its number (page). There may be other such words between the
// first word and the number.
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

// proximity returns optional phrases that match if all words of the query are adjacent. They are
// evaluated for each document that contains the words, so they are omitted if there are too many
// documents.
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

// minDocFreq returns the document frequency of the rarest word in a namespace.
func (b *builder) minDocFreq(ns byte, words []string) int {
	list := termsOf(ns, words)
	freqs := b.docFreqs(list)
	lowest := math.MaxInt
	for _, t := range list {
		lowest = min(lowest, freqs[t])
	}
	return lowest
}

// docFreqs returns the document frequencies of terms. Missing terms are omitted. If b.err is already
// set or there is an error, it returns nil.
func (b *builder) docFreqs(terms []string) map[string]int {
	if b.err != nil {
		return nil
	}
	freqs, err := b.terms.DocFreqs(b.ctx, slices.Compact(slices.Sorted(slices.Values(terms))))
	b.err = err
	return freqs
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

// numberNodes returns the nodes for a complete number. The same punctuation scores higher. only
// means that the query contains nothing else. If the number is still being typed and has leading
// zeros, matches without them score low.
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

// bookPageInText returns the nodes for other ways to write a book and page in fields and texts. Two
// adjacent numbers must have at least minDigits digits. Shorter numbers are usually something else,
// such as the month and day of a date.
func bookPageInText(numbers []string) []index.Node {
	const minDigits = 3
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

// together returns the nodes for consecutive words and, with a lower weight, for the same words
// without leading zeros.
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

// joinedWords returns the nodes for the spellings that join several typed words.
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

// nameVariants returns the nodes for the names that contain a clause, or that sound like it.
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
		for _, t := range b.firstTerms(term(nsFieldWord, n.word), maxVariantTerms) {
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

// fieldPhrase returns the node for consecutive words in a field, with a constant score.
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

// allOf returns a node that matches all of n. Like preferring, it does not wrap a single node.
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
