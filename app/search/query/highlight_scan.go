package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"deedkeep/app/model"
)

// Limits for highlighting one text.
const (
	MaxHighlightBytes = 1 << 20 // number of bytes at the start of a text that are searched for matches
	maxWordMatches    = 1 << 16 // maximum number of words in a text that match a word of a target
	maxPartialNumbers = 16      // maximum number of partial matches of numbers at any time
	maxNumberGap      = 4       // maximum number of bytes between two parts of a number
	stepsPerCheck     = 1 << 12 // steps between two checks of the context
)

// wordMatch is a word of the text that matches a word of a target.
type wordMatch struct {
	start, end int
	position   uint32
	word       int // index in Highlighter.words
}

// mark is a match of a target.
type mark struct {
	start, end int
	position   uint32
	target     int
}

// partialNumber is a number whose first parts have been matched.
type partialNumber struct {
	pattern  int
	matched  int // number of bytes or parts matched so far
	start    int
	end      int
	position uint32
}

// markScan is the state of a search for the marks of one text.
type markScan struct {
	h        *Highlighter
	s        string
	ctx      context.Context
	steps    int
	ended    bool // the context has ended
	words    []wordMatch
	partials []partialNumber
	marks    []mark
}

// scan returns the state with all marks of a text, ordered by start. If ctx ends first, there are
// no marks.
func (h *Highlighter) scan(ctx context.Context, s string) *markScan {
	if len(h.targets) == 0 {
		return &markScan{h: h}
	}
	w := &markScan{h: h, s: truncate(s, MaxHighlightBytes), ctx: ctx}
	a := analyzer{joinNames: true}
	a.scan(w.s, w.visit)
	slices.SortStableFunc(w.words, func(a, b wordMatch) int { return cmp.Compare(a.position, b.position) })
	for i, t := range h.targets {
		w.matchTarget(i, t)
	}
	if w.ended {
		return &markScan{h: h}
	}
	slices.SortFunc(w.marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.target, b.target))
	})
	return w
}

// canceled counts steps and reports whether the context has ended. It checks the context only every
// stepsPerCheck steps.
func (m *markScan) canceled(steps int) bool {
	if m.steps += steps; m.steps >= stepsPerCheck && !m.ended {
		m.steps, m.ended = 0, m.ctx.Err() != nil
	}
	return m.ended
}

// visit matches a word of the text against the words and numbers of the query.
func (m *markScan) visit(t token) {
	if m.canceled(1 + len(m.h.prefixes) + len(m.h.fuzzyWords) + len(m.h.fuzzyPrefixes)) {
		return
	}
	if !t.variant {
		m.matchNumbers(t)
	}
	if len(m.words) >= maxWordMatches {
		return
	}
	if id, found := m.h.ids[string(t.text)]; found {
		m.addWord(t, id)
	}
	for _, id := range m.h.prefixes {
		if begin := m.h.words[id]; len(t.text) > len(begin) && string(t.text[:len(begin)]) == begin {
			m.addWord(t, id)
		}
	}
	for _, id := range m.h.fuzzyWords {
		if word := m.h.words[id]; isOneEditApart(word, string(t.text)) && (len(t.text) > len(word) || len(word) >= minFuzzyLetters) {
			m.addWord(t, id)
		}
	}
	for _, id := range m.h.fuzzyPrefixes {
		if hasFuzzyPrefix(string(t.text), m.h.words[id]) {
			m.addWord(t, id)
		}
	}
}

func (m *markScan) addWord(t token, id int) {
	m.words = append(m.words, wordMatch{start: t.start, end: t.end, position: t.position, word: id})
}

// matchNumbers extends the partial matches of numbers by a word, and starts new ones with it.
func (m *markScan) matchNumbers(t token) {
	continued := m.partials[:0]
	for _, a := range m.partials {
		if m.extend(&a, t) {
			continued = append(continued, a)
		}
	}
	m.partials = continued
	for i := range m.h.numbers {
		if !m.h.numbers[i].mayStartWith(t.text[0]) {
			continue
		}
		a := partialNumber{pattern: i, start: t.start, end: t.start, position: t.position}
		if len(m.partials) < maxPartialNumbers && m.extend(&a, t) {
			m.partials = append(m.partials, a)
		}
	}
}

// mayStartWith reports whether the number may start with a word whose first byte is first.
func (n *numberPattern) mayStartWith(first byte) bool {
	if n.parts != nil {
		return first == n.parts[0][0] || first == '0'
	}
	return first == n.compact[0]
}

