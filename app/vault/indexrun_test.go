package vault_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"deedkeep/app/postings"
	"deedkeep/app/search"
	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// meddled is an index that does something else first where it is told of a batch, or
// asked.
type meddled struct {
	vault.WordIndex
	apply, search func() error
}

func (m meddled) Apply(ctx context.Context, b vault.WordBatch, mark []byte) error {
	if m.apply != nil {
		if err := m.apply(); err != nil {
			return err
		}
	}
	return m.WordIndex.Apply(ctx, b, mark)
}

func (m meddled) Search(ctx context.Context, q search.Query) (search.Answer, error) {
	if m.search != nil {
		if err := m.search(); err != nil {
			return search.Answer{}, err
		}
	}
	return m.WordIndex.Search(ctx, q)
}

// meddle wraps the indexes by their number, the first of which is 1.
func meddle(v *vault.Vault, wrap func(number int64, in vault.WordIndex) vault.WordIndex) {
	var opened atomic.Int64
	v.WrapWords(func(in vault.WordIndex) vault.WordIndex { return wrap(opened.Add(1), in) })
}

var errDisk = &os.PathError{Op: "read", Path: "x", Err: errors.New("input/output error")}

// An index is put in force, and whoever waits for it is told so, though records are
// written faster than it follows.
func TestAnIndexIsWholeWhileRecordsAreWritten(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	writes := 0
	meddle(v, func(_ int64, in vault.WordIndex) vault.WordIndex {
		return meddled{WordIndex: in, apply: func() error {
			writes++
			if writes > 100 {
				return errors.New("it never ends")
			}
			order(t, v, fmt.Sprint("W-", writes), "", "", elm("", ""))
			return nil
		}}
	})
	order(t, v, "FIRST-1", "", "", elm("", ""))
	for range 2 {
		s, err := v.AwaitIndex(t.Context(), func(uint64, uint64) {})
		if err != nil || !s.Ready || s.Building {
			t.Fatalf("%+v, %v", s, err)
		}
		finds(t, v, "FIRST-1", "order 1")
		if err := v.Reindex(t.Context(), clerk); err != nil {
			t.Fatal(err)
		}
	}
}

// An index whose disk fails does not keep another from being made in its place.
func TestAnIndexThatFailsIsReplaced(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	var fails atomic.Bool
	meddle(v, func(n int64, in vault.WordIndex) vault.WordIndex {
		if n > 1 {
			return in
		}
		return meddled{WordIndex: in, apply: func() error {
			if fails.Load() {
				return errDisk
			}
			return nil
		}}
	})
	indexes(t, v)
	fails.Store(true)
	order(t, v, "KX100", "", "", elm("", ""))
	if _, err := v.AwaitIndex(t.Context(), func(uint64, uint64) {}); !errors.Is(err, errDisk) {
		t.Fatalf("it says %v", err)
	}
	if err := v.Reindex(t.Context(), clerk); err != nil {
		t.Fatal(err)
	}
	indexes(t, v)
	finds(t, v, "KX100", "order 1")
}

// One that cannot even be opened is replaced when somebody asks for it, and not before.
func TestAnIndexThatCannotBeOpenedIsReplaced(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v := closing(t, opts)
	order(t, v, "KX100", "", "", elm("", ""))
	indexes(t, v)
	shut(t, v)
	folder := filepath.Join(opts.Dir, "search", "1")
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil { // no folder to open
		t.Fatal(err)
	}
	v = closing(t, opts)
	defer shut(t, v)
	if _, err := v.AwaitIndex(t.Context(), func(uint64, uint64) {}); err == nil {
		t.Fatal("a folder that cannot be read is no reason to throw an index away")
	}
	if err := v.Reindex(t.Context(), clerk); err != nil {
		t.Fatal(err)
	}
	indexes(t, v)
	finds(t, v, "KX100", "order 1")
	if entries, err := os.ReadDir(filepath.Join(opts.Dir, "search")); err != nil || len(entries) != 2 {
		t.Errorf("search holds %v, %v", entries, err)
	}
}

// What the disk refuses search after search is made anew.
func TestAnIndexThatCannotBeReadIsMadeAnew(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	meddle(v, func(n int64, in vault.WordIndex) vault.WordIndex {
		if n > 1 {
			return in
		}
		return meddled{WordIndex: in, search: func() error { return errDisk }}
	})
	order(t, v, "KX100", "", "", elm("", ""))
	indexes(t, v)
	refused := 0
	for ; refused < 100; refused++ {
		if _, err := asked(t, v, "KX100"); title.KindOf(err) == title.Closing {
			break
		}
	}
	if refused == 0 || refused == 100 {
		t.Errorf("it is given up after %d searches", refused)
	}
	indexes(t, v)
	finds(t, v, "KX100", "order 1")
}

