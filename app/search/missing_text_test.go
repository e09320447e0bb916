package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Spans are a set of numbers, whatever comes and goes.
func TestIDRangesBehaveLikeASet(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2))
	var s idRanges
	model := map[uint64]bool{}
	for step := range 5000 {
		id := 1 + chance.Uint64N(200)
		if chance.IntN(5) < 3 {
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

// Too many spans forget no number, and emptied from the front they come to an end.
func TestIDRangesAreBounded(t *testing.T) {
	t.Parallel()
	var s idRanges
	const most = 3 * maxRanges
	for id := uint64(1); id <= 2*most; id += 2 {
		s.add(id)
	}
	if len(s) > maxRanges || s.count() < most {
		t.Fatalf("%d spans of %d numbers", len(s), s.count())
	}
	for id := uint64(1); id <= 2*most; id += 2 {
		if _, has := s.find(id); !has {
			t.Fatalf("%d is forgotten", id)
		}
	}
	steps := 0
	for ; len(s) > 0 && steps < 4*most; steps++ {
		for _, id := range s.first(64) {
			s.remove(id)
		}
	}
	if len(s) > 0 || steps > most {
		t.Errorf("%d spans after %d steps", len(s), steps)
	}
}
