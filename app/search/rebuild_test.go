package search_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
)

// If the change feed no longer contains the next change of an index, the index keeps serving searches,
// and State reports pending changes, until the index is rebuilt.
func TestIndexTooFarBehindServesUntilRebuilt(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.SetMaxFeed(2_000)
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
