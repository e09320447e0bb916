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

// Queries return the correct number of matches for posting lists of many blocks.
func TestManyBlocks(t *testing.T) {
	const docs = 40_000
	x, _ := oneSegment(t, Options{}, func(b *Batch) {
		for i := range uint64(docs) {
			b.StartDocument(i, uint8(i%2), int32(i/100))
			for _, n := range []uint64{1, 2, 3, 7, 1000, 4999} {
				if i%n == 0 {
					b.AddTerm(fmt.Appendf(nil, "by%d", n))
				}
			}
			b.AddWord([]byte("p"), uint32(i%5))
			for at := range uint32(i % 3) {
				b.AddWord([]byte("q"), 2+3*at)
			}
		}
	})
	by := func(n int) Node { return Term{Text: fmt.Sprintf("by%d", n), Weight: float64(n), ConstantScore: true} }
	rows := []struct {
		name    string
		q       Query
		matches func(i int) bool
	}{
		{"every", Query{}, func(int) bool { return true }},
		{"one", Query{Node: by(3)}, func(i int) bool { return i%3 == 0 }},
		{"all", Query{Node: All{by(2), by(3), by(7)}}, func(i int) bool { return i%42 == 0 }},
		{"rare leads", Query{Node: by(1), Filters: []string{"by1000", "by3"}}, func(i int) bool { return i%3000 == 0 }},
		{"rarer leads", Query{Node: All{by(1), by(4999)}}, func(i int) bool { return i%4999 == 0 }},
		{"any", Query{Node: Any{by(7), by(4999), by(1000)}}, func(i int) bool { return i%7 == 0 || i%4999 == 0 || i%1000 == 0 }},
		{"all of any", Query{Node: All{Any{by(7), by(1000)}, Any{by(3), by(4999)}}},
			func(i int) bool { return (i%7 == 0 || i%1000 == 0) && (i%3 == 0 || i%4999 == 0) }},
		{"dated", Query{Node: by(3), HasDateRange: true, From: 100, To: 100}, func(i int) bool { return i%3 == 0 && i/100 == 100 }},
		{"phrase", Query{Node: Phrase{Terms: []string{"p", "q"}, Weight: 1}},
			func(i int) bool { return i%3 > 0 && i%5 == 1 || i%3 == 2 && i%5 == 4 }},
		{"phrase and rare", Query{Node: Phrase{Terms: []string{"p", "q"}, Weight: 1}, Filters: []string{"by1000"}},
			func(i int) bool { return i%1000 == 0 && (i%3 > 0 && i%5 == 1 || i%3 == 2 && i%5 == 4) }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var want [NumGroups]int
			for i := range docs {
				if row.matches(i) {
					want[i%2]++
				}
			}
			row.q.Limit = 3
			a, err := x.Search(t.Context(), row.q)
			if err != nil || a.Counts != want || len(a.Hits) != min(3, want[0]+want[1]) {
				t.Errorf("Search = %+v, %v, want counts %v", a, err, want)
			}
		})
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
			t.Fatalf("Apply: %v", err)
		}
	}
	a, err := x.Search(t.Context(), Query{Node: Term{Text: "t", Weight: 2, ConstantScore: true}, Limit: 4})
	if err != nil {
		t.Fatalf("Search: %v", err)
	}
	want := Result{Hits: []Hit{{3, 2, 2}, {9, 2, 2}, {7, 2, 2}, {1, 2, 2}}, Counts: [NumGroups]int{2: 5}}
	if fmt.Sprint(a) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", a, want)
	}
}

func TestSearchRejectsInvalidQueries(t *testing.T) {
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
		{"hits", Query{Limit: MaxHits + 1}},
		{"fewer than none", Query{Limit: -1}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if _, err := x.Search(t.Context(), row.q); !errors.Is(err, ErrQuery) {
				t.Errorf("Search = %v, want %v", err, ErrQuery)
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
		t.Fatalf("Apply: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, q := range []Query{{}, {Node: Term{Text: "t", ConstantScore: true}}} {
		if _, err := x.Search(ctx, q); !errors.Is(err, context.Canceled) {
			t.Errorf("Search = %v, want %v", err, context.Canceled)
		}
	}
	if err := x.Apply(ctx, b, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply = %v, want %v", err, context.Canceled)
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
			t.Fatalf("Apply: %v", err)
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
		t.Run(fmt.Sprintf("%q, %d", row.prefix, row.limit), func(t *testing.T) {
			got, err := x.Terms(t.Context(), row.prefix, row.limit)
			if err != nil || strings.Join(got, " ") != row.want {
				t.Errorf("Terms(%q, %d) = %q, %v, want %q", row.prefix, row.limit, got, err, row.want)
			}
		})
	}
	freqs, err := x.DocFreqs(t.Context(), []string{"a", "both", "t0007", "t2000"})
	if err != nil || len(freqs) != 2 || freqs["both"] != 2 || freqs["t0007"] != 1 {
		t.Errorf("DocFreqs = %v, %v, want both: 2 and t0007: 1", freqs, err)
	}
}

// A search uses one snapshot while batches are applied. Each batch contains the same keys in a
// different group, so a mixture of states would be detected.
func TestSearchWhileApplying(t *testing.T) {
	const keys, states, searchers = 50, 40, 3
	x := openTest(t, Options{Cache: 1})
	x.startMerging()
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
		t.Fatalf("apply: %v", err)
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
					t.Errorf("Search: %v", err)
					return
				}
				if at := slices.Index(a.Counts[:], keys); at < 0 || len(a.Hits) != 10 || int(a.Hits[0].Group) != at {
					t.Errorf("Search = %+v, want all documents in one group", a)
				}
			}
		})
	}
	for state := 1; state < states; state++ {
		if err := apply(state); err != nil {
			t.Errorf("apply state %d: %v", state, err)
		}
	}
	close(stop)
	searching.Wait()
	if s := x.Stats(); s.Documents != keys {
		t.Errorf("Stats() = %+v, want %d documents", s, keys)
	}
}
