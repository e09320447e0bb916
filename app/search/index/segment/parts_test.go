package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// However little of a dictionary's index is held, every term is found, and no other.
func TestSparse(t *testing.T) {
	const terms = 1500
	spelled := func(i int) string { return fmt.Sprintf("%x", i*i*7919) }
	s := opened(t, 1<<20, flats(terms, spelled))
	if len(s.sparse.ends) < 8 {
		t.Fatalf("only %d leaves", len(s.sparse.ends))
	}
	for _, most := range []int{1 << 20, 200, 1} {
		var err error
		if s.sparse, err = readSparse(&s.streams[streamIndex], s.lengths[streamTerms], most); err != nil {
			t.Fatal(err)
		}
		if got := len(s.sparse.separators) + sparseEntryBytes*len(s.sparse.ends); got > max(most, 100) {
			t.Errorf("%d bytes of at most %d", got, most)
		}
		var w TermIterator
		for i := range terms {
			term := []byte(spelled(i))
			e, found, err := s.Find(term, &w)
			if err != nil || !found || e.DocFreq != 1 {
				t.Fatalf("at most %d: %s: %+v, %v, %v", most, term, e, found, err)
			}
			if _, found, err := s.Find(append(term, 'x'), &w); err != nil || found {
				t.Fatalf("at most %d: %sx: %v, %v", most, term, found, err)
			}
		}
	}
}

// In whatever order terms are looked up one after the other, and those that are not
// there between them.
func TestLookup(t *testing.T) {
	const terms = 1500
	s := opened(t, 1<<20, flats(terms, func(i int) string { return fmt.Sprintf("m%05d", i*3) }))
	r := rand.New(rand.NewPCG(1, 1))
	for _, row := range []struct {
		name string
		next func(i int) int
	}{
		{"each in order", func(i int) int { return i }},
		{"some in order", func(i int) int { return i * 37 }},
		{"twice in order", func(i int) int { return i / 2 }},
		{"backwards", func(i int) int { return 3*terms + 5 - i }},
		{"in no order", func(int) int { return r.IntN(3*terms + 9) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := s.Lookup()
			for i := range 3*terms + 9 {
				n := row.next(i)
				_, found, err := l.Find(fmt.Appendf(nil, "m%05d", n))
				if want := n%3 == 0 && n >= 0 && n < 3*terms; err != nil || found != want {
					t.Fatalf("%d: %v, %v", n, found, err)
				}
				if i%100 == 0 {
					if _, found, err := l.Find([]byte("a")); err != nil || found {
						t.Fatalf("a: %v, %v", found, err)
					}
				}
			}
		})
	}
}

// Terms of any bytes and any length.
func TestTermsOfAnyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	terms := make([][]byte, 3000)
	for i := range terms {
		terms[i] = make([]byte, 1+r.IntN(MaxTermBytes))
		for j := range terms[i] {
			terms[i][j] = byte(r.IntN(3)) * 127
		}
	}
	s := opened(t, 1<<20, flats(len(terms), func(i int) string { return string(terms[i]) }))
	slices.SortFunc(terms, bytes.Compare)
	terms = slices.CompactFunc(terms, bytes.Equal)
	var w TermIterator
	w.seek(&s.streams[streamTerms], 0)
	for _, want := range terms {
		if !w.next() || !bytes.Equal(w.term, want) {
			t.Fatalf("got %x, want %x, %v", w.term, want, w.err)
		}
		if _, found, err := s.Find(want, &TermIterator{}); err != nil || !found {
			t.Fatalf("%x is not found, %v", want, err)
		}
	}
	if w.next() || w.err != nil {
		t.Errorf("more terms, %v", w.err)
	}
	got, err := s.Terms(nil, len(terms)+1, nil)
	if err != nil || len(got) != len(terms) {
		t.Errorf("%d terms of %d, %v", len(got), len(terms), err)
	}
}

// The cache holds no more than it may, and what it gives is right all the same.
func TestCacheIsBounded(t *testing.T) {
	docs := make([]document, 300_000)
	for i := range docs {
		docs[i].key = uint64(len(docs) - 1 - i)
	}
	s := opened(t, 1, docs)
	c := s.cache
	least := 4 * cacheShards
	if pages := len(s.sums); pages < 3*least {
		t.Fatalf("only %d pages", pages)
	}
	for range 3 {
		for doc := range s.docs {
			if doc%1000 != 0 {
				continue
			}
			key, err := s.Key(doc)
			if err != nil || key != uint64(s.docs-1-doc) {
				t.Fatalf("document %d: %d, %v", doc, key, err)
			}
		}
	}
	held := 0
	for i := range c.shards {
		held += len(c.shards[i].slots)
		if len(c.shards[i].slotOf) > len(c.shards[i].slots) {
			t.Error("more pages than room")
		}
	}
	if held > least {
		t.Errorf("%d pages held, of at most %d", held, least)
	}
}

// A disk that does not read is no damage: what lies on it is not thrown away.
func TestADiskThatDoesNotReadIsNoDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, make([]byte, 4*footerSize), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // which no read gets through
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p := &pageFile{file: f, size: 4 * footerSize}
	if err := p.readFooter(1, 0); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("the footer: %v", err)
	}
}