// Whoever asked for a new index is told that it is whole only when one is, though the
// first one broke.
func TestANewIndexThatBreaksIsBegunAgain(t *testing.T) {
	t.Parallel()
	v, opts := opened(t, nil)
	var made atomic.Int64
	meddle(v, func(n int64, in vault.WordIndex) vault.WordIndex {
		made.Store(n)
		return meddled{WordIndex: in, apply: func() error {
			if n == 2 {
				return search.ErrDamaged
			}
			return nil
		}}
	})
	order(t, v, "KX100", "", "", elm("", ""))
	indexes(t, v)
	if err := v.Reindex(t.Context(), clerk); err != nil {
		t.Fatal(err)
	}
	indexes(t, v)
	finds(t, v, "KX100", "order 1")
	if current, err := os.ReadFile(filepath.Join(opts.Dir, "search", "current")); err != nil || strings.TrimSpace(string(current)) == "1" || made.Load() != 3 {
		t.Errorf("%q answers after %d were made, %v", current, made.Load(), err)
	}
}

// picky is an index that does not take one order.
type picky struct{ vault.WordIndex }

type pickyBatch struct {
	vault.WordBatch
	bad bool
}

func (p picky) Batch() vault.WordBatch { return &pickyBatch{WordBatch: p.WordIndex.Batch()} }

func (b *pickyBatch) Put(d search.Document) error {
	b.bad = b.bad || d.ID == 3
	return b.WordBatch.Put(d)
}

func (p picky) Apply(ctx context.Context, b vault.WordBatch, mark []byte) error {
	if of, is := b.(*pickyBatch); is {
		if of.bad {
			return fmt.Errorf("apply batch: %w", postings.ErrTerm)
		}
		b = of.WordBatch
	}
	return p.WordIndex.Apply(ctx, b, mark)
}

// A record that the index refuses is left out and named in the log; the others are in.
func TestARecordThatIsRefusedStopsNothing(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	v, _ := opened(t, func(o *vault.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	meddle(v, func(_ int64, in vault.WordIndex) vault.WordIndex { return picky{in} })
	for n := range 6 {
		order(t, v, fmt.Sprintf("K%cX100", 'A'+n), "", "", elm("", ""))
	}
	if s := indexes(t, v); s.Documents != 5 {
		t.Errorf("%+v", s)
	}
	finds(t, v, "KBX100", "order 2")
	finds(t, v, "KFX100", "order 6")
	if !strings.Contains(log.String(), "id=3") {
		t.Errorf("the log says %s", &log)
	}
	order(t, v, "QQZ77", "", "", elm("", ""))
	indexes(t, v)
	finds(t, v, "QQZ77", "order 7")
}

// A try to begin that the disk does not let through leaves nothing behind.
func TestABeginningThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v := closing(t, opts)
	defer shut(t, v)
	v.FailOpenWords(errDisk)
	for range 3 {
		if _, err := v.AwaitIndex(t.Context(), func(uint64, uint64) {}); !errors.Is(err, errDisk) {
			t.Fatalf("it says %v", err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(opts.Dir, "search")); err != nil || len(entries) > 0 {
		t.Errorf("search holds %v, %v", entries, err)
	}
}

// To look at an index that nobody has open changes nothing in it.
func TestLookingWritesNothing(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v := closing(t, opts)
	order(t, v, "KX100", "", "", elm("", ""))
	indexes(t, v)
	shut(t, v)
	dir := filepath.Join(opts.Dir, "search", "1")
	left := filepath.Join(dir, "manifest.new")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	v = closing(t, opts)
	defer shut(t, v)
	if s, err := v.SearchState(t.Context()); err != nil || !s.Ready || s.Documents != 1 || s.Segments != 1 || s.Bytes == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Error("it was swept")
	}
}

// Whoever leaves before the answer is no trouble of ours.
func TestASearchThatIsLeftIsCountedSo(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	indexes(t, v)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := v.Search(ctx, clerk, vault.SearchQuery{Text: "troy"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("said %v", err)
	}
	n, err := v.Numbers(t.Context())
	if err != nil || n.Searches["left"] != 1 || n.Searches["trouble"] != 0 {
		t.Errorf("%v, %v", n.Searches, err)
	}
}

// The index and the records agree about what a filter means: the county, however it is written.
func TestFiltersCompareInOneWay(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	order(t, v, "KX100", "", "", elm("Las Cruces", "Doña Ana"))
	indexes(t, v)
	for county, want := range map[string]int{"DOÑA ana": 1, "Dona Ana": 1, " Doña  Ana County": 1, "Doña": 0, "Anna": 0} {
		page, err := v.Search(t.Context(), clerk, vault.SearchQuery{Text: "KX100", County: county})
		if err != nil || len(page.Hits) != want || page.Counts["order"] != want {
			t.Errorf("%q: %d hits, counts %v, %v; want %d", county, len(page.Hits), page.Counts, err, want)
		}
	}
}
