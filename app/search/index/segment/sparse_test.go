package segment

import (
	"fmt"
	"testing"
)

// Find finds existing terms and no others, even if the sparse index has only a few leaves.
func TestSparse(t *testing.T) {
	const terms = 1500
	spell := func(i int) string { return fmt.Sprintf("%x", i*i*7919) }
	s := openDocs(t, 1<<20, singleTermDocs(terms, spell))
	if len(s.sparse.ends) < 8 {
		t.Fatalf("dictionary has %d leaves, want at least 8", len(s.sparse.ends))
	}
	for _, limit := range []int{1 << 20, 200, 1} {
		var err error
		if s.sparse, err = readSparse(&s.streams[streamIndex], s.lengths[streamTerms], limit); err != nil {
			t.Fatalf("readSparse with a limit of %d bytes: %v", limit, err)
		}
		if got := len(s.sparse.separators) + sparseEntryBytes*len(s.sparse.ends); got > max(limit, 100) {
			t.Errorf("size of the sparse index = %d bytes, want at most %d", got, max(limit, 100))
		}
		l := s.Lookup()
		for i := range terms {
			term := []byte(spell(i))
			e, found, err := l.Find(term)
			if err != nil || !found || e.DocFreq != 1 {
				t.Fatalf("limit %d: Find(%s) = %+v, %v, %v, want one document", limit, term, e, found, err)
			}
			if _, found, err := l.Find(append(term, 'x')); err != nil || found {
				t.Fatalf("limit %d: Find(%sx) = %v, %v, want not found", limit, term, found, err)
			}
		}
	}
}
