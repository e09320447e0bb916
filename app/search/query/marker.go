package query

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
)

// Piece is a part of a text; Marked says that it is what a query looks for. It is as
// it stands in the text: who shows it escapes it.
type Piece struct {
	Text   string
	Marked bool
}

// What a target is worth to a window: more than many of the next line.
const (
	worthWholeNumber = 400
	worthWholePhrase = 300
	worthWholeWord   = 100
	worthBegunWord   = 80
	worthErringWord  = 60
	worthErringStart = 40
	worthTrifle      = 1 // a single character, or a word of hardly any meaning
)

// Marker knows what to mark for a query. It may be used by several goroutines.
type Marker struct {
	words    []string       // what to look for: words, and beginnings behind them
	ids      map[string]int // of words
	begins   []int          // words that are beginnings
	erring   []int          // words that may have a typing error
	erringAt []int          // words that may have one and begin another
	numbers  []numeral
	targets  []target
	clauses  int    // how many there are so far
	asked    uint64 // those that must not be missing, a bit each
	missing  uint64 // those that records of a county need not have
	trifles  bool   // the query has nothing but single characters, and words that may be missing
	tolerant bool
	alone    bool // the query has one word
	text     string
}

// target is words one behind the other; each is an index of Marker.words.
type target struct {
	words  []int
	worth  int
	of     uint64 // the clauses it stands for, a bit each
	faint  bool   // a single character: worth a mark beside others only
	small  bool   // a word of hardly any meaning: worth a mark where no other is
	second bool   // worth a mark where nothing else of its clauses stands
	whole  int    // of a beginning: the word that is marked instead where it stands, and one more; 0 for none
}

// numeral is a number, however it is punctuated.
type numeral struct {
	squeezed string
	parts    []string // of a number in several parts: without zeros before them, instead of squeezed
	open     bool     // it is the beginning of one
	target   int      // the number of the target it stands for
}

// NewMarker returns the marker of a query's text. It marks the words, beginnings,
// phrases and numbers that Search would find: something in each document that it finds.
// It marks nothing where Search would refuse the text.
func NewMarker(text string) *Marker { return newMarker(text, false) }

// Tolerant returns a marker that marks words with one typing error too: for answers
// that are Fuzzy.
func (m *Marker) Tolerant() *Marker { return newMarker(m.text, true) }

func newMarker(text string, tolerant bool) *Marker {
	m := &Marker{ids: make(map[string]int), tolerant: tolerant, text: text}
	a, err := parse(text, MostText)
	if err != nil {
		return m
	}
	m.alone, m.trifles = a.words == 1, true
	var all []string
	open := false
	for i, g := range a.groups {
		first := m.clauses
		for _, c := range g.clauses {
			m.clause(c)
			all = append(all, c.parts...)
			open = c.open
		}
		if label, _ := before(a.groups[i:]); !label {
			m.asked |= m.since(first)
		}
		m.joined(g.joined, open, m.since(first))
		m.number(g.called, open, m.since(first))
	}
	m.dates(a.dates())
	m.asked &^= m.missing
	if len(a.groups) > 1 || len(a.groups[0].clauses) > 1 {
		m.phrase(all, open, m.since(0))
		m.number(a.called, open, m.since(0))
	}
	return m
}

// since is the bits of the clauses from one on.
func (m *Marker) since(first int) (of uint64) {
	for i := first; i < m.clauses; i++ {
		of |= 1 << min(i, mostClauses-1)
	}
	return of
}

// mostClauses is how many clauses are told apart; those behind them are one.
const mostClauses = 64

// clause adds what is marked for a clause.
func (m *Marker) clause(c clause) {
	m.clauses++
	of := m.since(m.clauses - 1)
	if len(c.place.counties) > 0 {
		m.missing |= of
	}
	m.number(c.called, c.open, of)
	m.joined(c.joined, c.open, of)
	for _, s := range c.spellings {
		m.joined([]string{s.word}, s.open, of)
	}
	for _, state := range c.place.states {
		m.add(target{words: []int{m.word(state)}, worth: worthWholeWord, of: of, second: true})
	}
	for _, parts := range [][]string{c.parts, c.another()} {
		m.together(c, parts, of)
	}
	if len(c.parts) > 1 {
		m.trifles = m.trifles && len(c.apart) > 0
		m.head(c, of)
		if c.quoted || !m.tolerant && len(c.apart) == 0 {
			return
		}
	}
	for i, w := range c.parts {
		m.part(c, w, c.open && i == len(c.parts)-1, of)
	}
}

// together adds words one behind the other, and without the zeros before numbers.
func (m *Marker) together(c clause, parts []string, of uint64) {
	for _, p := range [][]string{parts, c.short(parts)} {
		switch len(p) {
		case 0:
		case 1:
			m.add(target{words: []int{m.word(p[0])}, worth: worthWholeWord, of: of, faint: isSingle(c.parts[0]), small: isSmall(p[0])})
		default:
			m.phrase(p, c.open, of)
		}
	}
}

// head adds what a phrase that is being typed is found by where it does not stand as a
// whole: what is before its last word, and words that begin with that.
func (m *Marker) head(c clause, of uint64) {
	last := len(c.parts) - 1
	if !c.open || c.isNumber() || areSingle(c.parts[:last]) {
		return
	}
	m.add(target{words: m.wordsOf(c.parts[:last]), worth: worthBegunWord, of: of, second: true})
	m.add(target{words: []int{m.beginning(c.parts[last])}, worth: worthBegunWord, of: of, second: true, faint: isSingle(c.parts[last])})
}

