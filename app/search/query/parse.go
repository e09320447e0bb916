package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
)

// Errors for an invalid query.
var (
	ErrShort = errors.New("query needs at least two letters or digits") // fewer than minQueryChars characters to search for
	ErrLong  = errors.New("query is too long")                          // more than MaxQueryBytes bytes or Options.MaxWords words
	ErrDeep  = errors.New("page is beyond the maximum depth")           // Offset plus Limit exceeds Options.MaxDepth
)

// MaxQueryBytes is the maximum length of a query in bytes.
const MaxQueryBytes = 1_024

const minQueryChars = 2 // letters and digits

// clause is a part of the query, delimited by blanks or quotes.
type clause struct {
	parts           []string    // consecutive words
	joined          []string    // the parts joined into one word: 123045 for 12-3-045
	initials        []clause    // letters split at blanks: n and sw for N. S.W.
	number          numberForms // the clause taken as a number
	quoted          bool
	open            bool // at the end of the query, so the last part is a prefix
	afterBookOrPage bool // the previous word means book or page
	place           placeNames

	start, end int // byte range in the parsed text
	variants   []nameVariant
}

// alternative returns another way to write the clause, or nil if there is none: 1022/311 is also
// 1022, Page 311, and T&S is also T & S, and vice versa.
func (c clause) alternative() []string {
	if phrase := c.bookPagePhrase(); phrase != nil || c.quoted {
		return phrase
	}
	switch {
	case len(c.parts) == 2 && strings.Contains(c.number.typed, "&"):
		return []string{c.parts[0], "and", c.parts[1]}
	case len(c.parts) == 3 && c.parts[1] == "and" && areSingle(c.parts):
		return []string{c.parts[0], c.parts[2]}
	}
	return nil
}

// trimmedZeros returns the parts without leading zeros, or nil if no part has any that may be
// ignored. Zeros before a number of one part were typed on purpose: 00417 is not 417. So were more
// than two zeros before a part: 2015-000010 is not 2015-10.
func (c clause) trimmedZeros(parts []string) []string {
	if len(parts) == 1 && !c.afterBookOrPage {
		return nil
	}
	const maxZeros = 2
	trimmed, changed := trimZerosOfParts(parts), false
	for i, p := range parts {
		if len(p)-len(trimmed[i]) > maxZeros {
			return nil
		}
		changed = changed || trimmed[i] != p
	}
	if !changed {
		return nil
	}
	return trimmed
}

// trimZerosOfParts returns the parts with leading zeros removed from parts of digits.
func trimZerosOfParts(parts []string) []string {
	trimmed := make([]string, len(parts))
	for i, p := range parts {
		trimmed[i] = p
		if isDigits(p) {
			trimmed[i] = trimZeros(p)
		}
	}
	return trimmed
}

// isSingle reports whether a word has exactly one character. areSingle reports it for all words,
// ignoring the "and" in T & S.
func isSingle(word string) bool { return utf8.RuneCountInString(word) == 1 }

func areSingle(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !isSingle(w) && w != "and" })
}

// bookPagePhrase returns the words of a book and page that is typed as a fraction: 1022/311 is
// 1022, Page 311. It returns nil if the clause is anything else.
func (c clause) bookPagePhrase() []string {
	if len(c.parts) != 2 || !isDigits(c.parts[0]) || !isDigits(c.parts[1]) || !strings.Contains(c.number.typed, "/") {
		return nil
	}
	return []string{c.parts[0], "page", c.parts[1]}
}

// group is one or more clauses that may form one number or name with blanks, such as 12 3 045 or O
// Brien.
type group struct {
	clauses []clause
	joined  []string
	number  numberForms
}

// numberForms are the spellings of a number: as typed, without punctuation (compact), and with
// hyphens but without leading zeros in its parts (trimmed).
type numberForms struct {
	typed, compact, trimmed string
	references              []string // terms of a book and page; if not nil, used instead of typed
	numbers                 []string // the numbers in the text
	bookPage                string   // the value of bookPageNumber; "" if there are letters
	padded                  bool     // a part has leading zeros
}

