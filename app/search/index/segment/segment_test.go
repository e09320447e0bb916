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

// document is a document in a form that tests can compare. If the list of a term is nil, the term
// has no positions.
type document struct {
	key   uint64
	group uint8
	date  int32
	words uint32
	terms map[string][]uint32
}

// writeSegment writes documents, newest first, to a segment file.
func writeSegment(t testing.TB, path string, docs []document) Meta {
	t.Helper()
	return writeFile(t, path, func(w *Writer) error {
		lists, words := make(map[string][]uint32), make(map[string]bool)
		var keys []uint32
		for i, d := range docs {
			if n := w.AddDocument(d.key, d.group, d.date, d.words); n != uint32(i) {
				t.Errorf("AddDocument = %d, want %d", n, i)
			}
			keys = append(keys, uint32(i))
			for term, positions := range d.terms {
				lists[term] = append(lists[term], uint32(i))
				words[term] = words[term] || len(positions) > 0
			}
		}
		slices.SortFunc(keys, func(a, b uint32) int { return bytes.Compare(bigEndian(docs[a].key), bigEndian(docs[b].key)) })
		for _, n := range keys {
			w.AddKey(docs[n].key, n)
		}
		for _, term := range slices.Sorted(maps.Keys(lists)) {
			w.StartTerm(words[term])
			for _, n := range lists[term] {
				positions := docs[n].terms[term]
				w.AddPosting(n, uint32(len(positions)), encodeGaps(positions))
			}
			w.EndTerm([]byte(term))
		}
		return nil
	})
}

// bigEndian returns the big-endian encoding of a key.
func bigEndian(key uint64) []byte { return binary.BigEndian.AppendUint64(nil, key) }

// encodeGaps encodes the positions that a segment stores for a document.
func encodeGaps(positions []uint32) (p []byte) {
	prev := uint32(0)
	for _, at := range positions[:min(len(positions), MaxPositions)] {
		p = binary.AppendUvarint(p, uint64(at-prev))
		prev = at
	}
	return p
}

// writeFile writes a segment file whose contents are added by fill.
func writeFile(t testing.TB, path string, fill func(w *Writer) error) Meta {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatalf("create segment: %v", err)
	}
	w := NewWriter(noSyncFile{f})
	if err := fill(w); err != nil {
		t.Fatalf("write segment: %v", err)
	}
	meta, err := w.Finish(7)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatalf("finish segment: %v", err)
	}
	return meta
}

// noSyncFile is a file whose Sync does nothing.
type noSyncFile struct{ *os.File }

func (noSyncFile) Sync() error { return nil }

// openDocs writes documents, newest first, to a segment and opens it.
func openDocs(t testing.TB, cache int64, docs []document) *Segment {
	t.Helper()
	path := filepath.Join(t.TempDir(), "7")
	return openSegment(t, path, writeSegment(t, path, docs), cache)
}

// openSegment opens a segment. The segment is closed at the end of the test.
func openSegment(t testing.TB, path string, meta Meta, cache int64) *Segment {
	t.Helper()
	s, err := Open(path, meta, NewCache(cache))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// singleTermDocs returns n documents. Each contains one term, without positions.
func singleTermDocs(n int, term func(i int) string) (docs []document) {
	for i := range n {
		docs = append(docs, document{key: uint64(n - 1 - i), terms: map[string][]uint32{term(i): nil}})
	}
	return docs
}

// randomDocs returns documents with few distinct terms, some of which are frequent.
func randomDocs(seed uint64, n int) (docs []document) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		d := document{
			key: uint64(n-i)*10 + seed, group: uint8(r.IntN(8)), date: int32(r.IntN(9)) - 4, words: uint32(r.IntN(70_000)),
			terms: map[string][]uint32{"all": nil},
		}
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

// readDocs reads all documents of a segment except deleted ones.
func readDocs(ctx context.Context, s *Segment, deleted *Tombstones) ([]document, error) {
	budget := NewBudget(ctx)
	groups, dates, lengths := s.Groups(&budget), s.Dates(&budget), s.Lengths(&budget)
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
			return nil, fmt.Errorf("find %q: found %v, %w", term, found, err)
		}
		var c Cursor
		var p Positions
		c.Open(s, e, &budget)
		p.Open(s, &c)
		for n := c.Next(); n != NoMoreDocs; n = c.Next() {
			var positions []uint32
			if e.HasPositions && c.Freq() > 0 {
				positions = p.Read(nil)
			}
			docs[n].terms[term] = positions
		}
	}
	live := docs[:0]
	for n, d := range docs {
		if !deleted.Has(uint32(n)) {
			live = append(live, d)
		}
	}
	return live, budget.Err()
}

// requireSameDocs checks that the documents are equal. Lengths are compared after limiting them to
// 16 bits.
func requireSameDocs(t *testing.T, got, want []document) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d documents, want %d", len(got), len(want))
	}
	for i, w := range want {
		w.words = min(w.words, maxDocWords)
		if fmt.Sprint(got[i]) != fmt.Sprint(w) {
			t.Fatalf("document %d:\n got %v\nwant %v", i, got[i], w)
		}
	}
}

