package stats

import "sync/atomic"

// Counters count events by the values of one label.
type Counters map[string]*atomic.Uint64

// NewCounters returns a counter at zero for each value.
func NewCounters(values ...string) Counters {
	c := make(Counters, len(values))
	for _, value := range values {
		c[value] = &atomic.Uint64{}
	}
	return c
}

// Add adds one to the counter of a value, which NewCounters must have named.
func (c Counters) Add(value string) { c[value].Add(1) }

// Read returns the counts by value.
func (c Counters) Read() map[string]uint64 {
	counts := make(map[string]uint64, len(c))
	for value, n := range c {
		counts[value] = n.Load()
	}
	return counts
}