func newNumberForms(text string, parts []string) numberForms {
	padded := slices.ContainsFunc(parts, func(p string) bool { return isDigits(p) && len(trimZeros(p)) < len(p) })
	c := numberForms{typed: typedForm(text), compact: compactNumber(parts), trimmed: trimmedNumber(parts), padded: padded}
	if r, ok := model.ParseBookPage(parts); ok {
		c.references, c.numbers, c.bookPage = referenceTerms(r), r.Numbers, bookPageNumber(r.Numbers)
	} else if !slices.ContainsFunc(parts, func(p string) bool { return !isDigits(p) }) {
		c.bookPage = bookPageNumber(parts)
	}
	if len(parts) == 1 {
		c.trimmed = parts[0]
	}
	return c
}

// isNumber reports whether the clause is one number whose parts mean nothing separately, such as
// 387,500 or A-1. A file name is not a number.
func (c clause) isNumber() bool {
	const maxLetters = 4 // maximum number of letters in one part
	digits := false
	for _, p := range c.parts {
		if !isDigits(p) && utf8.RuneCountInString(p) > maxLetters {
			return false
		}
		digits = digits || isDigits(p)
	}
	return digits && len(c.parts) > 1
}

// numWords returns the number of words in a group.
func (g group) numWords() (n int) {
	for _, c := range g.clauses {
		n += len(c.parts)
	}
	return n
}

// singleWord returns the only word of a group. It returns "" if there are several words or if the
// word is quoted. open reports whether the word is a prefix.
func (g group) singleWord() (word string, open bool) {
	if len(g.clauses) != 1 || len(g.clauses[0].parts) != 1 || g.clauses[0].quoted {
		return "", false
	}
	return g.clauses[0].parts[0], g.clauses[0].open
}

// startsWithDigits reports whether the first clause of the group contains a word of digits.
func (g group) startsWithDigits() bool { return slices.ContainsFunc(g.clauses[0].parts, isDigits) }

// parsedQuery is the parsed text of a query.
type parsedQuery struct {
	groups   []group
	number   numberForms // the complete query taken as a number
	numWords int
}

// parse parses the text of a query. It returns ErrShort or ErrLong if the text is too short or too
// long.
func parse(text string, maxWords int) (parsedQuery, error) {
	if len(text) > MaxQueryBytes {
		return parsedQuery{}, fmt.Errorf("%w: more than %d bytes", ErrLong, MaxQueryBytes)
	}
	var a parsedQuery
	var all []string
	for rest, quoted := text, false; rest != ""; quoted = !quoted {
		part, after, hasQuote := cutQuote(rest)
		p := parser{text: part, quoted: quoted, open: !hasQuote && after == ""}
		p.read()
		a.groups = append(a.groups, p.groups...)
		all = append(all, p.all...)
		if rest = after; !quoted && !hasQuote && len(p.all) == len(all) && len(all) > 0 {
			a.number = p.numberForms(0, len(all)) // the query has no quotes
		}
	}
	characters := 0
	for _, w := range all {
		characters += utf8.RuneCountInString(w)
	}
	if a.numWords = len(all); a.numWords > maxWords {
		return parsedQuery{}, fmt.Errorf("%w: more than %d words", ErrLong, maxWords)
	}
	if characters < minQueryChars {
		return parsedQuery{}, ErrShort
	}
	if a.number.compact == "" {
		a.number = newNumberForms(strings.TrimSpace(text), all)
	}
	a.findPlaces()
	return a, nil
}

