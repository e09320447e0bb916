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

// An index is put in force, and whoever waits for it is told so, though records are
// written faster than it follows.
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

// An index whose disk fails does not keep another from being made in its place.
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

// One that cannot even be opened is replaced when somebody asks for it, or after some
// tries, and not before.
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
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil { // no folder to open
		t.Fatal(err)
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

// What the disk refuses search after search is made anew.
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
	refused := 0
	for ; refused < 100; refused++ {
		if _, err := h.query(query.Query{Text: "KX100"}); errs.KindOf(err) == errs.Unavailable {
			break
		}
	}
	if refused == 0 || refused == 100 {
		t.Errorf("it is given up after %d searches", refused)
	}
	h.catchUp()
	h.wantHits("KX100", "order 1")
}

// picky is an index that does not take one order.
type picky struct{ search.Index }

type pickyBatch struct {
	search.Batch
	bad bool
}

func (p picky) Batch() search.Batch { return &pickyBatch{Batch: p.Index.Batch()} }

func (b *pickyBatch) Put(d query.Document) error {
	b.bad = b.bad || d.ID == 3
	return b.Batch.Put(d)
}

func (p picky) Apply(ctx context.Context, b search.Batch, mark []byte) error {
	if of, is := b.(*pickyBatch); is {
		if of.bad {
			return fmt.Errorf("apply batch: %w", index.ErrTerm)
		}
		b = of.Batch
	}
	return p.Index.Apply(ctx, b, mark)
}

// A record that the index refuses is left out and named in the log; the others are in.
func TestRejectedRecordIsSkipped(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := open(t, func(o *search.IndexerOptions) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	h.wrapIndexes(func(_ int64, in search.Index) search.Index { return picky{in} })
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

// A try to begin that the disk does not let through leaves nothing behind.
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

// An error of the disk under the index stops it with a reason that whoever asks is
// told; records are taken all the while, and found when it is over.
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

// What is written is found within two seconds, of which a batch and its sync have half a
// second.
func TestChangesAreSearchableSoon(t *testing.T) {
	if search.MaxDelay >= 1500*time.Millisecond {
		t.Errorf("it waits %v", search.MaxDelay)
	}
}
