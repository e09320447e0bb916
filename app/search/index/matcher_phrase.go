package index

import (
	"cmp"
	"slices"

	"deedkeep/app/search/index/segment"
)

// phraseMatcher is in the documents in which words stand one behind the other. Positions are
// read only where all of the words are, those of one word at a time, the rarest first:
// segment.MostPlaces of them, and as many places where the phrase may begin, are all it holds.
type phraseMatcher struct {
	matcher   // all of the words
	words     []*phraseWord
	budget    *segment.Budget
	starts    []uint32
	positions []uint32
	started   bool
}

// phraseWord is one of the different words of a phrase.
type phraseWord struct {
	segment.Positions
	cursor  *segment.Cursor
	offsets []uint32 // where in the phrase it stands
}

func (m *phraseMatcher) Next() uint32 { return m.nextMatch(m.matcher.Next()) }

func (m *phraseMatcher) Advance(d uint32) uint32 {
	if m.started && m.Doc() >= d {
		return m.Doc()
	}
	return m.nextMatch(m.matcher.Advance(d))
}

// nextMatch goes on from d to where the words stand in order.
func (m *phraseMatcher) nextMatch(d uint32) uint32 {
	m.started = true
	for d != segment.NoMoreDocs && !m.matches() {
		if m.budget.Err() != nil {
			m.matcher = noDocs{} // it is in none any more
			return segment.NoMoreDocs
		}
		d = m.matcher.Next()
	}
	return d
}

func (m *phraseMatcher) matches() bool {
	slices.SortFunc(m.words, func(a, b *phraseWord) int { return cmp.Compare(a.cursor.Freq(), b.cursor.Freq()) })
	for i, w := range m.words {
		m.positions = w.Read(m.positions[:0])
		for j, behind := range w.offsets {
			if i+j == 0 {
				m.starts = phraseStarts(m.starts[:0], m.positions, behind)
			} else {
				m.starts = filterStarts(m.starts, m.positions, behind)
			}
			// Here, not with the documents: a few may have a great many places.
			if !m.budget.Spend(len(m.positions)+len(m.starts)) || len(m.starts) == 0 {
				return false
			}
		}
	}
	return true
}

// phraseStarts appends where what has a word so far behind its beginning may begin.
func phraseStarts(starts, positions []uint32, behind uint32) []uint32 {
	for _, p := range positions {
		if p >= behind {
			starts = append(starts, p-behind)
		}
	}
	return starts
}

// filterStarts keeps those starts that have a position so far behind them.
func filterStarts(starts, positions []uint32, behind uint32) []uint32 {
	kept, at := starts[:0], 0
	for _, s := range starts {
		want := s + behind
		for at < len(positions) && positions[at] < want {
			at++
		}
		if at == len(positions) {
			break
		}
		if positions[at] == want {
			kept = append(kept, s)
		}
	}
	return kept
}
