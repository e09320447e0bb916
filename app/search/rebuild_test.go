package search_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// If the change feed no longer contains the next change of an index, the index keeps serving searches,
// and State reports pending changes, until the index is rebuilt.
func TestIndexTooFarBehindServesUntilRebuilt(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.SetFeed(2_000, 4_096)
	h.orders(9_000)
	passes, maxPending := 0, uint64(0)
	for more := true; more; passes++ {
		var err error
		if more, err = h.RunPass(t.Context()); err != nil || passes == 100 {
			t.Fatalf("RunPass %d: %v, want the end within 100 passes", passes, err)
		}
		h.wantHits("KX100", "order 1")
		s, err := h.State(t.Context())
		if err != nil || !s.Ready || s.Failure != "" || s.Complete() != (s.Documents == 9_001) {
			t.Fatalf("pass %d: State() = %+v, %v; want ready, complete only with 9001 documents", passes, s, err)
		}
		maxPending = max(maxPending, s.PendingChanges)
	}
	if s := h.catchUp(); s.Documents != 9_001 || maxPending == 0 {
		t.Errorf("State() = %+v, at most %d pending changes; want 9001 documents, more than 0", s, maxPending)
	}
	h.site.wantEntries(t, 2)
}

// Deleting the folder repeatedly is not counted as a failure, so rebuilds are not delayed.
func TestFolderMayBeDeletedRepeatedly(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	for range 8 {
		if err := os.RemoveAll(h.site.search()); err != nil {
			t.Fatalf("remove directory: %v", err)
		}
		h.catchUp()
		h.wantHits("KX100", "order 1")
	}
}

// If a write fails because the disk or quota is full, the rebuild is abandoned, even if the disk
// reported free space. The live index is kept.
func TestDiskFullErrorAbandonsRebuild(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.order("KX100", "", elm("", ""))
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		if n == 1 {
			return in
		}
		return wrappedIndex{Index: in, apply: func() error { return &os.PathError{Op: "write", Path: "x", Err: errDiskFull} }}
	})
	h.catchUp()
	h.Rebuild()
	if _, err := h.await(); errs.KindOf(err) != errs.InsufficientStorage {
		t.Errorf("rebuild on a full disk: got %v, want InsufficientStorage", err)
	}
	h.site.wantEntries(t, 2)
	h.wantHits("KX100", "order 1")
	if s, err := h.State(t.Context()); err != nil || !s.Ready || s.Building || s.Failure != "" {
		t.Errorf("State() = %+v, %v; want ready, without a build or failure", s, err)
	}
}

// Files and folders in the search folder with a higher number than the live index do not interrupt
// searches.
func TestUnknownFoldersAreIgnored(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.closeAll()
	if err := errors.Join(os.WriteFile(s.search("2"), nil, 0o600), os.MkdirAll(filepath.Join(s.search("9"), "manifest"), 0o700)); err != nil {
		t.Fatalf("write file: %v", err)
	}
	h = s.open(t)
	defer h.closeAll()
	if _, err := h.RunPass(t.Context()); err != nil {
		t.Fatalf("RunPass: %v", err)
	}
	h.wantHits("KX100", "order 1")
	h.Rebuild()
	h.catchUp()
	h.wantHits("KX100", "order 1")
	s.wantEntries(t, 2)
}

// If a pass that was already running when Rebuild was called fails, the failure is not reported.
func TestRebuildIgnoresEarlierFailure(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	applying, gate := make(chan struct{}), make(chan struct{})
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		if n > 1 {
			return in
		}
		return wrappedIndex{Index: in, apply: func() error {
			if len(in.Checkpoint()) == 0 {
				return nil
			}
			applying <- struct{}{}
			<-gate
			return errDisk
		}}
	})
	h.catchUp()
	h.serve()
	h.order("KX100", "", elm("", ""))
	<-applying
	h.Rebuild()
	close(gate)
	go func() {
		for range applying { // the old index is tried again
		}
	}()
	h.catchUp()
	h.wantHits("KX100", "order 1")
	h.stop()
	h.ended.Wait()
	close(applying)
}

// If the index is unavailable, the search error says whether one is being built.
func TestSearchReportsWhyIndexIsUnavailable(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	defer h.closeAll()
	wantError := func(want string) {
		t.Helper()
		_, err := h.Search(t.Context(), query.Query{Text: "KX100"})
		if errs.KindOf(err) != errs.Unavailable || err.Error() != want {
			t.Errorf("Search: got %v, want %q", err, want)
		}
	}
	wantError("The search index is being rebuilt. Try again soon.")
	if err := os.WriteFile(s.search(), nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	h.serve()
	h.waitFailure(true)
	wantError("Search isn't available, and the search index can't be rebuilt now. Administrators can see the reason in Settings.")
}

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
