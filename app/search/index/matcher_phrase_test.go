package index

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"deedkeep/app/search/index/segment"
)

// addRepetitive adds a document that contains the word "aa" many times and ends with "end".
func addRepetitive(b *Batch, key uint64, times uint32) {
	b.StartDocument(key, 0, NoDate)
	for at := range times {
		b.AddWord([]byte("aa"), at)
	}
	b.AddWord([]byte("end"), times)
}

// Only the first positions of a very frequent word are stored, including in merged segments.
// Additional occurrences count for the frequency but do not match phrases.
func TestStoredPositionsAreLimited(t *testing.T) {
	x := openTest(t, Options{})
	rows := []struct {
		key   uint64
		times uint32
		found bool // whether the phrase "aa end" finds the document
	}{
		{1, segment.MaxPositions - 1, true},
		{2, segment.MaxPositions, true},
		{3, segment.MaxPositions + 1, false},
		{4, 3 * segment.MaxPositions, false},
		{5, 1, true},
		{6, 2, true},
	}
	for _, part := range [][2]int{{0, 5}, {5, 6}} { // five documents in one segment and one in another
		b := x.NewBatch()
		for _, row := range rows[part[0]:part[1]] {
			addRepetitive(b, row.key, row.times)
		}
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatalf("Apply: %v", err)
		}
	}
	verifyFound := func(state string) {
		s, err := x.acquire()
		if err != nil {
			t.Fatalf("acquire: %v", err)
		}
		defer s.release()
		a, err := search(t.Context(), Query{Node: Phrase{Terms: []string{"aa", "end"}, Weight: 1}, Limit: 9}, s, 10)
		if err != nil {
			t.Fatalf("search: %v", err)
		}
		for _, row := range rows {
			found := slices.ContainsFunc(a.Hits, func(h Hit) bool { return h.Key == row.key })
			if found != row.found {
				t.Errorf("%s: document with %d occurrences: found = %v, want %v", state, row.times, found, row.found)
			}
		}
		c, freqs := openCursor(t, s), map[uint32]bool{}
		for d := c.Next(); d != segment.NoMoreDocs; d = c.Next() {
			freqs[c.Freq()] = true
		}
		if last := rows[3].times; state == "merged" && !freqs[last] {
			t.Errorf("frequencies = %v, want %d among them", freqs, last)
		}
	}
	verifyFound("separate")
	s, err := x.acquire()
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	err = x.merge(t.Context(), s.views)
	s.release()
	if err != nil {
		t.Fatalf("merge: %v", err)
	}
	verifyFound("merged")
}

// openCursor returns a cursor for the documents that contain "aa" in the first segment.
func openCursor(t *testing.T, s *snapshot) *segment.Cursor {
	t.Helper()
	g := s.views[0].segment
	e, found, err := g.Lookup().Find([]byte("aa"))
	if err != nil || !found {
		t.Fatalf("Find(aa) = %v, %v, want found", found, err)
	}
	c, budget := &segment.Cursor{}, segment.NewBudget(t.Context())
	c.Open(g.Segment, e, &budget)
	return c
}

// repeatTerm returns the term "aa" n times.
func repeatTerm(n int) (list []string) {
	for range n {
		list = append(list, "aa")
	}
	return list
}

