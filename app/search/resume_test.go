package search_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync/atomic"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/store"
)

var errKilled = errors.New("killed")

// killedIndex accepts left batches and then fails, as if the process had been killed.
type killedIndex struct {
	search.Index
	left *atomic.Int64
}

func (m killedIndex) Apply(ctx context.Context, b search.Batch, mark []byte) error {
	if m.left.Add(-1) < 0 {
		return errKilled
	}
	return m.Index.Apply(ctx, b, mark)
}

// Interrupted at any batch, indexing resumes and ends with the same results as an index built in one
// go.
func TestIndexingResumesAfterInterruption(t *testing.T) {
	t.Parallel()
	s := newSite(t, smallBatches)
	h := s.open(t)
	h.addSampleRecords()
	h.closeAll()
	want := s.searchRebuilt(t)
	if want["26-0003"] != "order 4" || want["plat"] == "" || want["bk103 pg7"] == "" {
		t.Errorf("answers %v", want)
	}
	if err := os.RemoveAll(s.search()); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	runs := 0
	for complete := false; !complete; runs++ {
		h := s.open(t)
		var left atomic.Int64
		left.Store(1)
		h.wrapIndexes(func(_ int64, in search.Index) search.Index { return killedIndex{in, &left} })
		_, err := h.await()
		if complete = err == nil; !complete && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if complete {
			if got := h.searchAll(); !maps.Equal(got, want) {
				t.Errorf("made in pieces it answers %v, want %v", got, want)
			}
		}
		h.closeAll()
	}
	if runs < 20 {
		t.Errorf("it took %d lives", runs)
	}

	// The same for changes: one per run, and then more than fit in a batch.
	for life := range 8 {
		h := s.open(t)
		var left atomic.Int64
		left.Store(int64(life % 3))
		h.wrapIndexes(func(_ int64, in search.Index) search.Index { return killedIndex{in, &left} })
		for n := range 3 {
			h.order(fmt.Sprintf("26-1%d%d", life, n), "", elm("Troy", ""))
		}
		h.put(func(t *store.Tx) error {
			o, err := t.OrderIncludingTrash(uint64(life/2 + 1))
			if err != nil {
				return err
			}
			o.Trashed = &model.Trashed{At: testTime, By: model.SystemActor()}
			return t.PutOrder(o)
		})
		if _, err := h.await(); err != nil && !errors.Is(err, errKilled) {
			t.Fatalf("await: %v", err)
		}
		h.closeAll()
	}
	h = s.open(t)
	h.catchUp()
	got := h.searchAll()
	h.closeAll()
	if want := s.searchRebuilt(t); !maps.Equal(got, want) {
		t.Errorf("it answers %v, want %v", got, want)
	}
}