// extend matches the next word of the text against a partial number. It reports whether the number
// can continue after t. A complete number becomes a mark.
func (m *markScan) extend(a *partialNumber, t token) bool {
	n := &m.h.numbers[a.pattern]
	if gap := m.s[min(a.end, t.start):t.start]; len(gap) > maxNumberGap || strings.Contains(gap, "\n") {
		return false
	}
	a.end = t.end
	if n.parts != nil {
		return m.extendParts(a, n, t)
	}
	rest := n.compact[a.matched:]
	switch {
	case len(t.text) < len(rest) && string(t.text) == rest[:len(t.text)]:
		a.matched += len(t.text)
		return true
	case string(t.text) == rest, n.prefix && len(t.text) > len(rest) && string(t.text[:len(rest)]) == rest:
		m.markNumber(a, n)
		return false
	}
	return a.matched > 0 && model.ClassifyWord(t.text) == model.PageWord // skip the word "Page" in 1022, Page 311
}

// extendParts does the same as extend for a numberPattern with parts.
func (m *markScan) extendParts(a *partialNumber, n *numberPattern, t token) bool {
	part := n.parts[a.matched]
	switch {
	case string(t.text) != part && (!isDigits(part) || string(trimZeros(t.text)) != part):
		return a.matched > 0 && model.ClassifyWord(string(t.text)) == model.PageWord
	case a.matched == len(n.parts)-1:
		m.markNumber(a, n)
		return false
	}
	a.matched++
	return true
}

// markNumber adds a mark for a completely matched number.
func (m *markScan) markNumber(a *partialNumber, n *numberPattern) {
	if len(m.marks) < maxWordMatches {
		m.marks = append(m.marks, mark{start: a.start, end: a.end, position: a.position, target: n.target})
	}
}

// matchTarget adds a mark for each occurrence of a target.
func (m *markScan) matchTarget(number int, t target) {
	if len(t.words) == 0 {
		return // numbers are matched by visit
	}
	for i, s := range m.words {
		if m.canceled(1) {
			return
		}
		if s.word != t.words[0] {
			continue
		}
		if end, found := m.matchSequence(i, t.words); found && len(m.marks) < 2*maxWordMatches {
			m.marks = append(m.marks, mark{start: s.start, end: end, position: s.position, target: number})
		}
	}
}

// matchSequence reports whether the words appear consecutively, starting with m.words[i]. end is
// the end of the last one.
func (m *markScan) matchSequence(i int, words []int) (end int, found bool) {
	first := m.words[i].position
	end = m.words[i].end
	next := 1
	for j := i + 1; j < len(m.words) && next < len(words) && !m.canceled(1); j++ {
		s := m.words[j]
		switch want := first + uint32(next); {
		case s.position > want:
			return 0, false
		case s.position == want && s.word == words[next]:
			end = s.end
			next++
		}
	}
	return end, next == len(words)
}

// prune returns the marks to highlight, ordered by start. It omits single characters without an
// adjacent mark, prefixes if the complete word occurs, stop words if there are other marks, and
// fallbacks if their clause has another mark.
func (m *markScan) prune() []mark {
	const maxDistance = 1 // in positions, between adjacent marks
	complete := m.exactWords()
	hasSignificant := slices.ContainsFunc(m.marks, func(k mark) bool {
		t := m.h.targets[k.target]
		return !t.stopWord && !t.needsNeighbor && (t.exactWord == 0 || !complete[t.exactWord-1])
	})
	keep := func(i int, k mark) bool {
		t := m.h.targets[k.target]
		if t.exactWord > 0 && complete[t.exactWord-1] || t.stopWord && hasSignificant {
			return false
		}
		if t.needsNeighbor && !m.h.onlyTrivial {
			before := i > 0 && k.position-m.marks[i-1].position <= maxDistance
			after := i+1 < len(m.marks) && m.marks[i+1].position-k.position <= maxDistance
			return before || after
		}
		return true
	}
	kept, preferred := m.marks[:0:0], uint64(0)
	for i, k := range m.marks {
		if keep(i, k) {
			kept = append(kept, k)
			if t := m.h.targets[k.target]; !t.fallback {
				preferred |= t.clauses
			}
		}
	}
	return slices.DeleteFunc(kept, func(k mark) bool {
		t := m.h.targets[k.target]
		return t.fallback && t.clauses&preferred != 0
	})
}

// exactWords returns the typed words that occur in the text.
func (m *markScan) exactWords() map[int]bool {
	complete := make(map[int]bool)
	for _, k := range m.marks {
		if t := m.h.targets[k.target]; len(t.words) == 1 && t.exactWord == 0 {
			complete[t.words[0]] = true
		}
	}
	return complete
}
