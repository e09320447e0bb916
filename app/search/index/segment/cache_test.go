package segment

import (
	"testing"
)

// The cache stays within its size and returns correct data after it evicts pages.
func TestCacheStaysWithinSize(t *testing.T) {
	docs := make([]document, 300_000)
	for i := range docs {
		docs[i].key = uint64(len(docs) - 1 - i)
	}
	s := openDocs(t, 1, docs)
	c := s.cache
	const minPages = 64
	if n := len(s.sums); n < 3*minPages {
		t.Fatalf("segment has %d pages, want at least %d", n, 3*minPages)
	}
	for range 3 {
		for doc := range s.docs {
			if doc%1000 != 0 {
				continue
			}
			key, err := s.Key(doc)
			if err != nil || key != uint64(s.docs-1-doc) {
				t.Fatalf("Key(%d) = %d, %v, want %d", doc, key, err, s.docs-1-doc)
			}
		}
	}
	pages := 0
	for i := range c.sets {
		for _, page := range c.sets[i].pages {
			pages += len(page.buf) / pageSize
		}
	}
	if pages > minPages {
		t.Errorf("cache has %d pages, want at most %d", pages, minPages)
	}
}
