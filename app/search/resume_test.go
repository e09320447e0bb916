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
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

var errKilled = errors.New("killed")

// killedIndex applies a number of batches and then fails, as if the process had been killed.
type killedIndex struct {
	search.Index
	left *atomic.Int64 // number of batches left
}

func (k killedIndex) Apply(ctx context.Context, b *query.Batch, checkpoint []byte) error {
	if k.left.Add(-1) < 0 {
		return errKilled
	}
	return k.Index.Apply(ctx, b, checkpoint)
}

// If indexing is interrupted after any batch, it resumes. The results are the same as without an
// interruption.
func TestIndexingResumesAfterInterruption(t *testing.T) {
	t.Parallel()
	s := newSite(t, smallBatches)
	h := s.open(t)
	h.addSampleRecords()
	h.closeAll()
	want := s.searchRebuilt(t)
	if want["26-0003"] != "order 4" || want["plat"] == "" || want["bk103 pg7"] == "" {
		t.Errorf("hits = %v, want those of the sample records", want)
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
			t.Fatalf("Await: %v", err)
		}
		if complete {
			if got := h.searchAll(); !maps.Equal(got, want) {
				t.Errorf("hits after %d interruptions = %v, want %v", runs, got, want)
			}
		}
		h.closeAll()
	}
	if runs < 20 {
		t.Errorf("runs = %d, want at least 20", runs)
	}

	// Updates with changes are interrupted after up to two batches.
	for run := range 8 {
		h := s.open(t)
		var left atomic.Int64
		left.Store(int64(run % 3))
		h.wrapIndexes(func(_ int64, in search.Index) search.Index { return killedIndex{in, &left} })
		for n := range 3 {
			h.order(fmt.Sprintf("26-1%d%d", run, n), "", elm("Troy", ""))
		}
		h.put(func(t *store.Tx) error {
			o, err := t.OrderIncludingTrash(uint64(run/2 + 1))
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
		t.Errorf("hits = %v, want %v", got, want)
	}
}