// part adds one word of a clause.
func (m *Marker) part(c clause, w string, open bool, of uint64) {
	faint := isSingle(w)
	m.trifles = m.trifles && (faint || model.IsLabel(w) || model.PlaceOf(w) != model.NoPlace || len(c.place.counties) > 0)
	if len(c.parts) > 1 {
		m.add(target{words: []int{m.word(w)}, worth: worthWholeWord, of: of, faint: faint, small: isSmall(w)})
	}
	if open {
		m.add(target{words: []int{m.beginning(w)}, worth: worthBegunWord, of: of, whole: m.word(w) + 1, faint: faint})
		if at := longestStart(w); at < len(w) {
			m.add(target{words: []int{m.beginning(w[:at])}, worth: worthErringStart, of: of, second: true})
		}
	}
	if !m.tolerant || c.quoted || !mayErr(w, m.alone) {
		return
	}
	m.add(target{words: []int{m.another(&m.erring, w)}, worth: worthErringWord, of: of})
	if open {
		m.add(target{words: []int{m.another(&m.erringAt, w)}, worth: worthErringStart, of: of, second: true})
	}
}

// longestStart is where the longest beginning of a word ends that is in the index.
func longestStart(w string) int {
	if s, all := start(w); s != "" && !all {
		return len(s)
	}
	return len(w)
}

// joined adds words that may stand for several.
func (m *Marker) joined(words []string, open bool, of uint64) {
	for _, w := range words {
		m.add(target{words: []int{m.word(w)}, worth: worthWholePhrase, of: of})
		if open {
			m.add(target{words: []int{m.beginning(w)}, worth: worthBegunWord, of: of})
		}
	}
}

// phrase adds words one behind the other.
func (m *Marker) phrase(parts []string, open bool, of uint64) {
	words := m.wordsOf(parts)
	m.add(target{words: words, worth: worthWholePhrase, of: of})
	if open {
		begun := slices.Clone(words)
		begun[len(begun)-1] = m.beginning(parts[len(parts)-1])
		m.add(target{words: begun, worth: worthWholePhrase, of: of, whole: words[len(words)-1] + 1})
	}
}

// number adds what a number may be written as. What has no digits, or hardly any
// characters, is mostly found as words.
func (m *Marker) number(c called, open bool, of uint64) {
	const least = 3 // characters
	if len(c.squeezed) < 2 || len(c.squeezed) > mostRunBytes || isSmall(c.typed) {
		return
	}
	digits := strings.ContainsAny(c.squeezed, "0123456789")
	second := len(c.squeezed) < least || !digits
	add := func(n numeral, second bool) {
		n.target = len(m.targets)
		m.numbers = append(m.numbers, n)
		m.add(target{worth: worthWholeNumber, of: of, second: second})
	}
	add(numeral{squeezed: c.squeezed, open: open}, second)
	if parts := strings.Split(c.plain, "-"); digits && len(parts) > 1 {
		add(numeral{parts: parts}, second)
	}
	if at := longestStart(c.squeezed); open && at < len(c.squeezed) {
		if bits.OnesCount64(of) > 1 { // it need not reach to the last of the words
			of = 0
		}
		add(numeral{squeezed: c.squeezed[:at], open: true}, true)
	}
}

func (m *Marker) add(t target) {
	if t.small || t.faint {
		t.worth = worthTrifle
	}
	m.targets = append(m.targets, t)
}

// isSmall says whether a word means hardly anything without others.
func isSmall(w string) bool {
	switch w {
	case "a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "with":
		return true
	}
	return false
}

// word is the index of a word to look for.
func (m *Marker) word(w string) int {
	id, known := m.ids[w]
	if !known {
		id = len(m.words)
		m.ids[w] = id
		m.words = append(m.words, w)
	}
	return id
}

// wordsOf are the indexes of words.
func (m *Marker) wordsOf(parts []string) []int {
	words := make([]int, len(parts))
	for i, w := range parts {
		words[i] = m.word(w)
	}
	return words
}

// another is the index of a word that is looked for in one of the ways of its own, equal
// ones once.
func (m *Marker) another(way *[]int, w string) int {
	for _, id := range *way {
		if m.words[id] == w {
			return id
		}
	}
	*way = append(*way, len(m.words))
	m.words = append(m.words, w)
	return len(m.words) - 1
}

// beginning is the index of a beginning to look for.
func (m *Marker) beginning(w string) int { return m.another(&m.begins, w) }

// beginsNear says whether a folded word begins with what is one typing error apart from
// another. A word of three letters has lost one.
func beginsNear(word, other string) bool {
	characters := utf8.RuneCountInString(other)
	n, least := 0, characters-1
	if characters < leastTypo {
		least = characters + 1
	}
	for i := range word {
		if n >= least && isNear(word[:i], other) {
			return true
		}
		if n++; n > characters+1 {
			return false
		}
	}
	return n >= least && isNear(word, other)
}

// isNear says whether two folded words are one typing error apart, and not the same.
func isNear(s, t string) bool {
	if len(s) > len(t) {
		s, t = t, s
	}
	if len(t)-len(s) > utf8.UTFMax || s == t {
		return false
	}
	for s != "" {
		a, m := utf8.DecodeRuneInString(s)
		b, n := utf8.DecodeRuneInString(t)
		if a != b {
			break
		}
		s, t = s[m:], t[n:]
	}
	for s != "" {
		a, m := utf8.DecodeLastRuneInString(s)
		b, n := utf8.DecodeLastRuneInString(t)
		if a != b {
			break
		}
		s, t = s[:len(s)-m], t[:len(t)-n]
	}
	p, q := []rune(s), []rune(t)
	return len(p) <= 1 && len(q) <= 1 || len(p) == 2 && len(q) == 2 && p[0] == q[1] && p[1] == q[0]
}
