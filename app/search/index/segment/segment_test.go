package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// document is one in the tests' own words. A term without positions is flat.
type document struct {
	key   uint64
	group uint8
	date  int32
	words uint32
	terms map[string][]uint32
}

// write makes the file of a segment, of the latest document first.
func write(t testing.TB, path string, docs []document) Meta {
	t.Helper()
	return put(t, path, func(w *Writer) error {
		lists, words := make(map[string][]uint32), make(map[string]bool)
		var keys []uint32
		for i, d := range docs {
			if n := w.AddDocument(d.key, d.group, d.date, d.words); n != uint32(i) {
				t.Errorf("document %d is %d", i, n)
			}
			keys = append(keys, uint32(i))
			for term, places := range d.terms {
				lists[term] = append(lists[term], uint32(i))
				words[term] = words[term] || len(places) > 0
			}
		}
		slices.SortFunc(keys, func(a, b uint32) int { return bytes.Compare(big(docs[a].key), big(docs[b].key)) })
		for _, n := range keys {
			w.AddKey(docs[n].key, n)
		}
		for _, term := range slices.Sorted(maps.Keys(lists)) {
			w.StartTerm(words[term])
			for _, n := range lists[term] {
				places := docs[n].terms[term]
				w.AddPosting(n, uint32(len(places)), gaps(places))
			}
			w.EndTerm([]byte(term))
		}
		return nil
	})
}

func big(key uint64) []byte { return binary.BigEndian.AppendUint64(nil, key) }

func gaps(places []uint32) (p []byte) {
	before := uint32(0)
	for _, at := range places[:min(len(places), MaxPositions)] {
		p = binary.AppendUvarint(p, uint64(at-before))
		before = at
	}
	return p
}

func put(t testing.TB, path string, fill func(w *Writer) error) Meta {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(unsynced{f})
	if err := fill(w); err != nil {
		t.Fatal(err)
	}
	stamp, err := w.Finish(7)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return stamp
}

type unsynced struct{ *os.File }

func (unsynced) Sync() error { return nil }

// opened is a segment of those documents, the latest first.
func opened(t testing.TB, cache int64, docs []document) *Segment {
	t.Helper()
	path := filepath.Join(t.TempDir(), "7")
	return reopened(t, path, write(t, path, docs), cache)
}

func reopened(t testing.TB, path string, stamp Meta, cache int64) *Segment {
	t.Helper()
	s, err := Open(path, stamp, NewCache(cache))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// flats are documents of one flat term each, the latest first.
func flats(n int, term func(i int) string) (docs []document) {
	for i := range n {
		docs = append(docs, document{key: uint64(n - 1 - i), terms: map[string][]uint32{term(i): nil}})
	}
	return docs
}

// chance makes documents of few terms, some of them many times.
func chance(seed uint64, n int) (docs []document) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		d := document{key: uint64(n-i)*10 + seed, group: uint8(r.IntN(8)), date: int32(r.IntN(9)) - 4, words: uint32(r.IntN(70_000)), terms: map[string][]uint32{"all": nil}}
		for range r.IntN(6) {
			d.terms[fmt.Sprintf("f%02d", min(r.IntN(40), r.IntN(40)))] = nil
		}
		for at := range uint32(r.IntN(40)) {
			term := fmt.Sprintf("w%d", min(r.IntN(9), r.IntN(9)))
			d.terms[term] = append(d.terms[term], 300*at)
		}
		docs = append(docs, d)
	}
	return docs
}

// back reads a segment as documents; what is left out is not among them.
func back(ctx context.Context, s *Segment, left *Tombstones) ([]document, error) {
	watch := NewBudget(ctx)
	groups, dates, lengths := s.Groups(&watch), s.Dates(&watch), s.Lengths(&watch)
	docs := make([]document, s.Documents())
	for n := range s.Documents() {
		key, err := s.Key(n)
		if err != nil {
			return nil, err
		}
		docs[n] = document{key: key, group: groups.U8(n), date: int32(dates.U32(n)), words: uint32(lengths.U16(n)), terms: map[string][]uint32{}}
	}
	terms, err := s.Terms(nil, 1<<20, nil)
	if err != nil {
		return nil, err
	}
	l := s.Lookup()
	for _, term := range terms {
		e, found, err := l.Find([]byte(term))
		if err != nil || !found {
			return nil, fmt.Errorf("%q is not found: %w", term, err)
		}
		var c Cursor
		var p Positions
		c.Open(s, e, &watch)
		p.Open(s, &c)
		for n := c.Next(); n != NoMoreDocs; n = c.Next() {
			var places []uint32
			if e.HasPositions && c.Freq() > 0 {
				places = p.Read(nil)
			}
			docs[n].terms[term] = places
		}
	}
	living := docs[:0]
	for n, d := range docs {
		if !left.Has(uint32(n)) {
			living = append(living, d)
		}
	}
	return living, watch.Err()
}