// Documents that were written to a segment can be read and can be found by key.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 127, 128, 129, 1000} {
		t.Run(fmt.Sprintf("%d documents", n), func(t *testing.T) {
			docs := randomDocs(uint64(n), n)
			s := openDocs(t, 1, docs)
			got, err := readDocs(t.Context(), s, nil)
			if err != nil {
				t.Fatalf("readDocs: %v", err)
			}
			requireSameDocs(t, got, docs)
			for i := len(docs) - 1; i >= 0; i-- {
				doc, found, err := s.FindKey(docs[i].key)
				if err != nil || !found || doc != uint32(i) {
					t.Fatalf("FindKey(%d) = %d, %v, %v, want %d", docs[i].key, doc, found, err, i)
				}
				if _, found, err := s.FindKey(docs[i].key + 1); err != nil || found {
					t.Fatalf("FindKey(%d) = %v, %v, want not found", docs[i].key+1, found, err)
				}
			}
			if err := s.Check(t.Context()); err != nil {
				t.Errorf("Check: %v", err)
			}
		})
	}
}

// A merged segment contains the live documents of all sources, newest first. The numbers of
// documents that are deleted during the merge are translated to numbers in the merged segment.
func TestMerge(t *testing.T) {
	var sources []Source
	var current []*Tombstones
	var want, later []document // the oldest segment is last
	for i, n := range []int{300, 1, 700} {
		docs := randomDocs(uint64(i), n)
		s := openDocs(t, 1<<20, docs)
		var deleted *Tombstones
		var rest, remaining []document
		for d := range uint32(n) {
			switch {
			case d%5 == 1:
				deleted = deleted.With(uint32(n), []uint32{d})
				continue
			case d%7 != 2:
				remaining = append(remaining, docs[d])
			}
			rest = append(rest, docs[d])
		}
		sources = append(sources, Source{s, deleted})
		for d := range uint32(n) {
			if d%7 == 2 {
				deleted = deleted.With(uint32(n), []uint32{d})
			}
		}
		current = append(current, deleted)
		want, later = append(rest, want...), append(remaining, later...)
	}
	m := NewMerge(t.Context(), sources)
	if m.LiveDocs() != len(want) {
		t.Fatalf("LiveDocs() = %d, want %d", m.LiveDocs(), len(want))
	}
	path := filepath.Join(t.TempDir(), "7")
	merged := openSegment(t, path, writeFile(t, path, m.Write), 1<<20)
	got, err := readDocs(t.Context(), merged, nil)
	if err != nil {
		t.Fatalf("read merged segment: %v", err)
	}
	requireSameDocs(t, got, want)
	if got, err = readDocs(t.Context(), merged, m.TombstonesSince(current)); err != nil {
		t.Fatalf("read merged segment without later deletions: %v", err)
	}
	requireSameDocs(t, got, later)
}

// Advance moves to the same document as repeated calls of Next.
func TestAdvance(t *testing.T) {
	docs := singleTermDocs(40_000, func(i int) string { return fmt.Sprint("by", i%3) })
	s := openDocs(t, 1<<20, docs)
	e, found, err := s.Lookup().Find([]byte("by1"))
	if err != nil || !found {
		t.Fatalf("Find(by1) = %v, %v, want found", found, err)
	}
	budget := NewBudget(t.Context())
	for _, step := range []uint32{1, 2, 100, 127, 128, 129, 1000, 20_000, 50_000} {
		var c Cursor
		c.Open(s, e, &budget)
		for d := uint32(0); d < 60_000; d += step {
			want := d + (1+3-d%3)%3
			if want >= 40_000 {
				want = NoMoreDocs
			}
			if got := c.Advance(d); got != want || c.Doc() != want {
				t.Fatalf("step %d: Advance(%d) = %d, Doc() = %d, want %d", step, d, got, c.Doc(), want)
			}
		}
	}
	if budget.Err() != nil {
		t.Errorf("budget.Err() = %v, want nil", budget.Err())
	}
}

func TestTombstones(t *testing.T) {
	for _, docs := range []uint32{1, 63, 64, 65, 1000} {
		for _, step := range []uint32{1, 2, 9, 11, 400, 5000} {
			t.Run(fmt.Sprintf("%d documents in steps of %d", docs, step), func(t *testing.T) {
				var g *Tombstones
				for d := uint32(0); d < docs; d += step {
					g = g.With(docs, []uint32{d, d})
				}
				raw := g.Append(nil, docs)
				decoded, rest, err := ParseTombstones(append(raw, 9), docs)
				if want := int((docs + step - 1) / step); err != nil || !bytes.Equal(rest, []byte{9}) || decoded.Count() != want {
					t.Fatalf("ParseTombstones = %d documents, rest %v, error %v; want %d, [9], nil", decoded.Count(), rest, err, want)
				}
				for d := range docs {
					if got, want := decoded.Has(d), d%step == 0; got != want {
						t.Fatalf("Has(%d) = %v, want %v", d, got, want)
					}
				}
			})
		}
	}
}
