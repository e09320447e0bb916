package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"deedkeep/app/model"
)

// Bounds of marking one text.
const (
	MostMarked   = 1 << 20 // bytes that are looked at; nothing is marked behind them
	mostSeen     = 1 << 16 // words of the text that may be part of a mark
	mostAttempts = 16      // numbers that may begin before one ends
	mostGap      = 4       // bytes between the parts of a number
	oftenLooked  = 1 << 12 // steps after which the context is looked at
)

// seen is a word of the text that is one of those looked for.
type seen struct {
	start, end int
	position   uint32
	word       int // of Marker.words
}

// mark is a place that a target stands at.
type mark struct {
	start, end int
	position   uint32
	target     int
}

// attempt is a number of which a beginning was seen.
type attempt struct {
	numeral  int
	matched  int // bytes of it, or parts
	start    int
	end      int
	position uint32
}

// marking is one text on its way.
type marking struct {
	m        *Marker
	s        string
	ctx      context.Context
	steps    int
	ended    bool // ctx has
	seen     []seen
	attempts []attempt
	marks    []mark
}

// marks are those of a text that are worth it, those that begin first first.
func (m *Marker) marks(ctx context.Context, s string) []mark { return m.found(ctx, s).clear() }

// found finds every mark of a text, those that begin first first; none where ctx ended
// before.
func (m *Marker) found(ctx context.Context, s string) *marking {
	if len(m.targets) == 0 {
		return &marking{m: m}
	}
	w := &marking{m: m, s: cut(s, MostMarked), ctx: ctx}
	a := analyser{names: true}
	a.scan(w.s, w.token)
	slices.SortStableFunc(w.seen, func(a, b seen) int { return cmp.Compare(a.position, b.position) })
	for i, t := range m.targets {
		w.find(i, t)
	}
	if w.ended {
		return &marking{m: m}
	}
	slices.SortFunc(w.marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.target, b.target))
	})
	return w
}

// late says whether ctx has ended, after so many steps more; it is looked at only now and
// then.
func (w *marking) late(steps int) bool {
	if w.steps += steps; w.steps >= oftenLooked && !w.ended {
		w.steps, w.ended = 0, w.ctx.Err() != nil
	}
	return w.ended
}

// token looks at a word of the text.
func (w *marking) token(t token) {
	if w.late(1 + len(w.m.begins) + len(w.m.erring) + len(w.m.erringAt)) {
		return
	}
	if !t.also {
		w.number(t)
	}
	if len(w.seen) >= mostSeen {
		return
	}
	if id, found := w.m.ids[string(t.text)]; found {
		w.see(t, id)
	}
	for _, id := range w.m.begins {
		if begin := w.m.words[id]; len(t.text) > len(begin) && string(t.text[:len(begin)]) == begin {
			w.see(t, id)
		}
	}
	for _, id := range w.m.erring {
		if word := w.m.words[id]; isNear(word, string(t.text)) && (len(t.text) > len(word) || len(word) >= leastTypo) {
			w.see(t, id)
		}
	}
	for _, id := range w.m.erringAt {
		if beginsNear(string(t.text), w.m.words[id]) {
			w.see(t, id)
		}
	}
}

func (w *marking) see(t token, id int) {
	w.seen = append(w.seen, seen{start: t.start, end: t.end, position: t.position, word: id})
}

// number looks whether a word goes on with a number, or begins one.
func (w *marking) number(t token) {
	going := w.attempts[:0]
	for _, a := range w.attempts {
		if w.goesOn(&a, t) {
			going = append(going, a)
		}
	}
	w.attempts = going
	for i := range w.m.numbers {
		if !w.m.numbers[i].mayBegin(t.text[0]) {
			continue
		}
		a := attempt{numeral: i, start: t.start, end: t.start, position: t.position}
		if len(w.attempts) < mostAttempts && w.goesOn(&a, t) {
			w.attempts = append(w.attempts, a)
		}
	}
}

// mayBegin says whether a number may begin with a word that begins so.
func (n *numeral) mayBegin(first byte) bool {
	if n.parts != nil {
		return first == n.parts[0][0] || first == '0'
	}
	return first == n.squeezed[0]
}

