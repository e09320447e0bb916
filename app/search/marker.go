package search

import (
	"slices"
	"strings"
	"unicode/utf8"
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
)

// Marker knows what to mark for a query. It may be used by several goroutines.
type Marker struct {
	words    []string       // what to look for: words, and beginnings behind them
	ids      map[string]int // of words
	begins   []int          // words that are beginnings
	erring   []int          // words that may have a typing error
	numbers  []numeral
	targets  []target
	tolerant bool
	alone    bool // the query has one word
	text     string
}

// target is words one behind the other; each is an index of Marker.words.
type target struct {
	words []int
	worth int
	faint bool // a single character: worth a mark beside others only
	small bool // a word of hardly any meaning: worth a mark where no other is
	whole int  // of a beginning: the word that is marked instead where it stands, and one more; 0 for none
}

// numeral is a number, however it is punctuated.
type numeral struct {
	squeezed string
	open     bool // it is the beginning of one
	target   int  // the number of the target it stands for
}

// NewMarker returns the marker of a query's text. It marks the words, beginnings,
// phrases and numbers that Search would find; nothing where Search would refuse the
// text.
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
	m.alone = a.words == 1
	var all []string
	open := false
	for _, g := range a.groups {
		for _, c := range g.clauses {
			m.clause(c)
			all = append(all, c.parts...)
			open = c.open
		}
		m.joined(g.joined, open)
		m.number(g.called.squeezed, open)
	}
	if len(a.groups) > 1 || len(a.groups[0].clauses) > 1 {
		m.phrase(all, open)
		m.number(a.called.squeezed, open)
	}
	return m
}

// clause adds what is marked for a clause.
func (m *Marker) clause(c clause) {
	m.number(c.called.squeezed, c.open)
	m.joined(c.joined, c.open)
	if paged := c.paged(); paged != nil {
		m.phrase(paged, c.open)
	}
	if len(c.parts) > 1 {
		m.phrase(c.parts, c.open)
		if c.quoted || !m.tolerant {
			return
		}
	}
	for i, w := range c.parts {
		faint := utf8.RuneCountInString(w) == 1
		m.add(target{words: []int{m.word(w)}, worth: worthWholeWord, faint: faint, small: isSmall(w)})
		if c.open && i == len(c.parts)-1 && !faint {
			m.add(target{words: []int{m.beginning(w)}, worth: worthBegunWord, whole: m.word(w) + 1})
		}
		if m.tolerant && !c.quoted && mayErr(w, m.alone) {
			m.erring = append(m.erring, len(m.words))
			m.words = append(m.words, w)
			m.add(target{words: []int{len(m.words) - 1}, worth: worthErringWord})
		}
	}
}

// joined adds words that may stand for several.
func (m *Marker) joined(words []string, open bool) {
	for _, w := range words {
		m.add(target{words: []int{m.word(w)}, worth: worthWholePhrase})
		if open {
			m.add(target{words: []int{m.beginning(w)}, worth: worthBegunWord})
		}
	}
}

// phrase adds words one behind the other.
func (m *Marker) phrase(parts []string, open bool) {
	var words []int
	for _, w := range parts {
		words = append(words, m.word(w))
	}
	m.add(target{words: words, worth: worthWholePhrase})
	if open {
		begun := slices.Clone(words)
		begun[len(begun)-1] = m.beginning(parts[len(parts)-1])
		m.add(target{words: begun, worth: worthWholePhrase, whole: words[len(words)-1] + 1})
	}
}

// number adds a number; words without digits are none.
func (m *Marker) number(squeezed string, open bool) {
	const least = 3 // characters: shorter ones are found as words
	if len(squeezed) < least || len(squeezed) > mostRunBytes || !strings.ContainsAny(squeezed, "0123456789") {
		return
	}
	m.numbers = append(m.numbers, numeral{squeezed: squeezed, open: open, target: len(m.targets)})
	m.add(target{worth: worthWholeNumber})
}

func (m *Marker) add(t target) { m.targets = append(m.targets, t) }

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

// beginning is the index of a beginning to look for.
func (m *Marker) beginning(w string) int {
	for _, id := range m.begins {
		if m.words[id] == w {
			return id
		}
	}
	m.begins = append(m.begins, len(m.words))
	m.words = append(m.words, w)
	return len(m.words) - 1
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
