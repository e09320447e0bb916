package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
)

// What is wrong with a query.
var (
	ErrShort = errors.New("at least two letters or digits are needed") // fewer to look for
	ErrLong  = errors.New("the text is too long")                      // more than MaxQueryBytes bytes or Options.MaxWords words
	ErrDeep  = errors.New("the page is too far behind the first")      // Offset and Limit together above Options.MaxDepth
)

// MaxQueryBytes is how long a query's text may be, in bytes.
const MaxQueryBytes = 1_024

const minQueryChars = 2 // characters to look for

// clause is what somebody typed between two blanks, or between quotes.
type clause struct {
	parts           []string    // words one behind the other
	joined          []string    // the same as one word: 12-3-045
	initials        []clause    // what blanks part of letters that stand together: N. S.W. is n and sw
	number          numberForms // the same as a number
	quoted          bool
	open            bool // still being typed: the last part is a beginning
	afterBookOrPage bool // book or page stands before it
	place           placeNames

	start, end int // bytes of the text
	variants   []nameVariant
}

// alternative is how what is typed may stand in a text with other words: 1022/311 is 1022,
// Page 311; T&S is T & S, and the other way around. It is nil for anything else.
func (c clause) alternative() []string {
	if paged := c.bookPagePhrase(); paged != nil || c.quoted {
		return paged
	}
	switch {
	case len(c.parts) == 2 && strings.Contains(c.number.typed, "&"):
		return []string{c.parts[0], "and", c.parts[1]}
	case len(c.parts) == 3 && c.parts[1] == "and" && areSingle(c.parts):
		return []string{c.parts[0], c.parts[2]}
	}
	return nil
}

// trimmedZeros is the parts without the zeros before numbers, nil where there are none. Zeros
// of a number that stands alone are typed on purpose: 00417 is no 417; so are more than
// two before a part of a number, 2015-000010 is not of 2015-10.
func (c clause) trimmedZeros(parts []string) []string {
	if len(parts) == 1 && !c.afterBookOrPage {
		return nil
	}
	const most = 2
	short, fewer := trimZerosOfParts(parts), false
	for i, p := range parts {
		if len(p)-len(short[i]) > most {
			return nil
		}
		fewer = fewer || short[i] != p
	}
	if !fewer {
		return nil
	}
	return short
}

// trimZerosOfParts are the parts, those of digits without the zeros before them.
func trimZerosOfParts(parts []string) []string {
	short := make([]string, len(parts))
	for i, p := range parts {
		short[i] = p
		if isDigits(p) {
			short[i] = trimZeros(p)
		}
	}
	return short
}

// isSingle says whether a word is one character, and areSingle whether all are, but for
// the and of T & S.
func isSingle(word string) bool { return utf8.RuneCountInString(word) == 1 }

func areSingle(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !isSingle(w) && w != "and" })
}

// bookPagePhrase is how book and page stand in a text that are typed as a fraction: 1022/311 is
// 1022, Page 311. It is nil for anything else.
func (c clause) bookPagePhrase() []string {
	if len(c.parts) != 2 || !isDigits(c.parts[0]) || !isDigits(c.parts[1]) || !strings.Contains(c.number.typed, "/") {
		return nil
	}
	return []string{c.parts[0], "page", c.parts[1]}
}

// group is clauses that may be one number or name with blanks in it: 12 3 045,
// O Brien. Mostly it is one clause.
type group struct {
	clauses []clause
	joined  []string
	number  numberForms
}

// numberForms are the spellings of a number: as it is typed, without punctuation, and
// without the zeros before its parts besides, where there are several.
type numberForms struct {
	typed, compact, trimmed string
	references              []string // a book and page, instead of typed
	numbers                 []string // of it
	bookPage                string   // as it is among the numbers; "" for what has letters
	padded                  bool     // zeros stand before a part
}

func newNumberForms(text string, parts []string) numberForms {
	padded := slices.ContainsFunc(parts, func(p string) bool { return isDigits(p) && len(trimZeros(p)) < len(p) })
	c := numberForms{typed: typedForm(text), compact: compactNumber(parts), trimmed: trimmedNumber(parts), padded: padded}
	if r, is := model.ParseBookPage(parts); is {
		c.references, c.numbers, c.bookPage = referenceTerms(r), r.Numbers, bookPageNumber(r.Numbers)
	} else if !slices.ContainsFunc(parts, func(p string) bool { return !isDigits(p) }) {
		c.bookPage = bookPageNumber(parts)
	}
	if len(parts) == 1 {
		c.trimmed = parts[0]
	}
	return c
}

// isNumber says whether a clause is one number in several parts, of which none means
// anything without the others: 387,500 and A-1, but no file's name.
func (c clause) isNumber() bool {
	const most = 4 // letters of a part
	digits := false
	for _, p := range c.parts {
		if !isDigits(p) && utf8.RuneCountInString(p) > most {
			return false
		}
		digits = digits || isDigits(p)
	}
	return digits && len(c.parts) > 1
}

