package query

import "math/bits"

// WordSet is a bit set of the words of a query, in order. A quoted phrase or a text between two
// blanks counts as one word. The last bit stands for all words from the 64th on.
type WordSet uint64

// Count returns the number of words.
func (w WordSet) Count() int { return bits.OnesCount64(uint64(w)) }

// RequiredWords returns the words that Search requires. Optional words, such as "order" in order
// 2026-0117 and "County" in Wexcombe County, are not included. The set is empty if the query is
// invalid.
func (h *Highlighter) RequiredWords() WordSet { return WordSet(h.required) }

// matchedWords returns the required words that the text matches in any way that Search accepts.
func (m *markScan) matchedWords() WordSet {
	var matched uint64
	for _, k := range m.marks {
		matched |= m.h.targets[k.target].clauses
	}
	return WordSet(matched & m.h.required)
}
