// Package stats counts events in a running process.
//
// Recording a value takes a few atomic additions and never blocks. In a snapshot, the
// buckets never contain more values than the total count. There are no labels, so use a
// separate Histogram for each label value.
package stats

import (
	"math"
	"slices"
	"sync/atomic"
)

// Histogram counts values by size. It is safe for concurrent use. A nil Histogram ignores
// all values.
type Histogram struct {
	bounds []float64       // inclusive upper bounds, ascending
	counts []atomic.Uint64 // number of values per bound, and of values above the last bound
	sum    atomic.Uint64   // bits of a float64
}

// NewHistogram returns a histogram with a bucket for each upper bound and one for larger
// values. The bounds must be in ascending order.
func NewHistogram(bounds ...float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Note adds a value to the histogram.
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

// Snapshot is a snapshot of a histogram.
type Snapshot struct {
	Count   uint64
	Sum     float64
	Buckets map[float64]uint64 // number of values less than or equal to each upper bound; doesn't include the last bucket
}

// Read returns a snapshot of the histogram.
func (h *Histogram) Read() Snapshot {
	if h == nil {
		return Snapshot{}
	}
	r := Snapshot{Sum: math.Float64frombits(h.sum.Load()), Buckets: make(map[float64]uint64, len(h.bounds))}
	for i := range h.counts {
		r.Count += h.counts[i].Load()
		if i < len(h.bounds) {
			r.Buckets[h.bounds[i]] = r.Count
		}
	}
	return r
}