// numWords is how many words a group has.
func (g group) numWords() (n int) {
	for _, c := range g.clauses {
		n += len(c.parts)
	}
	return n
}

// singleWord is a group's only word, "" where it has several or stands in quotes; open says
// that it is still being typed.
func (g group) singleWord() (word string, open bool) {
	if len(g.clauses) != 1 || len(g.clauses[0].parts) != 1 || g.clauses[0].quoted {
		return "", false
	}
	return g.clauses[0].parts[0], g.clauses[0].open
}

// startsWithDigits says whether a digit is in what a group begins with.
func (g group) startsWithDigits() bool { return slices.ContainsFunc(g.clauses[0].parts, isDigits) }

// parsedQuery is a query's text, taken apart.
type parsedQuery struct {
	groups   []group
	number   numberForms // all of it as a number
	numWords int
}

// parse takes a query's text apart. Errors: ErrShort, ErrLong.
func parse(text string, mostWords int) (parsedQuery, error) {
	if len(text) > MaxQueryBytes {
		return parsedQuery{}, fmt.Errorf("%w: more than %d bytes", ErrLong, MaxQueryBytes)
	}
	var a parsedQuery
	var all []string
	for rest, quoted := text, false; rest != ""; quoted = !quoted {
		part, behind, closed := cutQuote(rest)
		p := parser{text: part, quoted: quoted, open: !closed && behind == ""}
		p.read()
		a.groups = append(a.groups, p.groups...)
		all = append(all, p.all...)
		if rest = behind; !quoted && !closed && len(p.all) == len(all) && len(all) > 0 {
			a.number = p.numberForms(0, len(all)) // there are no quotes
		}
	}
	characters := 0
	for _, w := range all {
		characters += utf8.RuneCountInString(w)
	}
	if a.numWords = len(all); a.numWords > mostWords {
		return parsedQuery{}, fmt.Errorf("%w: more than %d words", ErrLong, mostWords)
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

// cutQuote cuts at the first quote.
func cutQuote(s string) (before, after string, found bool) {
	at := strings.IndexAny(s, model.QuoteMarks)
	if at < 0 {
		return s, "", false
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	return s[:at], s[at+size:], true
}

// parser reads what stands inside quotes, or outside of them.
type parser struct {
	text         string
	quoted       bool
	open         bool // nothing stands behind it
	tokens       []token
	words        []string // of tokens
	variants     []token
	variantWords []string // of also
	names        []token  // several words as one name
	nameWords    []string // of names
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

// endsWithBlank says whether the text ends with a blank.
func (p *parser) endsWithBlank() bool { return isBlank(p.text[len(p.text)-1]) }

// newClause is of tokens from to to.
func (p *parser) newClause(from, to int, open bool) clause {
	return clause{
		parts: p.words[from:to:to], joined: p.joinedWords(from, to), number: p.numberForms(from, to),
		quoted: p.quoted, open: open, afterBookOrPage: from > 0 && model.ClassifyWord(p.words[from-1]) != model.NotReferenceWord,
		start: p.tokens[from].start, end: p.tokens[to-1].end,
	}
}

// numberForms is the tokens between two places as a number: outside of quotes without what
// says of which kind it is.
func (p *parser) numberForms(from, to int) numberForms {
	if !p.quoted {
		from += countLabels(p.words[from:to])
	}
	return newNumberForms(p.textOf(from, to), p.words[from:to])
}

// textOf is the text of tokens from to to.
func (p *parser) textOf(from, to int) string {
	return p.text[p.tokens[from].start:p.tokens[to-1].end]
}

// chunkEnd is where the words end that no blank stands between, or that mean nothing
// apart.
func (p *parser) chunkEnd(at int) int {
	for at++; at < len(p.tokens); at++ {
		if hasBlank(p.textAfter(at-1)) && !p.inseparable(at) {
			break
		}
	}
	return at
}

// textAfter is what stands between a token and the next one: nothing, in ½.
func (p *parser) textAfter(at int) string {
	end, start := p.tokens[at].end, p.tokens[at+1].start
	return p.text[min(end, start):start]
}

// hasBlank says whether a blank is in a text.
func hasBlank(s string) bool { return strings.ContainsAny(s, " \t\r\n") }

// inseparable says whether a word and the one before it are single characters, as in
// A 1 and T & S; digits may be a number with blanks in it.
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

// groupEnd is where the chunks end that another spelling makes one of.
func (p *parser) groupEnd(at int) int {
	end := p.chunkEnd(at)
	for i := 0; i < len(p.variants); i++ {
		t := p.variants[i]
		if p.tokens[at].start <= t.start && t.start < p.tokens[end-1].end && t.end > p.tokens[end-1].end {
			end = p.chunkEnd(p.tokenEndingAt(t.end))
			i = -1 // one more may begin in there
		}
	}
	return end
}

// tokenEndingAt is the token that ends there.
func (p *parser) tokenEndingAt(end int) int {
	for i, t := range p.tokens {
		if t.end >= end {
			return i
		}
	}
	return len(p.tokens) - 1
}

// joinedWords are the spellings as one word of tokens from to to.
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
