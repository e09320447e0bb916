package search_test

import (
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"deedkeep/app/search"
	"deedkeep/app/search/query"
)

// During a rebuild, the old index serves searches and is updated with new changes.
func TestOldIndexServesUntilNewOneIsComplete(t *testing.T) {
	t.Parallel()
	h := open(t, smallBatches)
	h.addSampleRecords()
	gate := make(chan struct{})
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		if n == 1 {
			return in
		}
		return wrappedIndex{Index: in, apply: func() error { <-gate; return nil }}
	})
	h.catchUp()
	h.serve()
	want := h.searchAll()
	h.Rebuild()
	for step := range 5 {
		gate <- struct{}{}
		if got := h.searchAll(); !maps.Equal(got, want) {
			t.Errorf("hits after %d batches = %v, want %v", step, got, want)
		}
		s, err := h.State(t.Context())
		if err != nil || !s.Ready || !s.Building || s.Total != 24 {
			t.Errorf("State() = %+v, %v; want ready and building, with a total of 24", s, err)
		}
	}
	h.order("99-1", "", elm("", ""))
	close(gate)
	h.catchUp()
	h.wantHits("99-1", "order 7")
	h.site.wantEntries(t, 2)
}

// Await returns only after the rebuilt index is complete, even if the first attempt to build it failed.
func TestFailedRebuildRestarts(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	var opened atomic.Int64
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		opened.Store(n)
		return wrappedIndex{Index: in, apply: func() error {
			if n == 2 {
				return query.ErrDamaged
			}
			return nil
		}}
	})
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.Rebuild()
	h.catchUp()
	h.wantHits("KX100", "order 1")
	current, err := os.ReadFile(h.site.search("current"))
	if err != nil || strings.TrimSpace(string(current)) == "1" || opened.Load() != 3 {
		t.Errorf("current file = %q, %v, after %d indexes were opened; want another index than 1 after 3", current, err, opened.Load())
	}
}
