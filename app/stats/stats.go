// Package stats counts what happens in a running program, for whoever asks: it knows
// neither who that is nor in which form they want it.
//
// It promises that noting costs a few atomic additions and never waits, and that what
// is read is never torn so that a bucket holds more than the whole. It refuses labels:
// what is told apart is counted apart, by whoever knows how many kinds there are.
package stats

import (
	"math"
	"slices"
	"sync/atomic"
)

// Histogram counts values by size. It is safe for many goroutines; a nil one counts
// nothing.
type Histogram struct {
	bounds []float64       // upper, inclusive, ascending
	counts []atomic.Uint64 // of each bound, and of what is above the last
	sum    atomic.Uint64   // bits of a float64
}

// NewHistogram has buckets up to each of the bounds, which ascend, and one for what is
// larger.
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

// Read is a histogram at one moment.
type Read struct {
	Count   uint64
	Sum     float64
	Buckets map[float64]uint64 // by upper bound, how many values were no larger; without the last
}

// Read gives the counts of the moment.
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
