package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

func openTest(t *testing.T, o Options) *Index {
	t.Helper()
	x, err := open(t.TempDir(), o, unsynced{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// Searches see one state from beginning to end, while states come and go. Every state
// is the same keys in another group.
func TestSearchWhileApplying(t *testing.T) {
	const keys, states, searchers = 50, 40, 3
	x := openTest(t, Options{Cache: 1})
	x.merger.start(x)
	apply := func(state int) error {
		b := x.NewBatch()
		for key := range uint64(keys) {
			b.StartDocument(key, uint8(state%NumGroups), int32(state))
			b.AddTerm([]byte("all"))
			b.AddWord([]byte("word"), 3)
			b.AddWord([]byte("behind"), 4)
		}
		return x.Apply(t.Context(), b, []byte{byte(state)})
	}
	if err := apply(0); err != nil {
		t.Fatal(err)
	}
	var searching sync.WaitGroup
	stop := make(chan struct{})
	for range searchers {
		searching.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				q := Query{Node: Phrase{Terms: []string{"word", "behind"}, Weight: 1}, Filters: []string{"all"}, Limit: 10}
				a, err := x.Search(t.Context(), q)
				if err != nil {
					t.Error(err)
					return
				}
				if at := slices.Index(a.Counts[:], keys); at < 0 || len(a.Hits) != 10 || int(a.Hits[0].Group) != at {
					t.Errorf("a mixture: %+v", a)
				}
			}
		})
	}
	for state := 1; state < states; state++ {
		if err := apply(state); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	searching.Wait()
	if s := x.Stats(); s.Documents != keys {
		t.Errorf("%+v", s)
	}
}

// A document stays found though its segment is replaced, and a segment goes when the
// last search that sees it is done.
func TestMergeKeepsWhatIsSearched(t *testing.T) {
	x := openTest(t, Options{})
	for key := range uint64(3) {
		b := x.NewBatch()
		b.StartDocument(key, 0, NoDate)
		b.AddTerm([]byte("term"))
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	s, err := x.acquire()
	if err != nil {
		t.Fatal(err)
	}
	old := s.views[0].segment
	if err := x.merge(t.Context(), s.views); err != nil {
		t.Fatal(err)
	}
	if got := x.Stats().Segments; got != 1 {
		t.Errorf("%d segments", got)
	}
	a, err := search(t.Context(), Query{Node: Term{Text: "term", ConstantScore: true}, Limit: 9}, s, 10)
	if err != nil || a.Counts[0] != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	s.release()
	if err := old.Check(t.Context()); err == nil {
		t.Error("the file is still open")
	}
}

// Where merges are far behind, Apply waits for one.
func TestCrowded(t *testing.T) {
	x := openTest(t, Options{})
	apply := func(key uint64) {
		b := x.NewBatch()
		b.StartDocument(key, 0, 0)
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	for key := range uint64(backlogLimit + 1) {
		apply(key)
	}
	x.merger.start(x)
	apply(1000)
	if s := x.Stats(); s.Segments > backlogLimit || s.Documents != backlogLimit+2 {
		t.Errorf("%+v", s)
	}
}

func TestOrderAmongEquals(t *testing.T) {
	x := openTest(t, Options{})
	for _, keys := range [][]uint64{{5, 9, 1}, {7, 9, 3}} {
		b := x.NewBatch()
		for _, key := range keys {
			b.StartDocument(key, 2, 0)
			b.AddTerm([]byte("t"))
		}
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	a, err := x.Search(t.Context(), Query{Node: Term{Text: "t", Weight: 2, ConstantScore: true}, Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := Result{Hits: []Hit{{3, 2, 2}, {9, 2, 2}, {7, 2, 2}, {1, 2, 2}}, Counts: [NumGroups]int{2: 5}}
	if fmt.Sprint(a) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", a, want)
	}
}

func TestBatchRefuses(t *testing.T) {
	rows := []struct {
		name string
		fill func(b *Batch)
	}{
		{"no term", func(b *Batch) { b.StartDocument(1, 0, 0); b.AddTerm(nil) }},
		{"long term", func(b *Batch) { b.StartDocument(1, 0, 0); b.AddWord(make([]byte, MaxTermBytes+1), 0) }},
		{"no document", func(b *Batch) { b.AddTerm([]byte("t")) }},
		{"positions fall", func(b *Batch) { b.StartDocument(1, 0, 0); b.AddWord([]byte("t"), 4); b.AddWord([]byte("t"), 3) }},
		{"group", func(b *Batch) { b.StartDocument(1, NumGroups, 0) }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			x := openTest(t, Options{})
			b := x.NewBatch()
			row.fill(b)
			if err := x.Apply(t.Context(), b, []byte("mark")); err == nil {
				t.Error("applied")
			}
			if x.Checkpoint() != nil || x.Stats().Segments != 0 {
				t.Error("something stayed")
			}
		})
	}
}

func TestSearchRefuses(t *testing.T) {
	x := openTest(t, Options{MaxNodes: 10})
	deep := Node(Term{Text: "t"})
	for range 100_000 {
		deep = All{deep}
	}
	rows := []struct {
		name string
		q    Query
	}{
		{"deep", Query{Node: deep}},
		{"wide", Query{Node: Any(make([]Node, 11)), Filters: []string{"a"}}},
		{"phrase", Query{Node: Phrase{Terms: strings.Fields(strings.Repeat("a ", 11))}}},
		{"where", Query{Filters: strings.Fields(strings.Repeat("a ", 11))}},
		{"pointer", Query{Node: &Term{Text: "t"}}},
		{"hits", Query{Limit: MaxHits + 1}},
		{"fewer than none", Query{Limit: -1}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if _, err := x.Search(t.Context(), row.q); !errors.Is(err, ErrQuery) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSearchStops(t *testing.T) {
	x := openTest(t, Options{})
	b := x.NewBatch()
	for key := range uint64(20_000) {
		b.StartDocument(key, 0, 0)
		b.AddTerm([]byte("t"))
	}
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, q := range []Query{{}, {Node: Term{Text: "t", ConstantScore: true}}} {
		if _, err := x.Search(ctx, q); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	if err := x.Apply(ctx, b, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("apply: %v", err)
	}
}

func TestClosed(t *testing.T) {
	x := openTest(t, Options{})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	_, searched := x.Search(t.Context(), Query{})
	_, known := x.DocFreqs(t.Context(), []string{"t"})
	_, terms := x.Terms(t.Context(), "t", 1)
	for _, err := range []error{searched, known, terms, x.Apply(t.Context(), x.NewBatch(), nil), x.Check(t.Context())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if x.Checkpoint() != nil || x.Stats() != (Stats{}) {
		t.Error("a closed index tells something")
	}
}

func TestTerms(t *testing.T) {
	x := openTest(t, Options{})
	for half := range 2 {
		b := x.NewBatch()
		b.StartDocument(uint64(half), 0, 0)
		for i := half; i < 2000; i += 2 {
			b.AddTerm(fmt.Appendf(nil, "t%04d", i))
		}
		b.AddTerm([]byte("both"))
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	rows := []struct {
		prefix string
		limit  int
		want   string
	}{
		{"t", 3, "t0000 t0001 t0002"},
		{"t10", 2, "t1000 t1001"},
		{"t199", 20, "t1990 t1991 t1992 t1993 t1994 t1995 t1996 t1997 t1998 t1999"},
		{"", 2, "both t0000"},
		{"a", 5, ""},
		{"u", 5, ""},
		{"t", 0, ""},
		{"bot", 9, "both"},
	}
	for _, row := range rows {
		got, err := x.Terms(t.Context(), row.prefix, row.limit)
		if err != nil || strings.Join(got, " ") != row.want {
			t.Errorf("%q: got %q, %v", row.prefix, got, err)
		}
	}
	known, err := x.DocFreqs(t.Context(), []string{"a", "both", "t0007", "t2000"})
	if err != nil || len(known) != 2 || known["both"] != 2 || known["t0007"] != 1 {
		t.Errorf("known %v, %v", known, err)
	}
}