// goesOn says whether an attempt lives on behind a word. What is whole is a mark.
func (w *marking) goesOn(a *attempt, t token) bool {
	n := &w.m.numbers[a.numeral]
	if gap := w.s[min(a.end, t.start):t.start]; len(gap) > mostGap || strings.Contains(gap, "\n") {
		return false
	}
	a.end = t.end
	if n.parts != nil {
		return w.goesOnIn(a, n, t)
	}
	rest := n.squeezed[a.matched:]
	switch {
	case len(t.text) < len(rest) && string(t.text) == rest[:len(t.text)]:
		a.matched += len(t.text)
		return true
	case string(t.text) == rest, n.open && len(t.text) > len(rest) && string(t.text[:len(rest)]) == rest:
		w.whole(a, n)
		return false
	}
	return a.matched > 0 && model.PlaceOf(t.text) == model.Page // 1022, Page 311
}

// goesOnIn is goesOn for a number in parts.
func (w *marking) goesOnIn(a *attempt, n *numeral, t token) bool {
	part := n.parts[a.matched]
	switch {
	case string(t.text) != part && (!isDigits(part) || string(unpadded(t.text)) != part):
		return a.matched > 0 && model.PlaceOf(string(t.text)) == model.Page
	case a.matched == len(n.parts)-1:
		w.whole(a, n)
		return false
	}
	a.matched++
	return true
}

// whole marks a number that is whole.
func (w *marking) whole(a *attempt, n *numeral) {
	if len(w.marks) < mostSeen {
		w.marks = append(w.marks, mark{start: a.start, end: a.end, position: a.position, target: n.target})
	}
}

// find adds the marks of a target.
func (w *marking) find(number int, t target) {
	if len(t.words) == 0 {
		return // numbers are found word by word
	}
	for i, s := range w.seen {
		if w.late(1) {
			return
		}
		if s.word != t.words[0] {
			continue
		}
		if end, found := w.follow(i, t.words); found && len(w.marks) < 2*mostSeen {
			w.marks = append(w.marks, mark{start: s.start, end: end, position: s.position, target: number})
		}
	}
}

// follow says whether words stand one behind the other from a word on, and where the
// last one ends.
func (w *marking) follow(i int, words []int) (end int, found bool) {
	first := w.seen[i].position
	end = w.seen[i].end
	next := 1
	for j := i + 1; j < len(w.seen) && next < len(words) && !w.late(1); j++ {
		s := w.seen[j]
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

// clear leaves out what is not worth a mark beside the others: faint ones that stand
// alone, beginnings where the word itself stands, small words where others do, and
// second choices where a first one is kept.
func (w *marking) clear() []mark {
	const beside = 1 // positions
	whole := w.wholeWords()
	large := slices.ContainsFunc(w.marks, func(k mark) bool {
		t := w.m.targets[k.target]
		return !t.small && !t.faint && (t.whole == 0 || !whole[t.whole-1])
	})
	keep := func(i int, k mark) bool {
		t := w.m.targets[k.target]
		if t.whole > 0 && whole[t.whole-1] || t.small && large {
			return false
		}
		if t.faint && !w.m.trifles {
			before := i > 0 && k.position-w.marks[i-1].position <= beside
			behind := i+1 < len(w.marks) && w.marks[i+1].position-k.position <= beside
			return before || behind
		}
		return true
	}
	kept, first := w.marks[:0:0], uint64(0)
	for i, k := range w.marks {
		if keep(i, k) {
			kept = append(kept, k)
			if t := w.m.targets[k.target]; !t.second {
				first |= t.of
			}
		}
	}
	return slices.DeleteFunc(kept, func(k mark) bool {
		t := w.m.targets[k.target]
		return t.second && t.of&first != 0
	})
}

// wholeWords are the words that stand in the text as they are typed.
func (w *marking) wholeWords() map[int]bool {
	whole := make(map[int]bool)
	for _, k := range w.marks {
		if t := w.m.targets[k.target]; len(t.words) == 1 && t.whole == 0 {
			whole[t.words[0]] = true
		}
	}
	return whole
}
