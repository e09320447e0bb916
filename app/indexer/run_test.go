package indexer_test

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

	"deedkeep/app/indexer"
	"deedkeep/app/postings"
	"deedkeep/app/search"
	"deedkeep/app/title"
)

// An index is put in force, and whoever waits for it is told so, though records are
// written faster than it follows.
func TestAnIndexIsWholeWhileRecordsAreWritten(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	writes := 0
	h.meddle(func(_ int64, in indexer.Index) indexer.Index {
		return meddled{Index: in, apply: func() error {
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
		h.finds("FIRST-1", "order 1")
		h.Renew()
	}
}

// An index whose disk fails does not keep another from being made in its place.
func TestAnIndexThatFailsIsReplaced(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	var fails atomic.Bool
	h.meddle(func(n int64, in indexer.Index) indexer.Index {
		if n > 1 {
			return in
		}
		return meddled{Index: in, apply: func() error {
			if fails.Load() {
				return errDisk
			}
			return nil
		}}
	})
	h.indexes()
	fails.Store(true)
	h.order("KX100", "", elm("", ""))
	if _, err := h.await(); !errors.Is(err, errDisk) {
		t.Fatalf("it says %v", err)
	}
	h.Renew()
	h.indexes()
	h.finds("KX100", "order 1")
}

// One that cannot even be opened is replaced when somebody asks for it, and not before.
func TestAnIndexThatCannotBeOpenedIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.order("KX100", "", elm("", ""))
	h.indexes()
	h.shut()
	folder := s.search("1")
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil { // no folder to open
		t.Fatal(err)
	}
	h = s.open(t)
	defer h.shut()
	if _, err := h.await(); err == nil {
		t.Fatal("a folder that cannot be read is no reason to throw an index away")
	}
	h.Renew()
	h.indexes()
	h.finds("KX100", "order 1")
	s.holds(t, 2)
}

// What the disk refuses search after search is made anew.
func TestAnIndexThatCannotBeReadIsMadeAnew(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.meddle(func(n int64, in indexer.Index) indexer.Index {
		if n > 1 {
			return in
		}
		return meddled{Index: in, search: func() error { return errDisk }}
	})
	h.order("KX100", "", elm("", ""))
	h.indexes()
	refused := 0
	for ; refused < 100; refused++ {
		if _, err := h.asked(search.Query{Text: "KX100"}); title.KindOf(err) == title.Closing {
			break
		}
	}
	if refused == 0 || refused == 100 {
		t.Errorf("it is given up after %d searches", refused)
	}
	h.indexes()
	h.finds("KX100", "order 1")
}

// picky is an index that does not take one order.
type picky struct{ indexer.Index }

type pickyBatch struct {
	indexer.Batch
	bad bool
}

func (p picky) Batch() indexer.Batch { return &pickyBatch{Batch: p.Index.Batch()} }

func (b *pickyBatch) Put(d search.Document) error {
	b.bad = b.bad || d.ID == 3
	return b.Batch.Put(d)
}

func (p picky) Apply(ctx context.Context, b indexer.Batch, mark []byte) error {
	if of, is := b.(*pickyBatch); is {
		if of.bad {
			return fmt.Errorf("apply batch: %w", postings.ErrTerm)
		}
		b = of.Batch
	}
	return p.Index.Apply(ctx, b, mark)
}

// A record that the index refuses is left out and named in the log; the others are in.
func TestARecordThatIsRefusedStopsNothing(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := open(t, func(o *indexer.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	h.meddle(func(_ int64, in indexer.Index) indexer.Index { return picky{in} })
	for n := range 6 {
		h.order(fmt.Sprintf("K%cX100", 'A'+n), "", elm("", ""))
	}
	if s := h.indexes(); s.Documents != 5 {
		t.Errorf("%+v", s)
	}
	h.finds("KBX100", "order 2")
	h.finds("KFX100", "order 6")
	if !strings.Contains(log.String(), "id=3") {
		t.Errorf("the log says %s", &log)
	}
	h.order("QQZ77", "", elm("", ""))
	h.indexes()
	h.finds("QQZ77", "order 7")
}

// A try to begin that the disk does not let through leaves nothing behind.
func TestABeginningThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *indexer.Options) {
		o.Open = func(dir string, set search.Options) (indexer.Index, error) {
			in, err := indexer.Words(dir, set)
			if err != nil {
				return nil, err
			}
			return nil, errors.Join(errDisk, in.Close())
		}
	})
	h := s.open(t)
	defer h.shut()
	for range 3 {
		if _, err := h.await(); !errors.Is(err, errDisk) {
			t.Fatalf("it says %v", err)
		}
	}
	s.holds(t, 0)
}

// An error of the disk under the index stops it with a reason that whoever asks is
// told; records are taken all the while, and found when it is over.
func TestADiskThatFailsStopsTheIndexAlone(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	var fails atomic.Bool
	h.meddle(func(_ int64, in indexer.Index) indexer.Index {
		return meddled{Index: in, apply: func() error {
			if fails.Load() {
				return errDisk
			}
			return nil
		}}
	})
	h.serve()
	h.indexes()
	fails.Store(true)
	h.order("KX100", "", elm("", ""))
	state := func(stopped bool) indexer.State {
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			s, err := h.State(t.Context())
			if err != nil || time.Now().After(end) {
				t.Fatalf("%+v, %v", s, err)
			}
			if stopped == (s.Failed != "") {
				return s
			}
		}
	}
	if s := state(true); !s.Ready || s.Behind != 1 || !strings.Contains(s.Failed, "input/output error") {
		t.Errorf("%+v", s)
	}
	h.order("KX200", "", elm("", ""))
	if _, err := h.await(); title.KindOf(err) != title.Closing {
		t.Errorf("whoever waits is told %v", err)
	}
	fails.Store(false)
	h.Poke()
	h.findsSoon("KX200", "order 2")
	h.findsSoon("KX100", "order 1")
	state(false)
}

// What is written is found within two seconds, of which a batch and its sync have half a
// second.
func TestItFollowsSoon(t *testing.T) {
	if indexer.Soon >= 1500*time.Millisecond {
		t.Errorf("it waits %v", indexer.Soon)
	}
}
