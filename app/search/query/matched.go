package query

import (
	"context"
	"math/bits"
)

// WordSet is a set of the words of a query, in order, one bit each. A quoted phrase and text
// between two blanks are one word. The last bit stands for all words from the 64th on.
type WordSet uint64

// Count returns the number of words.
func (w WordSet) Count() int { return bits.OnesCount64(uint64(w)) }

// RequiredWords returns the words that Search requires, without optional ones such as "order" in
// order 2026-0117 and "County" in Wexcombe County. It is empty for an invalid query.
func (h *Highlighter) RequiredWords() WordSet { return WordSet(h.required) }

// MatchedWords returns the required words that a text contains in any way in which Search finds
// documents. If it equals RequiredWords, the text has all that was typed. It is empty if ctx ends
// before the complete text was examined.
func (h *Highlighter) MatchedWords(ctx context.Context, s string) WordSet {
	var held uint64
	for _, k := range h.scan(ctx, s).marks {
		held |= h.targets[k.target].clauses
	}
	return WordSet(held & h.required)
}
