package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// idRanges behaves like a set if IDs are added and removed at random.
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
			t.Fatalf("step %d: IDs = %v, count %d; want %v", step, got, s.count(), want)
		}
		for i := 1; i < len(s); i++ {
			if s[i][0] <= s[i-1][1]+1 {
				t.Fatalf("step %d: ranges = %v, want a gap between them", step, s)
			}
		}
	}
}

// Merging ranges does not lose any ID. Removing IDs from the front eventually empties the set.
func TestIDRangesAreBounded(t *testing.T) {
	t.Parallel()
	var s idRanges
	const ids = 3 * maxRanges
	for id := uint64(1); id <= 2*ids; id += 2 {
		s.add(id)
	}
	if len(s) > maxRanges || s.count() < ids {
		t.Fatalf("got %d ranges of %d IDs, want at most %d ranges of at least %d", len(s), s.count(), maxRanges, ids)
	}
	for id := uint64(1); id <= 2*ids; id += 2 {
		if _, ok := s.find(id); !ok {
			t.Fatalf("find(%d) = false, want true", id)
		}
	}
	steps := 0
	for ; len(s) > 0 && steps < 4*ids; steps++ {
		for _, id := range s.first(64) {
			s.remove(id)
		}
	}
	if len(s) > 0 || steps > ids {
		t.Errorf("got %d ranges after %d steps, want none after at most %d", len(s), steps, ids)
	}
}
