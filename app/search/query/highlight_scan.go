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
func (w *markScan) canceled(steps int) bool {
	if w.steps += steps; w.steps >= stepsPerCheck && !w.ended {
		w.steps, w.ended = 0, w.ctx.Err() != nil
	}
	return w.ended
}

// visit matches a word of the text against the words and numbers of the query.
func (w *markScan) visit(t token) {
	if w.canceled(1 + len(w.h.prefixes) + len(w.h.fuzzyWords) + len(w.h.fuzzyPrefixes)) {
		return
	}
	if !t.variant {
		w.matchNumbers(t)
	}
	if len(w.words) >= maxWordMatches {
		return
	}
	if id, found := w.h.ids[string(t.text)]; found {
		w.addWord(t, id)
	}
	for _, id := range w.h.prefixes {
		if begin := w.h.words[id]; len(t.text) > len(begin) && string(t.text[:len(begin)]) == begin {
			w.addWord(t, id)
		}
	}
	for _, id := range w.h.fuzzyWords {
		if word := w.h.words[id]; isOneEditApart(word, string(t.text)) && (len(t.text) > len(word) || len(word) >= minFuzzyLetters) {
			w.addWord(t, id)
		}
	}
	for _, id := range w.h.fuzzyPrefixes {
		if hasFuzzyPrefix(string(t.text), w.h.words[id]) {
			w.addWord(t, id)
		}
	}
}

func (w *markScan) addWord(t token, id int) {
	w.words = append(w.words, wordMatch{start: t.start, end: t.end, position: t.position, word: id})
}

// matchNumbers extends the partial matches of numbers by a word, and starts new ones with it.
func (w *markScan) matchNumbers(t token) {
	continued := w.partials[:0]
	for _, a := range w.partials {
		if w.extend(&a, t) {
			continued = append(continued, a)
		}
	}
	w.partials = continued
	for i := range w.h.numbers {
		if !w.h.numbers[i].mayStartWith(t.text[0]) {
			continue
		}
		a := partialNumber{pattern: i, start: t.start, end: t.start, position: t.position}
		if len(w.partials) < maxPartialNumbers && w.extend(&a, t) {
			w.partials = append(w.partials, a)
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
func (w *markScan) extend(a *partialNumber, t token) bool {
	n := &w.h.numbers[a.pattern]
	if gap := w.s[min(a.end, t.start):t.start]; len(gap) > maxNumberGap || strings.Contains(gap, "\n") {
		return false
	}
	a.end = t.end
	if n.parts != nil {
		return w.extendParts(a, n, t)
	}
	rest := n.compact[a.matched:]
	switch {
	case len(t.text) < len(rest) && string(t.text) == rest[:len(t.text)]:
		a.matched += len(t.text)
		return true
	case string(t.text) == rest, n.prefix && len(t.text) > len(rest) && string(t.text[:len(rest)]) == rest:
		w.markNumber(a, n)
		return false
	}
	return a.matched > 0 && model.ClassifyWord(t.text) == model.PageWord // skip the word "Page" in 1022, Page 311
}

// extendParts does the same as extend for a numberPattern with parts.
func (w *markScan) extendParts(a *partialNumber, n *numberPattern, t token) bool {
	part := n.parts[a.matched]
	switch {
	case string(t.text) != part && (!isDigits(part) || string(trimZeros(t.text)) != part):
		return a.matched > 0 && model.ClassifyWord(string(t.text)) == model.PageWord
	case a.matched == len(n.parts)-1:
		w.markNumber(a, n)
		return false
	}
	a.matched++
	return true
}

// markNumber adds a mark for a completely matched number.
func (w *markScan) markNumber(a *partialNumber, n *numberPattern) {
	if len(w.marks) < maxWordMatches {
		w.marks = append(w.marks, mark{start: a.start, end: a.end, position: a.position, target: n.target})
	}
}

// matchTarget adds a mark for each occurrence of a target.
func (w *markScan) matchTarget(number int, t target) {
	if len(t.words) == 0 {
		return // numbers are matched by visit
	}
	for i, s := range w.words {
		if w.canceled(1) {
			return
		}
		if s.word != t.words[0] {
			continue
		}
		if end, found := w.matchSequence(i, t.words); found && len(w.marks) < 2*maxWordMatches {
			w.marks = append(w.marks, mark{start: s.start, end: end, position: s.position, target: number})
		}
	}
}

// matchSequence reports whether the words appear consecutively, starting with w.words[i]. end is
// the end of the last one.
func (w *markScan) matchSequence(i int, words []int) (end int, found bool) {
	first := w.words[i].position
	end = w.words[i].end
	next := 1
	for j := i + 1; j < len(w.words) && next < len(words) && !w.canceled(1); j++ {
		s := w.words[j]
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
func (w *markScan) prune() []mark {
	const maxDistance = 1 // in positions, between adjacent marks
	complete := w.exactWords()
	hasSignificant := slices.ContainsFunc(w.marks, func(k mark) bool {
		t := w.h.targets[k.target]
		return !t.stopWord && !t.needsNeighbor && (t.exactWord == 0 || !complete[t.exactWord-1])
	})
	keep := func(i int, k mark) bool {
		t := w.h.targets[k.target]
		if t.exactWord > 0 && complete[t.exactWord-1] || t.stopWord && hasSignificant {
			return false
		}
		if t.needsNeighbor && !w.h.onlyTrivial {
			before := i > 0 && k.position-w.marks[i-1].position <= maxDistance
			after := i+1 < len(w.marks) && w.marks[i+1].position-k.position <= maxDistance
			return before || after
		}
		return true
	}
	kept, preferred := w.marks[:0:0], uint64(0)
	for i, k := range w.marks {
		if keep(i, k) {
			kept = append(kept, k)
			if t := w.h.targets[k.target]; !t.fallback {
				preferred |= t.clauses
			}
		}
	}
	return slices.DeleteFunc(kept, func(k mark) bool {
		t := w.h.targets[k.target]
		return t.fallback && t.clauses&preferred != 0
	})
}

// exactWords returns the typed words that occur in the text.
func (w *markScan) exactWords() map[int]bool {
	complete := make(map[int]bool)
	for _, k := range w.marks {
		if t := w.h.targets[k.target]; len(t.words) == 1 && t.exactWord == 0 {
			complete[t.words[0]] = true
		}
	}
	return complete
}
