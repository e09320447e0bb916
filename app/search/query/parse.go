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
	ErrLong  = errors.New("the text is too long")                      // more than MostText bytes or Options.MostWords words
	ErrDeep  = errors.New("the page is too far behind the first")      // Offset and Limit together above Options.MostDepth
)

// MostText is how long a query's text may be, in bytes.
const MostText = 1_024

const leastAsked = 2 // characters to look for

// clause is what somebody typed between two blanks, or between quotes.
type clause struct {
	parts  []string // words one behind the other
	joined []string // the same as one word: 12-3-045
	apart  []clause // what blanks part of letters that stand together: N. S.W. is n and sw
	called called   // the same as a number
	quoted bool
	open   bool // still being typed: the last part is a beginning
	placed bool // book or page stands before it
	place  ofPlace

	start, end int // bytes of the text
	spellings  []spelling
}

// another is how what is typed may stand in a text with other words: 1022/311 is 1022,
// Page 311; T&S is T & S, and the other way around. It is nil for anything else.
func (c clause) another() []string {
	if paged := c.paged(); paged != nil || c.quoted {
		return paged
	}
	switch {
	case len(c.parts) == 2 && strings.Contains(c.called.typed, "&"):
		return []string{c.parts[0], "and", c.parts[1]}
	case len(c.parts) == 3 && c.parts[1] == "and" && areSingle(c.parts):
		return []string{c.parts[0], c.parts[2]}
	}
	return nil
}

