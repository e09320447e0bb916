package search_test

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// If the disk corrupts every index, rebuilds are delayed more and more after the first few. An
// explicit request starts one immediately.
func TestRepeatedFailuresDelayRebuilds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		goes int // batches before it fails
	}{
		{"before it is whole", 4},
		{"after it was whole", 9},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			clock := vaulttest.NewClock()
			h := open(t, func(o *search.IndexerOptions) { o.Now, o.BatchSize = clock.Now, 1 })
			for range 6 {
				h.order("KX100", "", elm("", ""))
			}
			touch := func(t *store.Tx) error { // a complete index needs a change to apply
				o, err := t.Order(1)
				if err != nil {
					return err
				}
				return t.PutOrder(o)
			}
			var made int64
			h.wrapIndexes(func(n int64, in search.Index) search.Index {
				made = n
				batches := 0
				return wrappedIndex{Index: in, apply: func() error {
					if batches++; batches > row.goes {
						return query.ErrDamaged
					}
					return nil
				}}
			})
			h.Start(true)
			makes := func(what string, want int64) {
				t.Helper()
				for range 80 {
					h.put(touch)
					_, _ = h.RunPass(t.Context()) // State reports the result
				}
				if made != want {
					t.Errorf("%s: %d were made, want %d", what, made, want)
				}
				if s, err := h.State(t.Context()); err != nil || !strings.Contains(s.Failure, "deedkeep reindex") {
					t.Errorf("%s: it says %+v, %v", what, s, err)
				}
			}
			makes("in a row", 4)
			clock.Advance(9 * time.Minute)
			makes("in the first pause", 4)
			clock.Advance(2 * time.Minute)
			makes("after it", 5)
			clock.Advance(11 * time.Minute)
			makes("in the second", 5)
			clock.Advance(10 * time.Minute)
			makes("after that", 6)
			h.Rebuild()
			makes("when it is asked for", 10)
			clock.Advance(-48 * time.Hour)
			makes("with a clock that was set back", 14)
			clock.Advance(96 * time.Hour)
			makes("after some days", 18)
		})
	}
}

// While a rebuild is delayed, the live index is still updated.
func TestLiveIndexIsUpdatedWhileRebuildIsDelayed(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		return wrappedIndex{Index: in, apply: func() error {
			if n > 1 {
				return query.ErrDamaged
			}
			return nil
		}}
	})
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.Rebuild()
	for range 50 {
		_, _ = h.RunPass(t.Context()) // State reports the result
	}
	if s, err := h.State(t.Context()); err != nil || !s.Ready || s.Failure == "" {
		t.Errorf("it says %+v, %v", s, err)
	}
	h.order("KX200", "", elm("", ""))
	if _, err := h.RunPass(t.Context()); err != nil {
		t.Fatalf("RunPass: %v", err)
	}
	h.wantHits("KX200", "order 2")
}
