package stats_test

import (
	"maps"
	"math"
	"sync"
	"testing"

	"deedkeep/app/stats"
)

func TestHistogram(t *testing.T) {
	h := stats.NewHistogram(1, 2.5, 10)
	if got := h.Read(); got.Count != 0 || got.Sum != 0 || !maps.Equal(got.Buckets, map[float64]uint64{1: 0, 2.5: 0, 10: 0}) {
		t.Errorf("a new one has %+v", got)
	}
	for _, v := range []float64{0, 1, 1.5, 2.5, 9, 10.5, math.Inf(1)} {
		h.Note(v)
	}
	got := h.Read()
	if want := (map[float64]uint64{1: 2, 2.5: 4, 10: 5}); got.Count != 7 || !math.IsInf(got.Sum, 1) || !maps.Equal(got.Buckets, want) {
		t.Errorf("got %+v, want 7 in %v", got, want)
	}
}

func TestNoHistogram(t *testing.T) {
	var none *stats.Histogram
	none.Note(1)
	if got := none.Read(); got.Count != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestHistogramOfMany(t *testing.T) {
	const hands, each = 8, 1000
	h := stats.NewHistogram(0.25, 0.5)
	var all sync.WaitGroup
	for range hands {
		all.Go(func() {
			for range each {
				h.Note(0.5)
			}
		})
	}
	all.Wait()
	if got := h.Read(); got.Count != hands*each || got.Sum != hands*each/2 || got.Buckets[0.25] != 0 || got.Buckets[0.5] != hands*each {
		t.Errorf("got %+v", got)
	}
}