// short is the parts without the zeros before numbers, nil where there are none. Zeros
// of a number that stands alone are typed on purpose: 00417 is no 417; so are more than
// two before a part of a number, 2015-000010 is not of 2015-10.
func (c clause) short(parts []string) []string {
	if len(parts) == 1 && !c.placed {
		return nil
	}
	const most = 2
	short, fewer := unpaddedParts(parts), false
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

// unpaddedParts are the parts, those of digits without the zeros before them.
func unpaddedParts(parts []string) []string {
	short := make([]string, len(parts))
	for i, p := range parts {
		short[i] = p
		if isDigits(p) {
			short[i] = unpadded(p)
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

// paged is how book and page stand in a text that are typed as a fraction: 1022/311 is
// 1022, Page 311. It is nil for anything else.
func (c clause) paged() []string {
	if len(c.parts) != 2 || !isDigits(c.parts[0]) || !isDigits(c.parts[1]) || !strings.Contains(c.called.typed, "/") {
		return nil
	}
	return []string{c.parts[0], "page", c.parts[1]}
}

// group is clauses that may be one number or name with blanks in it: 12 3 045,
// O Brien. Mostly it is one clause.
type group struct {
	clauses []clause
	joined  []string
	called  called
}

// called are the spellings of a number: as it is typed, without punctuation, and
// without the zeros before its parts besides, where there are several.
type called struct {
	typed, squeezed, plain string
	referred               []string // a book and page, instead of typed
	numbers                []string // of it
	paged                  string   // as it is among the numbers; "" for what has letters
	padded                 bool     // zeros stand before a part
}

func call(text string, parts []string) called {
	padded := slices.ContainsFunc(parts, func(p string) bool { return isDigits(p) && len(unpadded(p)) < len(p) })
	c := called{typed: typedForm(text), squeezed: squeezed(parts), plain: plain(parts), padded: padded}
	if r, is := model.ReferenceOf(parts); is {
		c.referred, c.numbers, c.paged = referred(r), r.Numbers, paged(r.Numbers)
	} else if !slices.ContainsFunc(parts, func(p string) bool { return !isDigits(p) }) {
		c.paged = paged(parts)
	}
	if len(parts) == 1 {
		c.plain = parts[0]
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

// words is how many words a group has.
func (g group) words() (n int) {
	for _, c := range g.clauses {
		n += len(c.parts)
	}
	return n
}

// word is a group's only word, "" where it has several or stands in quotes; open says
// that it is still being typed.
func (g group) word() (word string, open bool) {
	if len(g.clauses) != 1 || len(g.clauses[0].parts) != 1 || g.clauses[0].quoted {
		return "", false
	}
	return g.clauses[0].parts[0], g.clauses[0].open
}

// hasDigit says whether a digit is in what a group begins with.
func (g group) hasDigit() bool { return slices.ContainsFunc(g.clauses[0].parts, isDigits) }

// asked is a query's text, taken apart.
type asked struct {
	groups []group
	called called // all of it as a number
	words  int
}

// parse takes a query's text apart. Errors: ErrShort, ErrLong.
func parse(text string, mostWords int) (asked, error) {
	if len(text) > MostText {
		return asked{}, fmt.Errorf("%w: more than %d bytes", ErrLong, MostText)
	}
	var a asked
	var all []string
	for rest, quoted := text, false; rest != ""; quoted = !quoted {
		part, behind, closed := cutQuote(rest)
		p := parser{text: part, quoted: quoted, open: !closed && behind == ""}
		p.read()
		a.groups = append(a.groups, p.groups...)
		all = append(all, p.all...)
		if rest = behind; !quoted && !closed && len(p.all) == len(all) && len(all) > 0 {
			a.called = p.called(0, len(all)) // there are no quotes
		}
	}
	characters := 0
	for _, w := range all {
		characters += utf8.RuneCountInString(w)
	}
	if a.words = len(all); a.words > mostWords {
		return asked{}, fmt.Errorf("%w: more than %d words", ErrLong, mostWords)
	}
	if characters < leastAsked {
		return asked{}, ErrShort
	}
	if a.called.squeezed == "" {
		a.called = call(strings.TrimSpace(text), all)
	}
	a.places()
	return a, nil
}

// cutQuote cuts at the first quote.
func cutQuote(s string) (before, after string, found bool) {
	at := strings.IndexAny(s, model.Quotes)
	if at < 0 {
		return s, "", false
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	return s[:at], s[at+size:], true
}

// parser reads what stands inside quotes, or outside of them.
type parser struct {
	text    string
	quoted  bool
	open    bool // nothing stands behind it
	tokens  []token
	words   []string // of tokens
	also    []token
	spells  []string // of also
	names   []token  // several words as one name
	spelled []string // of names
	all     []string
	groups  []group
}

func (p *parser) read() {
	a := analyser{names: !p.quoted}
	a.scan(p.text, func(t token) {
		word := string(t.text)
		t.text = nil
		if t.name && hasBlank(p.text[t.start:t.end]) {
			p.names, p.spelled = append(p.names, t), append(p.spelled, word)
			return
		}
		if t.also {
			p.also, p.spells = append(p.also, t), append(p.spells, word)
			return
		}
		p.tokens, p.words = append(p.tokens, t), append(p.words, word)
	})
	p.all = p.words
	if len(p.tokens) == 0 {
		return
	}
	open := p.open && !p.blank()
	if p.quoted {
		p.groups = []group{{clauses: []clause{p.clause(0, len(p.tokens), open)}}}
		return
	}
	for from := 0; from < len(p.tokens); {
		to := p.groupEnd(from)
		g := group{}
		for at := from; at < to; {
			end := p.chunkEnd(at)
			c := p.clause(at, end, open && end == len(p.tokens))
			c.apart = p.apart(at, end, c.open)
			g.clauses = append(g.clauses, c)
			at = end
		}
		if len(g.clauses) > 1 {
			g.called = p.called(from, to)
			g.joined = p.joined(from, to)
		}
		p.groups = append(p.groups, g)
		from = to
	}
	p.spell()
}

// blank says whether the text ends with a blank.
func (p *parser) blank() bool { return isBlank(p.text[len(p.text)-1]) }

// clause is of tokens from to to.
func (p *parser) clause(from, to int, open bool) clause {
	return clause{
		parts: p.words[from:to:to], joined: p.joined(from, to), called: p.called(from, to),
		quoted: p.quoted, open: open, placed: from > 0 && model.PlaceOf(p.words[from-1]) != model.NoPlace,
		start: p.tokens[from].start, end: p.tokens[to-1].end,
	}
}

// called is the tokens between two places as a number: outside of quotes without what
// says of which kind it is.
func (p *parser) called(from, to int) called {
	if !p.quoted {
		from += heading(p.words[from:to])
	}
	return call(p.between(from, to), p.words[from:to])
}

// between is the text of tokens from to to.
func (p *parser) between(from, to int) string {
	return p.text[p.tokens[from].start:p.tokens[to-1].end]
}

// chunkEnd is where the words end that no blank stands between, or that mean nothing
// apart.
func (p *parser) chunkEnd(at int) int {
	for at++; at < len(p.tokens); at++ {
		if hasBlank(p.behind(at-1)) && !p.inseparable(at) {
			break
		}
	}
	return at
}

// behind is what stands between a token and the next one: nothing, in ½.
func (p *parser) behind(at int) string {
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
	for i := 0; i < len(p.also); i++ {
		t := p.also[i]
		if p.tokens[at].start <= t.start && t.start < p.tokens[end-1].end && t.end > p.tokens[end-1].end {
			end = p.chunkEnd(p.at(t.end))
			i = -1 // one more may begin in there
		}
	}
	return end
}

// at is the token that ends there.
func (p *parser) at(end int) int {
	for i, t := range p.tokens {
		if t.end >= end {
			return i
		}
	}
	return len(p.tokens) - 1
}

// joined are the spellings as one word of tokens from to to.
func (p *parser) joined(from, to int) []string {
	if to-from < 2 {
		return nil
	}
	var words []string
	for i, t := range p.also {
		if t.start == p.tokens[from].start && t.end == p.tokens[to-1].end {
			words = append(words, p.spells[i])
		}
	}
	return words
}
