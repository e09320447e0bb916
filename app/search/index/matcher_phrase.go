package index

import (
	"cmp"
	"slices"

	"deedkeep/app/search/index/segment"
)

// phraseMatcher matches documents that contain words at consecutive positions. It only reads
// positions of documents that contain all words, one word at a time, starting with the rarest. So
// it needs memory only for segment.MaxPositions positions and as many possible starts of the
// phrase.
type phraseMatcher struct {
	matcher   // matches documents that contain all words
	words     []*phraseWord
	together  bool // the words are at the same position
	budget    *segment.Budget
	starts    []uint32
	positions []uint32
	started   bool
}

// phraseWord is a distinct word of a phrase.
type phraseWord struct {
	segment.Positions
	sets    segment.PositionSets // used if the words are together
	cursor  *segment.Cursor
	offsets []uint32 // positions of the word within the phrase
}

// addWord adds a word to the phrase. cursor also iterates over the documents with the word.
func (m *phraseMatcher) addWord(s *segment.Segment, cursor *segment.Cursor, offsets []uint32) {
	w := &phraseWord{cursor: cursor, offsets: offsets}
	w.Open(s, cursor)
	w.sets.Open(s, cursor)
	m.words = append(m.words, w)
}

func (m *phraseMatcher) Next() uint32 { return m.nextMatch(m.matcher.Next()) }

func (m *phraseMatcher) Advance(d uint32) uint32 {
	if m.started && m.Doc() >= d {
		return m.Doc()
	}
	return m.nextMatch(m.matcher.Advance(d))
}

// nextMatch returns the first document, starting with d, that contains the phrase.
func (m *phraseMatcher) nextMatch(d uint32) uint32 {
	m.started = true
	for d != segment.NoMoreDocs && !m.matches() {
		if m.budget.Err() != nil {
			m.matcher = noDocs() // there are no more documents
			return segment.NoMoreDocs
		}
		d = m.matcher.Next()
	}
	return d
}

func (m *phraseMatcher) matches() bool {
	if m.together {
		// Most documents with all words have them at different positions.
		if common := m.commonPositions(); common != segment.LaterPositions {
			return common != 0
		}
	} else {
		slices.SortFunc(m.words, func(a, b *phraseWord) int { return cmp.Compare(a.cursor.Freq(), b.cursor.Freq()) })
	}
	for i, w := range m.words {
		m.positions = w.Read(m.positions[:0])
		for j, offset := range w.offsets {
			if i+j == 0 {
				m.starts = phraseStarts(m.starts[:0], m.positions, offset)
			} else {
				m.starts = filterStarts(m.starts, m.positions, offset)
			}
			// Spend steps by positions, not by documents, because a few documents may have very
			// many positions.
			if !m.budget.Spend(len(m.positions)+len(m.starts)) || len(m.starts) == 0 {
				return false
			}
		}
	}
	return true
}

// commonPositions returns the positions at which the current document has all words.
func (m *phraseMatcher) commonPositions() uint64 {
	common := ^uint64(0)
	for _, w := range m.words {
		if common &= w.sets.Set(); common == 0 {
			break
		}
	}
	return common
}

// phraseStarts appends the positions at which a phrase may start if the word at the given offset
// has these positions.
func phraseStarts(starts, positions []uint32, offset uint32) []uint32 {
	for _, p := range positions {
		if p >= offset {
			starts = append(starts, p-offset)
		}
	}
	return starts
}

// filterStarts removes the starts for which the word is not at the given offset.
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
