package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// idRanges behaves like a set when IDs are added and removed at random.
func TestIDRangesBehaveLikeASet(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var s idRanges
	model := map[uint64]bool{}
	for step := range 5000 {
		id := 1 + rng.Uint64N(200)
		if rng.IntN(5) < 3 {
			s.add(id)
			model[id] = true
		} else {
			s.remove(id)
			delete(model, id)
		}
		var want []uint64
		for id := range model {
			want = append(want, id)
		}
		slices.Sort(want)
		if got := s.first(1000); !slices.Equal(got, want) || s.count() != uint64(len(want)) {
			t.Fatalf("step %d: %v, want %v", step, got, want)
		}
		for at := 1; at < len(s); at++ {
			if s[at][0] <= s[at-1][1]+1 {
				t.Fatalf("step %d: %v", step, s)
			}
		}
	}
}

// Merging ranges loses no ID, and removing IDs from the front empties the set.
func TestIDRangesAreBounded(t *testing.T) {
	t.Parallel()
	var s idRanges
	const ids = 3 * maxRanges
	for id := uint64(1); id <= 2*ids; id += 2 {
		s.add(id)
	}
	if len(s) > maxRanges || s.count() < ids {
		t.Fatalf("%d spans of %d numbers", len(s), s.count())
	}
	for id := uint64(1); id <= 2*ids; id += 2 {
		if _, has := s.find(id); !has {
			t.Fatalf("%d is forgotten", id)
		}
	}
	steps := 0
	for ; len(s) > 0 && steps < 4*ids; steps++ {
		for _, id := range s.first(64) {
			s.remove(id)
		}
	}
	if len(s) > 0 || steps > ids {
		t.Errorf("%d spans after %d steps", len(s), steps)
	}
}
