package index

import (
	"path/filepath"
	"testing"
)

// A batch limits the memory used for a word that is repeated in a document.
func TestBatchLimitsOccurrencesOfWord(t *testing.T) {
	x, err := Open(filepath.Join(t.TempDir(), "i"), Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer func() { _ = x.Close() }()
	b := x.NewBatch()
	const limit = 2 * maxOccurrences
	b.StartDocument(1, 0, 0)
	for n := range uint32(limit) {
		b.AddWord([]byte("aa"), n)
	}
	b.AddWord([]byte("bb"), limit)
	if size := b.Bytes(); size > 2*maxOccurrences {
		t.Errorf("Bytes() = %d for one word, want at most %d", size, 2*maxOccurrences)
	}
	b.StartDocument(2, 0, 0) // the limit is per document
	b.AddWord([]byte("aa"), 0)
	b.AddWord([]byte("bb"), 1)
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	for _, row := range []struct {
		name  string
		terms []string
		want  int
	}{
		{"same document", []string{"aa", "aa"}, 1},
		{"next document", []string{"aa", "bb"}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			a, err := x.Search(t.Context(), Query{Node: Phrase{Terms: row.terms, Weight: 1}, Limit: 9})
			if err != nil || len(a.Hits) != row.want {
				t.Errorf("Search = %+v, %v, want %d hits", a, err, row.want)
			}
		})
	}
}

func TestBatchRejectsInvalidInput(t *testing.T) {
	rows := []struct {
		name string
		fill func(b *Batch)
	}{
		{"no term", func(b *Batch) { b.StartDocument(1, 0, 0); b.AddTerm(nil) }},
		{"long term", func(b *Batch) { b.StartDocument(1, 0, 0); b.AddWord(make([]byte, MaxTermBytes+1), 0) }},
		{"no document", func(b *Batch) { b.AddTerm([]byte("t")) }},
		{"descending positions", func(b *Batch) { b.StartDocument(1, 0, 0); b.AddWord([]byte("t"), 4); b.AddWord([]byte("t"), 3) }},
		{"group", func(b *Batch) { b.StartDocument(1, NumGroups, 0) }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			x := openTest(t, Options{})
			b := x.NewBatch()
			row.fill(b)
			if err := x.Apply(t.Context(), b, []byte("checkpoint")); err == nil {
				t.Error("Apply = nil, want an error")
			}
			if x.Checkpoint() != nil || x.Stats().Segments != 0 {
				t.Errorf("Checkpoint() = %q, Stats() = %+v; want an empty index", x.Checkpoint(), x.Stats())
			}
		})
	}
}
