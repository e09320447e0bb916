package search_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/search"
	"deedkeep/app/store"
)

// The index stops growing before uploads run out of space, and State reports it. Merges stop when less
// than twice the reserve is free.
func TestIndexStopsGrowingAboveReserve(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.catchUp()
	const free = 1 << 30
	h.site.free.Store(free)
	h.site.reserve.Store(free / 4 * 3)
	h.order("A-1", "", elm("", "")) // the database still has space
	if _, err := h.RunPass(t.Context()); errs.KindOf(err) != errs.InsufficientStorage || !strings.Contains(err.Error(), "disk.reserve") {
		t.Errorf("RunPass: got %v, want InsufficientStorage with \"disk.reserve\"", err)
	}
	if h.AllowMerge(0) {
		t.Error("AllowMerge(0) = true below twice the reserve, want false")
	}
	h.site.reserve.Store(free / 4)
	if h.AllowMerge(free/4*3) || !h.AllowMerge(free/8) {
		t.Errorf("AllowMerge(%d) = %v, AllowMerge(%d) = %v; want false, true", free/4*3, h.AllowMerge(free/4*3), free/8, h.AllowMerge(free/8))
	}
	h.catchUp()
	h.wantHits("A-1", "order 1")
}

// Every step of indexing stops while more than one reserve is still free for uploads, and no earlier
// than necessary.
func TestEveryStepStopsAboveReserve(t *testing.T) {
	t.Parallel()
	const reserve = 64 << 20
	for _, row := range []struct {
		name    string
		advance func(h *harness) // brings indexing to this step
	}{
		{"start of a build", func(h *harness) {}},
		{"existing records", func(h *harness) {
			if _, err := h.RunPass(h.t.Context()); err != nil {
				h.t.Fatalf("RunPass: %v", err)
			}
		}},
		{"new changes", func(h *harness) {
			h.catchUp()
			h.order("KX200", "", elm("", ""))
		}},
		{"pending files", func(h *harness) {
			h.catchUp()
			h.put(func(t *store.Tx) error {
				a, err := t.Abstract(1)
				if err != nil {
					return err
				}
				a.County = "Erie"
				return t.PutAbstract(a)
			})
			if _, err := h.RunPass(h.t.Context()); err != nil {
				h.t.Fatalf("RunPass: %v", err)
			}
			if s, err := h.State(h.t.Context()); err != nil || s.PendingChanges != 1 {
				h.t.Fatalf("State() = %+v, %v; want 1 pending change", s, err)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := open(t, smallBatches)
			h.site.reserve.Store(reserve)
			h.order("KX100", "", elm("", ""))
			h.abstract("F-1", elm("Troy", "Rensselaer"), "Deed.pdf")
			row.advance(h)
			h.site.free.Store(2*reserve - 1)
			if _, err := h.RunPass(t.Context()); errs.KindOf(err) != errs.InsufficientStorage {
				t.Errorf("RunPass with less than twice the reserve: got %v, want InsufficientStorage", err)
			}
			if _, err := os.ReadDir(h.site.search("1")); row.name == "start of a build" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("index folder: %v, want that it doesn't exist", err)
			}
			h.site.free.Store(2 * reserve)
			if _, err := h.RunPass(t.Context()); err != nil {
				t.Errorf("RunPass with twice the reserve: %v", err)
			}
			h.catchUp()
			h.wantHits("KX100", "order 1")
		})
	}
}

// A rebuild starts only if there is disk space for two indexes. If space runs out later, the rebuild is
// abandoned, and the live index is still updated.
func TestNewIndexLeavesSpaceForLiveIndex(t *testing.T) {
	t.Parallel()
	const reserve = 64 << 20
	h := open(t, smallBatches)
	h.site.reserve.Store(reserve)
	h.order("KX100", "", elm("", ""))
	h.abstract("F-1", elm("Troy", "Rensselaer"), "Deed.pdf")
	h.catchUp()
	s, err := h.State(t.Context())
	if err != nil || s.Bytes <= 0 {
		t.Fatalf("State() = %+v, %v; want the size of the index", s, err)
	}
	h.site.free.Store(3*reserve + uint64(s.Bytes) - 1)
	message := "The build needs 193 MB (the index plus 3 times disk.reserve), but only 192 MB are free. " +
		"Free up disk space. Or stop the server, delete the folder "
	if err := h.CheckRebuildSpace(); errs.KindOf(err) != errs.InsufficientStorage || !strings.Contains(err.Error(), message) {
		t.Errorf("CheckRebuildSpace without space for two indexes: got %v, want %q", err, message)
	}
	h.Rebuild()
	if _, err := h.await(); errs.KindOf(err) != errs.InsufficientStorage {
		t.Errorf("rebuild without space: got %v, want InsufficientStorage", err)
	}
	h.site.wantEntries(t, 2)

	h.site.free.Store(3*reserve + uint64(s.Bytes))
	if err := h.CheckRebuildSpace(); err != nil {
		t.Errorf("CheckRebuildSpace with space for two indexes: %v", err)
	}
	h.Rebuild()
	if _, err := h.RunPass(t.Context()); err != nil {
		t.Fatalf("RunPass: %v", err)
	}
	h.site.wantEntries(t, 3)
	h.site.free.Store(3*reserve - 1)
	h.order("KX200", "", elm("", ""))
	if _, err := h.await(); errs.KindOf(err) != errs.InsufficientStorage {
		t.Errorf("rebuild that runs out of space: got %v, want InsufficientStorage", err)
	}
	h.site.wantEntries(t, 2)
	for more := true; more; {
		if more, err = h.RunPass(t.Context()); err != nil {
			t.Fatalf("RunPass: %v", err)
		}
	}
	h.wantHits("KX200", "order 2")
	if s, err := h.State(t.Context()); err != nil || s.Building || !s.Ready || s.PendingChanges != 0 || s.Failure != "" {
		t.Errorf("State() = %+v, %v; want ready and up to date, without a build", s, err)
	}
}

// Await returns an error if a rebuild is abandoned. A new request succeeds once there is enough space.
func TestAwaitReportsAbandonedRebuild(t *testing.T) {
	t.Parallel()
	const reserve = 64 << 20
	h := open(t, smallBatches)
	h.site.reserve.Store(reserve)
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
	h.Rebuild()
	gate <- struct{}{} // the build has started
	h.site.free.Store(3*reserve - 1)
	var once sync.Once
	_, err := h.Await(t.Context(), func(uint64, uint64) { once.Do(func() { close(gate) }) })
	if errs.KindOf(err) != errs.InsufficientStorage || !strings.Contains(err.Error(), "enough free space for a new search index") {
		t.Errorf("Await: got %v, want InsufficientStorage with \"enough free space for a new search index\"", err)
	}
	h.wantHits("F-0002", "abstract 3")
	h.site.free.Store(1 << 40)
	h.Rebuild()
	h.catchUp()
	if current, err := os.ReadFile(h.site.search("current")); err != nil || strings.TrimSpace(string(current)) == "1" {
		t.Errorf("current file = %q, %v; want another index than 1", current, err)
	}
}
