package index

import (
	"cmp"
	"slices"

	"deedkeep/app/search/index/segment"
)

// phrase is in the documents in which words stand one behind the other. Positions are
// read only where all of the words are, those of one word at a time, the rarest first:
// segment.MostPlaces of them, and as many places where the phrase may begin, are all it holds.
type phrase struct {
	matcher // all of the words
	words   []*phraseWord
	watch   *segment.Watch
	starts  []uint32
	list    []uint32
	begun   bool
}

// phraseWord is one of the different words of a phrase.
type phraseWord struct {
	segment.Places
	cursor *segment.Cursor
	behind []uint32 // where in the phrase it stands
}

func (m *phrase) Next() uint32 { return m.stand(m.matcher.Next()) }

func (m *phrase) Advance(d uint32) uint32 {
	if m.begun && m.Doc() >= d {
		return m.Doc()
	}
	return m.stand(m.matcher.Advance(d))
}

// stand goes on from d to where the words stand in order.
func (m *phrase) stand(d uint32) uint32 {
	m.begun = true
	for d != segment.None && !m.stands() {
		if m.watch.Err() != nil {
			m.matcher = nothing{} // it is in none any more
			return segment.None
		}
		d = m.matcher.Next()
	}
	return d
}

func (m *phrase) stands() bool {
	slices.SortFunc(m.words, func(a, b *phraseWord) int { return cmp.Compare(a.cursor.Often(), b.cursor.Often()) })
	for i, w := range m.words {
		m.list = w.Read(m.list[:0])
		for j, behind := range w.behind {
			if i+j == 0 {
				m.starts = begin(m.starts[:0], m.list, behind)
			} else {
				m.starts = follow(m.starts, m.list, behind)
			}
			// Here, not with the documents: a few may have a great many places.
			if !m.watch.Work(len(m.list)+len(m.starts)) || len(m.starts) == 0 {
				return false
			}
		}
	}
	return true
}

// begin appends where what has a word so far behind its beginning may begin.
func begin(starts, positions []uint32, behind uint32) []uint32 {
	for _, p := range positions {
		if p >= behind {
			starts = append(starts, p-behind)
		}
	}
	return starts
}

// follow keeps those starts that have a position so far behind them.
func follow(starts, positions []uint32, behind uint32) []uint32 {
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
