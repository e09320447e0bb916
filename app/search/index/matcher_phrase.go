package index

import (
	"cmp"
	"slices"

	"deedkeep/app/search/index/segment"
)

// phraseMatcher matches documents in which words appear at consecutive positions. It reads
// positions only of documents that contain all words, one word at a time, the rarest first. So it
// needs memory for segment.MaxPositions positions and as many possible starts.
type phraseMatcher struct {
	matcher   // conjunction of the words
	words     []*phraseWord
	budget    *segment.Budget
	starts    []uint32
	positions []uint32
	started   bool
}

// phraseWord is a distinct word of a phrase.
type phraseWord struct {
	segment.Positions
	cursor  *segment.Cursor
	offsets []uint32 // places of the word in the phrase
}

func (m *phraseMatcher) Next() uint32 { return m.nextMatch(m.matcher.Next()) }

func (m *phraseMatcher) Advance(d uint32) uint32 {
	if m.started && m.Doc() >= d {
		return m.Doc()
	}
	return m.nextMatch(m.matcher.Advance(d))
}

// nextMatch moves from d to the next document that contains the phrase.
func (m *phraseMatcher) nextMatch(d uint32) uint32 {
	m.started = true
	for d != segment.NoMoreDocs && !m.matches() {
		if m.budget.Err() != nil {
			m.matcher = noDocs{} // no further documents
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
		for j, offset := range w.offsets {
			if i+j == 0 {
				m.starts = phraseStarts(m.starts[:0], m.positions, offset)
			} else {
				m.starts = filterStarts(m.starts, m.positions, offset)
			}
			// Count positions, not documents: a few documents may have very many positions.
			if !m.budget.Spend(len(m.positions)+len(m.starts)) || len(m.starts) == 0 {
				return false
			}
		}
	}
	return true
}

// phraseStarts appends the positions at which a phrase with the word at offset may start.
func phraseStarts(starts, positions []uint32, offset uint32) []uint32 {
	for _, p := range positions {
		if p >= offset {
			starts = append(starts, p-offset)
		}
	}
	return starts
}

// filterStarts keeps the starts for which the word is at offset.
func filterStarts(starts, positions []uint32, offset uint32) []uint32 {
	kept, at := starts[:0], 0
	for _, s := range starts {
		want := s + offset
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
