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

// If the disk corrupts every index, rebuilds are delayed more and more after the first few. An explicit
// request still starts one immediately.
func TestRepeatedFailuresDelayRebuilds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		batches int // number of batches that succeed before the index fails
	}{
		{"before it is complete", 4},
		{"after it was complete", 9},
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
			var opened int64
			h.wrapIndexes(func(n int64, in search.Index) search.Index {
				opened = n
				batches := 0
				return wrappedIndex{Index: in, apply: func() error {
					if batches++; batches > row.batches {
						return query.ErrDamaged
					}
					return nil
				}}
			})
			h.Start(true)
			wantOpened := func(name string, want int64) {
				t.Helper()
				for range 80 {
					h.put(touch)
					_, _ = h.RunPass(t.Context()) // State reports the result
				}
				if opened != want {
					t.Errorf("%s: opened indexes = %d, want %d", name, opened, want)
				}
				if s, err := h.State(t.Context()); err != nil || !strings.Contains(s.Failure, "deedkeep reindex") {
					t.Errorf("%s: State() = %+v, %v; want a failure with \"deedkeep reindex\"", name, s, err)
				}
			}
			wantOpened("without delay", 4)
			clock.Advance(9 * time.Minute)
			wantOpened("during the first delay", 4)
			clock.Advance(2 * time.Minute)
			wantOpened("after the first delay", 5)
			clock.Advance(11 * time.Minute)
			wantOpened("during the second delay", 5)
			clock.Advance(10 * time.Minute)
			wantOpened("after the second delay", 6)
			h.Rebuild()
			wantOpened("after a request", 10)
			clock.Advance(-48 * time.Hour)
			wantOpened("after the clock is set back", 14)
			clock.Advance(96 * time.Hour)
			wantOpened("after some days", 18)
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
		t.Errorf("State() = %+v, %v; want ready with a failure", s, err)
	}
	h.order("KX200", "", elm("", ""))
	if _, err := h.RunPass(t.Context()); err != nil {
		t.Fatalf("RunPass: %v", err)
	}
	h.wantHits("KX200", "order 2")
}
