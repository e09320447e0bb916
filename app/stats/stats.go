// Package stats counts events in a running program.
//
// Observing a value costs a few atomic additions and never blocks, and a snapshot never has more values in a bucket
// than in total. There are no labels: use one Histogram for each label value.
package stats

import (
	"math"
	"slices"
	"sync/atomic"
)

// Histogram counts values by size. It is safe for concurrent use; a nil one ignores all values.
type Histogram struct {
	bounds []float64       // upper bounds, inclusive, ascending
	counts []atomic.Uint64 // for each bound, and for values above the last
	sum    atomic.Uint64   // bits of a float64
}

// NewHistogram returns a histogram with a bucket for each upper bound, which must ascend, and one for larger values.
func NewHistogram(bounds ...float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Note counts a value.
func (h *Histogram) Note(value float64) {
	if h == nil {
		return
	}
	at, _ := slices.BinarySearch(h.bounds, value)
	h.counts[at].Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+value)) {
			return
		}
	}
}

// Read is a snapshot of a histogram.
type Read struct {
	Count   uint64
	Sum     float64
	Buckets map[float64]uint64 // by upper bound, the number of values up to it; without the last bucket
}

// Read returns a snapshot.
func (h *Histogram) Read() Read {
	if h == nil {
		return Read{}
	}
	r := Read{Sum: math.Float64frombits(h.sum.Load()), Buckets: make(map[float64]uint64, len(h.bounds))}
	for i := range h.counts {
		r.Count += h.counts[i].Load()
		if i < len(h.bounds) {
			r.Buckets[h.bounds[i]] = r.Count
		}
	}
	return r
}