// cutQuote splits s at the first quote and removes the quote.
func cutQuote(s string) (before, after string, found bool) {
	at := strings.IndexAny(s, model.QuoteMarks)
	if at < 0 {
		return s, "", false
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	return s[:at], s[at+size:], true
}

// parser parses a part of the query that is completely inside or completely outside quotes.
type parser struct {
	text         string
	quoted       bool
	open         bool // at the end of the query
	tokens       []token
	words        []string // text of each token
	variants     []token
	variantWords []string // text of each variant
	names        []token  // names of several words, joined into one
	nameWords    []string // text of each name
	all          []string
	groups       []group
}

func (p *parser) read() {
	a := analyzer{joinNames: !p.quoted}
	a.scan(p.text, func(t token) {
		word := string(t.text)
		t.text = nil
		if t.nameVariant && hasBlank(p.text[t.start:t.end]) {
			p.names, p.nameWords = append(p.names, t), append(p.nameWords, word)
			return
		}
		if t.variant {
			p.variants, p.variantWords = append(p.variants, t), append(p.variantWords, word)
			return
		}
		p.tokens, p.words = append(p.tokens, t), append(p.words, word)
	})
	p.all = p.words
	if len(p.tokens) == 0 {
		return
	}
	open := p.open && !p.endsWithBlank()
	if p.quoted {
		p.groups = []group{{clauses: []clause{p.newClause(0, len(p.tokens), open)}}}
		return
	}
	for from := 0; from < len(p.tokens); {
		to := p.groupEnd(from)
		g := group{}
		for at := from; at < to; {
			end := p.chunkEnd(at)
			c := p.newClause(at, end, open && end == len(p.tokens))
			c.initials = p.splitInitials(at, end, c.open)
			g.clauses = append(g.clauses, c)
			at = end
		}
		if len(g.clauses) > 1 {
			g.number = p.numberForms(from, to)
			g.joined = p.joinedWords(from, to)
		}
		p.groups = append(p.groups, g)
		from = to
	}
	p.addNameVariants()
}

// endsWithBlank reports whether the text ends with a blank.
func (p *parser) endsWithBlank() bool { return isBlank(p.text[len(p.text)-1]) }

// newClause returns the clause for the tokens from..to.
func (p *parser) newClause(from, to int, open bool) clause {
	return clause{
		parts: p.words[from:to:to], joined: p.joinedWords(from, to), number: p.numberForms(from, to),
		quoted: p.quoted, open: open, afterBookOrPage: from > 0 && model.ClassifyWord(p.words[from-1]) != model.NotReferenceWord,
		start: p.tokens[from].start, end: p.tokens[to-1].end,
	}
}

// numberForms returns the spellings of the tokens from..to taken as a number. Outside quotes,
// leading words for the type of the number are omitted.
func (p *parser) numberForms(from, to int) numberForms {
	if !p.quoted {
		from += countLabels(p.words[from:to])
	}
	return newNumberForms(p.textOf(from, to), p.words[from:to])
}

// textOf returns the typed text of the tokens from..to.
func (p *parser) textOf(from, to int) string {
	return p.text[p.tokens[from].start:p.tokens[to-1].end]
}

// chunkEnd returns the end of the chunk that starts at token at. A chunk has no blanks between its
// words, except between words that belong together for another reason.
func (p *parser) chunkEnd(at int) int {
	for at++; at < len(p.tokens); at++ {
		if hasBlank(p.textAfter(at-1)) && !p.inseparable(at) {
			break
		}
	}
	return at
}

// textAfter returns the text between a token and the next one. It is empty between the words of ½.
func (p *parser) textAfter(at int) string {
	end, start := p.tokens[at].end, p.tokens[at+1].start
	return p.text[min(end, start):start]
}

// hasBlank reports whether s contains a blank.
func hasBlank(s string) bool { return strings.ContainsAny(s, " \t\r\n") }

// inseparable reports whether a word and the previous one are single characters that belong
// together, as in A 1 and T & S. Two digits are not included because they may be a number with
// blanks.
func (p *parser) inseparable(at int) bool {
	one := func(i int) bool { return i >= 0 && i < len(p.words) && isSingle(p.words[i]) }
	letter := func(i int) bool { return one(i) && !isDigits(p.words[i]) }
	switch {
	case p.words[at] == "and":
		return letter(at-1) && letter(at+1)
	case p.words[at-1] == "and":
		return letter(at-2) && letter(at)
	}
	return one(at-1) && one(at) && (letter(at-1) || letter(at))
}

// groupEnd returns the end of the group that starts at token at: the chunks that an alternative
// spelling joins.
func (p *parser) groupEnd(at int) int {
	end := p.chunkEnd(at)
	for i := 0; i < len(p.variants); i++ {
		t := p.variants[i]
		if p.tokens[at].start <= t.start && t.start < p.tokens[end-1].end && t.end > p.tokens[end-1].end {
			end = p.chunkEnd(p.tokenEndingAt(t.end))
			i = -1 // start over because the longer group may contain the start of another variant
		}
	}
	return end
}

// tokenEndingAt returns the index of the token that ends at byte end of the text.
func (p *parser) tokenEndingAt(end int) int {
	for i, t := range p.tokens {
		if t.end >= end {
			return i
		}
	}
	return len(p.tokens) - 1
}

// joinedWords returns the spellings that join the tokens from..to into one word.
func (p *parser) joinedWords(from, to int) []string {
	if to-from < 2 {
		return nil
	}
	var words []string
	for i, t := range p.variants {
		if t.start == p.tokens[from].start && t.end == p.tokens[to-1].end {
			words = append(words, p.variantWords[i])
		}
	}
	return words
}
