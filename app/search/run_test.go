package search_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search"
	"deedkeep/app/search/index"
	"deedkeep/app/search/query"
)

// A new index goes live, and Await returns, even if records are written faster than they are indexed.
func TestIndexGoesLiveDuringConstantWrites(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	writes := 0
	h.wrapIndexes(func(_ int64, in search.Index) search.Index {
		return wrappedIndex{Index: in, apply: func() error {
			writes++
			if writes > 100 {
				return errors.New("indexing doesn't end")
			}
			h.order(fmt.Sprint("W-", writes), "", elm("", ""))
			return nil
		}}
	})
	h.order("FIRST-1", "", elm("", ""))
	for range 2 {
		s, err := h.await()
		if err != nil || !s.Ready || s.Building {
			t.Fatalf("Await() = %+v, %v; want ready, without a build", s, err)
		}
		h.wantHits("FIRST-1", "order 1")
		h.Rebuild()
	}
}

// If the live index has disk errors, its replacement is still built.
func TestFailedIndexIsReplaced(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	var fails atomic.Bool
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		if n > 1 {
			return in
		}
		return wrappedIndex{Index: in, apply: func() error {
			if fails.Load() {
				return errDisk
			}
			return nil
		}}
	})
	h.catchUp()
	fails.Store(true)
	h.order("KX100", "", elm("", ""))
	if _, err := h.await(); !errors.Is(err, errDisk) {
		t.Fatalf("Await: got %v, want %v", err, errDisk)
	}
	h.Rebuild()
	h.catchUp()
	h.wantHits("KX100", "order 1")
}

// An index that cannot be opened is replaced if a rebuild is requested or after several attempts, but
// not earlier.
func TestUnopenableIndexIsReplaced(t *testing.T) {
	t.Parallel()
	t.Run("automatically", func(t *testing.T) { t.Parallel(); testUnopenableIndex(t, false) })
	t.Run("on request", func(t *testing.T) { t.Parallel(); testUnopenableIndex(t, true) })
}

// testUnopenableIndex checks after how many attempts an index that cannot be opened is replaced.
// request says whether a rebuild is requested.
func testUnopenableIndex(t *testing.T, request bool) {
	t.Helper()
	s := newSite(t, nil)
	h := s.open(t)
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.closeAll()
	folder := s.search("1")
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil { // replace the folder by a file
		t.Fatalf("replace index by a file: %v", err)
	}
	h = s.open(t)
	defer h.closeAll()
	attempts := 0
	for ; attempts < 20; attempts++ {
		if _, err := h.await(); err == nil {
			break
		}
		if request {
			h.Rebuild()
		}
	}
	if want := map[bool]int{true: 1, false: 5}[request]; attempts != want {
		t.Errorf("attempts before the index is replaced = %d, want %d", attempts, want)
	}
	h.catchUp()
	h.wantHits("KX100", "order 1")
	s.wantEntries(t, 2)
}

// An index is rebuilt after repeated read errors.
func TestUnreadableIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		if n > 1 {
			return in
		}
		return wrappedIndex{Index: in, search: func() error { return errDisk }}
	})
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	searches := 0
	for ; searches < 100; searches++ {
		if _, err := h.query(query.Query{Text: "KX100"}); errs.KindOf(err) == errs.Unavailable {
			break
		}
	}
	if searches == 0 || searches == 100 {
		t.Errorf("searches before the index is unavailable = %d, want 1 to 99", searches)
	}
	h.catchUp()
	h.wantHits("KX100", "order 1")
}

// rejectingIndex rejects batches that contain order 3.
type rejectingIndex struct {
	search.Index
	t *testing.T
}

func (r rejectingIndex) Apply(ctx context.Context, b *query.Batch, checkpoint []byte) error {
	scratch, err := query.Open(r.t.TempDir(), query.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = scratch.Close() }()
	if err := scratch.Apply(ctx, b, nil); err != nil {
		return err
	}
	if result, err := scratch.Search(ctx, query.Query{Text: "KCX100", Limit: 1}); err != nil || len(result.Hits) > 0 {
		return errors.Join(fmt.Errorf("apply batch: %w", index.ErrTerm), err)
	}
	return r.Index.Apply(ctx, b, checkpoint)
}

// If the index rejects a record, the record is skipped and logged. All other records are indexed.
func TestRejectedRecordIsSkipped(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := open(t, func(o *search.IndexerOptions) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	h.wrapIndexes(func(_ int64, in search.Index) search.Index { return rejectingIndex{in, t} })
	for n := range 6 {
		h.order(fmt.Sprintf("K%cX100", 'A'+n), "", elm("", ""))
	}
	if s := h.catchUp(); s.Documents != 5 {
		t.Errorf("State() = %+v, want 5 documents", s)
	}
	h.wantHits("KBX100", "order 2")
	h.wantHits("KFX100", "order 6")
	if !strings.Contains(log.String(), "id=3") {
		t.Errorf("log = %s, want \"id=3\" in it", &log)
	}
	h.order("QQZ77", "", elm("", ""))
	h.catchUp()
	h.wantHits("QQZ77", "order 7")
}

// A build that fails to start does not leave a folder.
func TestFailedBuildStartLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *search.IndexerOptions) {
		o.Open = func(dir string, opts query.Options) (search.Index, error) {
			in, err := search.OpenIndex(dir, opts)
			if err != nil {
				return nil, err
			}
			return nil, errors.Join(errDisk, in.Close())
		}
	})
	h := s.open(t)
	defer h.closeAll()
	for range 3 {
		if _, err := h.await(); !errors.Is(err, errDisk) {
			t.Fatalf("Await: got %v, want %v", err, errDisk)
		}
	}
	s.wantEntries(t, 0)
}

// A disk error stops indexing and is reported. Records can still be written. They become searchable
// once the error is resolved.
func TestDiskErrorStopsOnlyIndexing(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	var fails atomic.Bool
	h.wrapIndexes(func(_ int64, in search.Index) search.Index {
		return wrappedIndex{Index: in, apply: func() error {
			if fails.Load() {
				return errDisk
			}
			return nil
		}}
	})
	h.serve()
	h.catchUp()
	fails.Store(true)
	h.order("KX100", "", elm("", ""))
	if s := h.waitFailure(true); !s.Ready || s.PendingChanges != 1 || !strings.Contains(s.Failure, "input/output error") {
		t.Errorf("State() = %+v, want ready with 1 pending change and the failure", s)
	}
	h.order("KX200", "", elm("", ""))
	if _, err := h.await(); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("Await: got %v, want Unavailable", err)
	}
	fails.Store(false)
	h.Wake()
	h.wantHitsSoon("KX200", "order 2")
	h.wantHitsSoon("KX100", "order 1")
	h.waitFailure(false)
}

// Changes are searchable within a second. Some of that is left to apply and sync a batch.
func TestChangesAreSearchableSoon(t *testing.T) {
	if search.MaxDelay > 800*time.Millisecond {
		t.Errorf("MaxDelay = %v, want at most 800ms", search.MaxDelay)
	}
}
