package query

import (
	"context"
	"math/bits"
)

// WordSet are those of a query that stand between two blanks, or between quotes, in their
// order: a bit each, the last bit for all behind the 63rd.
type WordSet uint64

// Count is how many words they are.
func (w WordSet) Count() int { return bits.OnesCount64(uint64(w)) }

// RequiredWords are the words that Search looks for: without those that may be missing, as order
// in order 2026-0117 and County in Wexcombe County. What refuses a query has none.
func (m *Highlighter) RequiredWords() WordSet { return WordSet(m.required) }

// MatchedWords are the words of Asked that a text holds in any way that a document is found by:
// the text says all that was asked where Held is Asked, and of two texts the one with the
// greater Count says more. None where ctx ends before all of the text was looked at.
func (m *Highlighter) MatchedWords(ctx context.Context, s string) WordSet {
	var held uint64
	for _, k := range m.scan(ctx, s).marks {
		held |= m.targets[k.target].clauses
	}
	return WordSet(held & m.required)
}
