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

// A new index goes live, and Await returns, although records are written faster than they are indexed.
func TestIndexGoesLiveDuringConstantWrites(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	writes := 0
	h.wrapIndexes(func(_ int64, in search.Index) search.Index {
		return wrappedIndex{Index: in, apply: func() error {
			writes++
			if writes > 100 {
				return errors.New("it never ends")
			}
			h.order(fmt.Sprint("W-", writes), "", elm("", ""))
			return nil
		}}
	})
	h.order("FIRST-1", "", elm("", ""))
	for range 2 {
		s, err := h.await()
		if err != nil || !s.Ready || s.Building {
			t.Fatalf("%+v, %v", s, err)
		}
		h.wantHits("FIRST-1", "order 1")
		h.Rebuild()
	}
}

// An index with disk errors does not prevent building its replacement.
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
		t.Fatalf("it says %v", err)
	}
	h.Rebuild()
	h.catchUp()
	h.wantHits("KX100", "order 1")
}

// An index that cannot be opened is replaced on request or after several attempts, not earlier.
func TestUnopenableIndexIsReplaced(t *testing.T) {
	t.Parallel()
	t.Run("by itself", func(t *testing.T) { t.Parallel(); unopenable(t, false) })
	t.Run("when it is asked for", func(t *testing.T) { t.Parallel(); unopenable(t, true) })
}

func unopenable(t *testing.T, renew bool) {
	t.Helper()
	s := newSite(t, nil)
	h := s.open(t)
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.closeAll()
	folder := s.search("1")
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil { // a file instead of a folder
		t.Fatalf("remove directory: %v", err)
	}
	h = s.open(t)
	defer h.closeAll()
	tries := 0
	for ; tries < 20; tries++ {
		if _, err := h.await(); err == nil {
			break
		}
		if renew {
			h.Rebuild()
		}
	}
	if want := map[bool]int{true: 1, false: 5}[renew]; tries != want {
		t.Errorf("it is replaced after %d tries, want %d", tries, want)
	}
	h.catchUp()
	h.wantHits("KX100", "order 1")
	s.wantEntries(t, 2)
}

// An index with repeated read errors is rebuilt.
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
	rejected := 0
	for ; rejected < 100; rejected++ {
		if _, err := h.query(query.Query{Text: "KX100"}); errs.KindOf(err) == errs.Unavailable {
			break
		}
	}
	if rejected == 0 || rejected == 100 {
		t.Errorf("it is given up after %d searches", rejected)
	}
	h.catchUp()
	h.wantHits("KX100", "order 1")
}

// pickyIndex rejects one order.
type pickyIndex struct{ search.Index }

type pickyBatch struct {
	search.Batch
	bad bool
}

func (p pickyIndex) Batch() search.Batch { return &pickyBatch{Batch: p.Index.Batch()} }

func (b *pickyBatch) Put(d query.Document) error {
	b.bad = b.bad || d.ID == 3
	return b.Batch.Put(d)
}

func (p pickyIndex) Apply(ctx context.Context, b search.Batch, mark []byte) error {
	if of, is := b.(*pickyBatch); is {
		if of.bad {
			return fmt.Errorf("apply batch: %w", index.ErrTerm)
		}
		b = of.Batch
	}
	return p.Index.Apply(ctx, b, mark)
}

// A record that the index rejects is skipped and logged; all others are indexed.
func TestRejectedRecordIsSkipped(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := open(t, func(o *search.IndexerOptions) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	h.wrapIndexes(func(_ int64, in search.Index) search.Index { return pickyIndex{in} })
	for n := range 6 {
		h.order(fmt.Sprintf("K%cX100", 'A'+n), "", elm("", ""))
	}
	if s := h.catchUp(); s.Documents != 5 {
		t.Errorf("%+v", s)
	}
	h.wantHits("KBX100", "order 2")
	h.wantHits("KFX100", "order 6")
	if !strings.Contains(log.String(), "id=3") {
		t.Errorf("the log says %s", &log)
	}
	h.order("QQZ77", "", elm("", ""))
	h.catchUp()
	h.wantHits("QQZ77", "order 7")
}

// A build that cannot start leaves no folder.
func TestFailedBuildStartLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *search.IndexerOptions) {
		o.Open = func(dir string, set query.Options) (search.Index, error) {
			in, err := search.OpenIndex(dir, set)
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
			t.Fatalf("it says %v", err)
		}
	}
	s.wantEntries(t, 0)
}

// A disk error stops indexing and is reported. Records can still be written, and are searchable once
// the error is gone.
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
	if s := h.failed(true); !s.Ready || s.PendingChanges != 1 || !strings.Contains(s.Failure, "input/output error") {
		t.Errorf("%+v", s)
	}
	h.order("KX200", "", elm("", ""))
	if _, err := h.await(); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("whoever waits is told %v", err)
	}
	fails.Store(false)
	h.Wake()
	h.wantHitsSoon("KX200", "order 2")
	h.wantHitsSoon("KX100", "order 1")
	h.failed(false)
}

// Changes are searchable within two seconds; half a second of that is left for a batch and its sync.
func TestChangesAreSearchableSoon(t *testing.T) {
	if search.MaxDelay >= 1500*time.Millisecond {
		t.Errorf("it waits %v", search.MaxDelay)
	}
}
