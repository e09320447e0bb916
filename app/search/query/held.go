package query

import (
	"context"
	"math/bits"
)

// Words are those of a query that stand between two blanks, or between quotes, in their
// order: a bit each, the last bit for all behind the 63rd.
type Words uint64

// Count is how many words they are.
func (w Words) Count() int { return bits.OnesCount64(uint64(w)) }

// Asked are the words that Search looks for: without those that may be missing, as order
// in order 2026-0117 and County in Wexcombe County. What refuses a query has none.
func (m *Marker) Asked() Words { return Words(m.asked) }

// Held are the words of Asked that a text holds in any way that a document is found by:
// the text says all that was asked where Held is Asked, and of two texts the one with the
// greater Count says more. None where ctx ends before all of the text was looked at.
func (m *Marker) Held(ctx context.Context, s string) Words {
	var held uint64
	for _, k := range m.found(ctx, s).marks {
		held |= m.targets[k.target].of
	}
	return Words(held & m.asked)
}
