package search_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/index"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
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

// Indexed changes are trimmed in bounded commits. If the feed is too short for an index, the index is
// rebuilt.
func TestFeedIsTrimmedAfterIndexing(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.catchUp()
	h.SetFeed(1000, 400)
	h.orders(500)
	h.catchUp()
	if from, to := h.feed(); from != 401 || to != 500 {
		t.Errorf("feed = changes %d to %d, want 401 to 500", from, to)
	}
	h.orders(10)
	h.put(func(tx *store.Tx) error { _, err := tx.TrimChanges(505, 999); return err })
	if s := h.catchUp(); s.Documents != 510 {
		t.Errorf("State() = %+v, want 510 documents", s)
	}
	h.wantHits("T-503", "order 503")
}

// feed returns the numbers of the first and the last change in the feed.
func (h *harness) feed() (first, last uint64) {
	h.t.Helper()
	err := h.store.View(h.t.Context(), func(t *store.Tx) error { first, last = t.FirstChange(), t.LastChange(); return nil })
	if err != nil {
		h.t.Fatalf("view store: %v", err)
	}
	return first, last
}

// orders adds n orders in one commit.
func (h *harness) orders(n int) {
	h.t.Helper()
	h.put(func(tx *store.Tx) (err error) {
		for range n {
			id, e := tx.NewOrderID()
			err = errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: "T-" + strconv.FormatUint(id, 10), Status: "active",
				CreatedAt: time.Unix(int64(id), 0).UTC()}))
		}
		return err
	})
}

// If indexing fails, each pass trims the feed to its limit, regardless of how many changes were made
// since the last pass.
func TestFeedOfFailingIndexIsBounded(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		return wrappedIndex{Index: in, apply: func() error {
			if n == 1 && len(in.Checkpoint()) > 0 {
				return errDisk
			}
			return nil
		}}
	})
	h.catchUp()
	const limit, batch = 10, 40
	h.SetFeed(limit, batch)
	h.orders(900)
	if _, err := h.RunPass(t.Context()); !errors.Is(err, errDisk) {
		t.Fatalf("RunPass: got %v, want %v", err, errDisk)
	}
	if from, to := h.feed(); to != 900 || to-from >= limit+batch {
		t.Errorf("feed = changes %d to %d, want fewer than %d up to 900", from, to, limit+batch)
	}
	if s := h.catchUp(); s.Documents != 900 { // the index was rebuilt because the feed was too short
		t.Errorf("State() = %+v, want 900 documents", s)
	}
}
