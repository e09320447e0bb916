package index

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"deedkeep/app/search/index/segment"
)

// repeated puts a document that is one word over and over, and then ends.
func repeated(b *Batch, key uint64, times uint32) {
	b.StartDocument(key, 0, NoDate)
	for at := range times {
		b.AddWord([]byte("aa"), at)
	}
	b.AddWord([]byte("end"), times)
}

// Of a word that stands too often in a document the first positions are kept, through
// merges too; the others count, and are in no phrase.
func TestPlacesKept(t *testing.T) {
	x := openTest(t, Options{})
	rows := []struct {
		key   uint64
		times uint32
		found bool // "aa end"
	}{{1, segment.MaxPositions - 1, true}, {2, segment.MaxPositions, true}, {3, segment.MaxPositions + 1, false}, {4, 3 * segment.MaxPositions, false}, {5, 1, true}, {6, 2, true}}
	for _, part := range [][2]int{{0, 5}, {5, 6}} { // most in one list, and two segments
		b := x.NewBatch()
		for _, row := range rows[part[0]:part[1]] {
			repeated(b, row.key, row.times)
		}
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	look := func(when string) {
		s, err := x.acquire()
		if err != nil {
			t.Fatal(err)
		}
		defer s.release()
		a, err := search(t.Context(), Query{Node: Phrase{Terms: []string{"aa", "end"}, Weight: 1}, Limit: 9}, s, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			found := slices.ContainsFunc(a.Hits, func(h Hit) bool { return h.Key == row.key })
			if found != row.found {
				t.Errorf("%s: %d times: found is %v", when, row.times, found)
			}
		}
		c, times := wordCursor(t, s), map[uint32]bool{}
		for d := c.Next(); d != segment.NoMoreDocs; d = c.Next() {
			times[c.Freq()] = true
		}
		if last := rows[3].times; when == "merged" && !times[last] {
			t.Errorf("none stands in it %d times: %v", last, times)
		}
	}
	look("apart")
	s, err := x.acquire()
	if err != nil {
		t.Fatal(err)
	}
	err = x.merge(t.Context(), s.views)
	s.release()
	if err != nil {
		t.Fatal(err)
	}
	look("merged")
}

// wordCursor goes over the documents of "aa" in the first segment.
func wordCursor(t *testing.T, s *snapshot) *segment.Cursor {
	t.Helper()
	var w segment.TermIterator
	g := s.views[0].segment
	e, found, err := g.Find([]byte("aa"), &w)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	c, watch := &segment.Cursor{}, segment.NewBudget(t.Context())
	c.Open(g.Segment, e, &watch)
	return c
}

func manyTimes(n int) (list []string) {
	for range n {
		list = append(list, "aa")
	}
	return list
}

// A phrase of one word over and over, in a document that is nothing else, takes little
// memory: not all positions for each of its words.
func TestPhraseMemory(t *testing.T) {
	x, _ := oneSegment(t, Options{}, func(b *Batch) { repeated(b, 1, 300_000) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := x.Search(t.Context(), Query{Node: Phrase{Terms: manyTimes(32), Weight: 1}, Limit: 9})
	runtime.ReadMemStats(&after)
	if err != nil || a.Counts[0] != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("it took %d bytes", took)
	}
}

// counted is a context that counts how often it is looked at, and ends after some.
type counted struct {
	context.Context
	looks, most int
}

func (c *counted) Err() error {
	if c.looks++; c.looks > c.most {
		return context.Canceled
	}
	return nil
}

// A phrase looks at its context within a block, whose documents may have any number of
// positions.
func TestPhraseLooksUp(t *testing.T) {
	x, _ := oneSegment(t, Options{}, func(b *Batch) {
		for key := range uint64(40) {
			repeated(b, key, segment.MaxPositions)
		}
	})
	ctx := &counted{Context: t.Context(), most: 10}
	q := Query{Node: Phrase{Terms: manyTimes(32), Weight: 1}, Limit: 9}
	if a, err := x.Search(ctx, q); err == nil || ctx.looks > ctx.most+1 {
		t.Errorf("%+v after %d looks, %v", a, ctx.looks, err)
	}
}

// A merge asks for the room of its sources; without it there is none, which is said
// once, and the next Apply has it tried again.
func TestMergeAsksForRoom(t *testing.T) {
	var log bytes.Buffer
	var asked []int64
	room := false
	x := openTest(t, Options{
		Log:        slog.New(slog.NewTextHandler(&log, nil)),
		AllowMerge: func(bytes int64) bool { asked = append(asked, bytes); return room },
	})
	for key := range uint64(mergeWidth) {
		b := x.NewBatch()
		repeated(b, key, 9)
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	size := x.Stats().Bytes
	for range 2 {
		if done, err := x.mergeOnce(t.Context()); done || err != nil {
			t.Fatalf("merged without room: %v, %v", done, err)
		}
	}
	if n := bytes.Count(log.Bytes(), []byte("no room")); n != 1 {
		t.Errorf("said %d times: %s", n, &log)
	}
	room = true
	if done, err := x.mergeOnce(t.Context()); !done || err != nil {
		t.Errorf("not merged: %v, %v", done, err)
	}
	if got := x.Stats().Segments; got != 1 || !slices.Equal(asked, []int64{size, size, size}) {
		t.Errorf("%d segments; asked for %v of %d", got, asked, size)
	}
}

// due is a context that would end by now, and has not ended.
type due struct{ context.Context }

func (due) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// What only betters the order never costs the answer: neither when the time is about
// to be over nor where there are too many positions.
func TestPreferNeverCostsTheAnswer(t *testing.T) {
	const docs = 100
	x, _ := oneSegment(t, Options{}, func(b *Batch) {
		for key := range uint64(docs) {
			repeated(b, key, segment.MaxPositions)
		}
	})
	must := Term{Text: "end", Weight: 1}
	near := Phrase{Terms: manyTimes(32), Weight: 1}
	ask := func(ctx context.Context, n Node) Result {
		t.Helper()
		a, err := x.Search(ctx, Query{Node: n, Limit: docs})
		if err != nil {
			t.Fatal(err)
		}
		if a.Counts[0] != docs || len(a.Hits) != docs {
			t.Fatalf("%d found, %d given", a.Counts[0], len(a.Hits))
		}
		return a
	}
	alone := ask(t.Context(), must)
	if late := ask(due{t.Context()}, Prefer{Must: must, Should: []Node{near}}); !slices.Equal(late.Hits, alone.Hits) {
		t.Errorf("late: %v, want %v", late.Hits[0], alone.Hits[0])
	}
	for _, should := range []Node{near, All{must, near}, Any{near, Term{Text: "none"}}, Prefer{Must: near}} {
		a := ask(t.Context(), Prefer{Must: must, Should: []Node{should}})
		best, last := a.Hits[0].Score, a.Hits[docs-1].Score
		if plain := alone.Hits[0].Score; best <= plain || last != plain {
			t.Errorf("%T: from %v to %v, without it %v", should, best, last, plain)
		}
	}
	// What a match must have is asked of all.
	for _, must := range []Node{near, All{must, near}, Prefer{Must: near, Should: []Node{near}}} {
		ask(due{t.Context()}, must)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ended, Query{Node: Prefer{Must: must, Should: []Node{near}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

// However it begins, a search that its context ends says so, in the midst of a phrase
// too that only betters the order.
func TestPreferEndsWithItsContext(t *testing.T) {
	x, _ := oneSegment(t, Options{}, func(b *Batch) {
		for key := range uint64(10) {
			repeated(b, key, segment.MaxPositions)
		}
	})
	q := Query{Node: Prefer{Must: Term{Text: "end", Weight: 1}, Should: []Node{Phrase{Terms: manyTimes(32), Weight: 1}}}, Limit: 9}
	ctx := &counted{Context: t.Context(), most: 5}
	if a, err := x.Search(ctx, q); !errors.Is(err, context.Canceled) || ctx.looks > ctx.most+3 {
		t.Errorf("%+v after %d looks, %v", a, ctx.looks, err)
	}
}