// If a phrase repeats one word, the positions of that word are kept in memory only once, even for a
// document that consists only of that word.
func TestPhraseMemory(t *testing.T) {
	x, _ := oneSegment(t, Options{}, func(b *Batch) { addRepetitive(b, 1, 300_000) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := x.Search(t.Context(), Query{Node: Phrase{Terms: repeatTerm(32), Weight: 1}, Limit: 9})
	runtime.ReadMemStats(&after)
	if err != nil || a.Counts[0] != 1 {
		t.Fatalf("Search = %+v, %v, want one match", a, err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("Search allocated %d bytes, want at most %d", allocated, 1<<20)
	}
}

// countingContext is a context that counts the calls of Err and is canceled after a given number of
// them.
type countingContext struct {
	context.Context
	checks, limit int
}

func (c *countingContext) Err() error {
	if c.checks++; c.checks > c.limit {
		return context.Canceled
	}
	return nil
}

// A phrase checks the context even within a block because the documents in it may have any number
// of positions.
func TestPhraseChecksContext(t *testing.T) {
	x, _ := oneSegment(t, Options{}, func(b *Batch) {
		for key := range uint64(40) {
			addRepetitive(b, key, segment.MaxPositions)
		}
	})
	ctx := &countingContext{Context: t.Context(), limit: 10}
	q := Query{Node: Phrase{Terms: repeatTerm(32), Weight: 1}, Limit: 9}
	if a, err := x.Search(ctx, q); err == nil || ctx.checks > ctx.limit+1 {
		t.Errorf("Search = %+v, %v after %d checks, want an error within %d", a, err, ctx.checks, ctx.limit)
	}
}

// dueContext is a context whose deadline is in the past but whose Err still returns nil.
type dueContext struct{ context.Context }

func (dueContext) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// An optional phrase never makes a search fail, neither near the deadline nor if there are too many
// positions.
func TestOptionalPhraseNeverFailsSearch(t *testing.T) {
	const docs = 100
	x, _ := oneSegment(t, Options{}, func(b *Batch) {
		for key := range uint64(docs) {
			addRepetitive(b, key, segment.MaxPositions)
		}
	})
	must := Term{Text: "end", Weight: 1}
	near := Phrase{Terms: repeatTerm(32), Weight: 1}
	searchAll := func(ctx context.Context, n Node) Result {
		t.Helper()
		a, err := x.Search(ctx, Query{Node: n, Limit: docs})
		if err != nil {
			t.Fatalf("Search: %v", err)
		}
		if a.Counts[0] != docs || len(a.Hits) != docs {
			t.Fatalf("Search found %d and returned %d documents, want %d", a.Counts[0], len(a.Hits), docs)
		}
		return a
	}
	plain := searchAll(t.Context(), must)
	if late := searchAll(dueContext{t.Context()}, Prefer{Must: must, Should: []Node{near}}); !slices.Equal(late.Hits, plain.Hits) {
		t.Errorf("first hit with a near deadline = %v, want %v", late.Hits[0], plain.Hits[0])
	}
	for _, should := range []Node{near, All{must, near}, Any{near, Term{Text: "none"}}, Prefer{Must: near}} {
		a := searchAll(t.Context(), Prefer{Must: must, Should: []Node{should}})
		best, last := a.Hits[0].Score, a.Hits[docs-1].Score
		if base := plain.Hits[0].Score; best <= base || last != base {
			t.Errorf("%T: scores from %v to %v, want more than %v to %v", should, best, last, base, base)
		}
	}
	// Required phrases are evaluated in every document.
	for _, must := range []Node{near, All{must, near}, Prefer{Must: near, Should: []Node{near}}} {
		searchAll(dueContext{t.Context()}, must)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(canceled, Query{Node: Prefer{Must: must, Should: []Node{near}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search with a canceled context = %v, want %v", err, context.Canceled)
	}
}

// If the context of a search ends, the search returns the error of the context, even while it
// evaluates an optional phrase.
func TestOptionalPhraseStopsWithContext(t *testing.T) {
	x, _ := oneSegment(t, Options{}, func(b *Batch) {
		for key := range uint64(10) {
			addRepetitive(b, key, segment.MaxPositions)
		}
	})
	q := Query{Node: Prefer{Must: Term{Text: "end", Weight: 1}, Should: []Node{Phrase{Terms: repeatTerm(32), Weight: 1}}}, Limit: 9}
	ctx := &countingContext{Context: t.Context(), limit: 5}
	if a, err := x.Search(ctx, q); !errors.Is(err, context.Canceled) || ctx.checks > ctx.limit+3 {
		t.Errorf("Search = %+v, %v after %d checks, want an error within %d", a, err, ctx.checks, ctx.limit)
	}
}

// Words are together at any position, also at one that has no bit of its own in a set.
func TestTogetherAtLaterPositions(t *testing.T) {
	x := openTest(t, Options{})
	r := rand.New(rand.NewPCG(3, 0))
	b, want := x.NewBatch(), map[uint64]bool{}
	for key := range uint64(1_000) {
		b.StartDocument(key, 0, NoDate)
		for p := range uint32(200) {
			aa, bb := r.IntN(60) == 0, r.IntN(60) == 0
			if aa {
				b.AddWord([]byte("aa"), p)
			}
			if bb {
				b.AddWord([]byte("bb"), p)
			}
			want[key] = want[key] || aa && bb
		}
	}
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	found, err := x.Search(t.Context(), Query{Node: Together{"bb", "aa"}, Limit: 1_000})
	if err != nil {
		t.Fatalf("Search: %v", err)
	}
	got := map[uint64]bool{}
	for _, h := range found.Hits {
		got[h.Key] = true
	}
	for key := range uint64(1_000) {
		if got[key] != want[key] {
			t.Errorf("document %d: found = %v, want %v", key, got[key], want[key])
		}
	}
}