// same holds documents against each other, which may have lengths of 16 bits.
func same(t *testing.T, got, want []document) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d documents, want %d", len(got), len(want))
	}
	for i, w := range want {
		w.words = min(w.words, maxDocWords)
		if fmt.Sprint(got[i]) != fmt.Sprint(w) {
			t.Fatalf("document %d:\n got %v\nwant %v", i, got[i], w)
		}
	}
}

// What is written is read, and found by its key.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 127, 128, 129, 1000} {
		docs := chance(uint64(n), n)
		s := opened(t, 1, docs)
		got, err := back(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, docs)
		from := uint32(0)
		for i := len(docs) - 1; i >= 0; i-- {
			doc, found, next, err := s.FindKey(docs[i].key, from)
			if err != nil || !found || doc != uint32(i) {
				t.Fatalf("key %d: %d, %v, %v", docs[i].key, doc, found, err)
			}
			if _, found, _, err := s.FindKey(docs[i].key+1, 0); err != nil || found {
				t.Fatalf("key %d: found, %v", docs[i].key+1, err)
			}
			from = next
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A merge is the documents of all, the latest first, but for those that are gone; what
// went meanwhile is told by their new numbers.
func TestMerge(t *testing.T) {
	var sources []Source
	var now []*Tombstones
	var want, later []document // the earliest segment last
	for i, n := range []int{300, 1, 700} {
		docs := chance(uint64(i), n)
		s := opened(t, 1<<20, docs)
		var gone *Tombstones
		var rest, still []document
		for d := range uint32(n) {
			switch {
			case d%5 == 1:
				gone = gone.With(uint32(n), []uint32{d})
				continue
			case d%7 != 2:
				still = append(still, docs[d])
			}
			rest = append(rest, docs[d])
		}
		sources = append(sources, Source{s, gone})
		for d := range uint32(n) {
			if d%7 == 2 {
				gone = gone.With(uint32(n), []uint32{d})
			}
		}
		now = append(now, gone)
		want, later = append(rest, want...), append(still, later...)
	}
	g := NewMerge(t.Context(), sources)
	if g.LiveDocs() != len(want) {
		t.Fatalf("%d living, want %d", g.LiveDocs(), len(want))
	}
	path := filepath.Join(t.TempDir(), "7")
	merged := reopened(t, path, put(t, path, g.Write), 1<<20)
	got, err := back(t.Context(), merged, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	if got, err = back(t.Context(), merged, g.TombstonesSince(now)); err != nil {
		t.Fatal(err)
	}
	same(t, got, later)
}

// A cursor that is moved on is where one that goes step by step is.
func TestAdvance(t *testing.T) {
	docs := flats(40_000, func(i int) string { return fmt.Sprint("by", i%3) })
	s := opened(t, 1<<20, docs)
	e, found, err := s.Find([]byte("by1"), &TermIterator{})
	if err != nil || !found {
		t.Fatal(found, err)
	}
	watch := NewBudget(t.Context())
	for _, step := range []uint32{1, 2, 100, 127, 128, 129, 1000, 20_000, 50_000} {
		var c Cursor
		c.Open(s, e, &watch)
		for d := uint32(0); d < 60_000; d += step {
			want := d + (1+3-d%3)%3
			if want >= 40_000 {
				want = NoMoreDocs
			}
			if got := c.Advance(d); got != want || c.Doc() != want {
				t.Fatalf("step %d: from %d to %d, want %d", step, d, got, want)
			}
		}
	}
	if watch.Err() != nil {
		t.Error(watch.Err())
	}
}

func TestGone(t *testing.T) {
	for _, docs := range []uint32{1, 63, 64, 65, 1000} {
		for _, each := range []uint32{1, 2, 9, 11, 400, 5000} {
			var g *Tombstones
			for d := uint32(0); d < docs; d += each {
				g = g.With(docs, []uint32{d, d})
			}
			raw := g.Append(nil, docs)
			again, rest, err := ParseTombstones(append(raw, 9), docs)
			if err != nil || !bytes.Equal(rest, []byte{9}) || again.Count() != int((docs+each-1)/each) {
				t.Fatalf("%d of %d: %d, %v, %v", each, docs, again.Count(), rest, err)
			}
			for d := range docs {
				if again.Has(d) != (d%each == 0) {
					t.Fatalf("%d of %d: document %d", each, docs, d)
				}
			}
		}
	}
}
