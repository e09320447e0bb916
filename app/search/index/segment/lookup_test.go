package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Lookup finds existing terms and no others, regardless of the order of the lookups.
func TestLookup(t *testing.T) {
	const terms = 1500
	s := openDocs(t, 1<<20, singleTermDocs(terms, func(i int) string { return fmt.Sprintf("m%05d", i*3) }))
	r := rand.New(rand.NewPCG(1, 1))
	for _, row := range []struct {
		name string
		next func(i int) int
	}{
		{"ascending", func(i int) int { return i }},
		{"every 37th ascending", func(i int) int { return i * 37 }},
		{"each twice ascending", func(i int) int { return i / 2 }},
		{"descending", func(i int) int { return 3*terms + 5 - i }},
		{"random", func(int) int { return r.IntN(3*terms + 9) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := s.Lookup()
			for i := range 3*terms + 9 {
				n := row.next(i)
				_, found, err := l.Find(fmt.Appendf(nil, "m%05d", n))
				if want := n%3 == 0 && n >= 0 && n < 3*terms; err != nil || found != want {
					t.Fatalf("Find(m%05d) = %v, %v, want %v", n, found, err, want)
				}
				if i%100 == 0 {
					if _, found, err := l.Find([]byte("a")); err != nil || found {
						t.Fatalf("Find(a) = %v, %v, want not found", found, err)
					}
				}
			}
		})
	}
}

// Terms may contain any bytes and may have any length up to the maximum.
func TestTermsWithAnyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	terms := make([][]byte, 3000)
	for i := range terms {
		terms[i] = make([]byte, 1+r.IntN(MaxTermBytes))
		for j := range terms[i] {
			terms[i][j] = byte(r.IntN(3)) * 127
		}
	}
	s := openDocs(t, 1<<20, singleTermDocs(len(terms), func(i int) string { return string(terms[i]) }))
	slices.SortFunc(terms, bytes.Compare)
	terms = slices.CompactFunc(terms, bytes.Equal)
	var w termIterator
	w.seek(&s.streams[streamTerms], 0)
	for _, want := range terms {
		if !w.next() || !bytes.Equal(w.term, want) {
			t.Fatalf("next term = %x, %v, want %x", w.term, w.err, want)
		}
		if _, found, err := s.Lookup().Find(want); err != nil || !found {
			t.Fatalf("Find(%x) = %v, %v, want found", want, found, err)
		}
	}
	if w.next() || w.err != nil {
		t.Errorf("next after the last term = true or %v, want false", w.err)
	}
	got, err := s.Terms(nil, len(terms)+1, nil)
	if err != nil || len(got) != len(terms) {
		t.Errorf("Terms returned %d terms, %v, want %d", len(got), err, len(terms))
	}
}
