package stats

import "sync/atomic"

// Counters counts events separately for each value of a label.
type Counters map[string]*atomic.Uint64

// NewCounters returns counters for the given values. They start at zero.
func NewCounters(values ...string) Counters {
	c := make(Counters, len(values))
	for _, value := range values {
		c[value] = &atomic.Uint64{}
	}
	return c
}

// Add adds one to the counter of a value. The value must have been passed to NewCounters.
func (c Counters) Add(value string) { c[value].Add(1) }

// Read returns the current count of each value.
func (c Counters) Read() map[string]uint64 {
	counts := make(map[string]uint64, len(c))
	for value, n := range c {
		counts[value] = n.Load()
	}
	return counts
}
