package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
)

// benchIndex is an index of generated documents. It is created once for all benchmarks.
//
//	constant terms  "half" in every second document, "third" in every third, "rare" in one of 10,000
//	words           "deed" and "of" 30 times in each of 100,000 documents, adjacent once;
//	                "alone" once in each of these
//	numbers         of eight digits, with all prefixes
type benchIndex struct {
	index *Index
	words int
}

const (
	benchDocs  = 4_000_000
	benchTexts = 100_000
)

var createBenchIndex = sync.OnceValues(func() (*benchIndex, error) {
	dir, err := os.MkdirTemp("", "index") // used by all benchmarks
	if err != nil {
		return nil, err
	}
	x, err := Open(dir, Options{})
	if err != nil {
		return nil, err
	}
	h := &benchIndex{index: x}
	r := rand.New(rand.NewPCG(1, 2))
	b := x.NewBatch()
	for key := range uint64(benchDocs) {
		h.document(b, r, key)
		if b.Bytes() > 24<<20 || key == benchDocs-1 {
			if err := x.Apply(context.Background(), b, binary.AppendUvarint(nil, key)); err != nil {
				return nil, err
			}
			b = x.NewBatch()
		}
	}
	x.stopMerging()
	x.merges.Wait()
	for more := true; more; {
		if more, err = x.mergeOnce(context.Background()); err != nil {
			return nil, err
		}
	}
	return h, nil
})

// document adds the document with the given key.
func (bi *benchIndex) document(b *Batch, r *rand.Rand, key uint64) {
	b.StartDocument(key, uint8(key%3), int32(key/1000))
	if key%2 == 0 {
		b.AddTerm([]byte("half"))
	}
	if key%3 == 0 {
		b.AddTerm([]byte("third"))
	}
	if key%10_000 == 8 {
		b.AddTerm([]byte("rare"))
	}
	number := fmt.Appendf(nil, "%08d", scatter(key))
	for n := 3; n <= len(number); n++ {
		b.AddTerm(number[:n])
	}
	if key%(benchDocs/benchTexts) == 0 {
		bi.text(b, r)
	}
}

// text adds words to a document that has text.
func (bi *benchIndex) text(b *Batch, r *rand.Rand) {
	adjacent := 2 * r.IntN(30)
	for i := range 60 {
		position := uint32(6 * i)
		if i%2 == 0 {
			b.AddWord([]byte("deed"), position)
		} else {
			b.AddWord([]byte("of"), position)
		}
		if i == adjacent {
			b.AddWord([]byte("of"), position+1)
		}
	}
	b.AddWord([]byte("alone"), 1000)
	bi.words += 62
}

// scatter permutes keys so that documents are not numbered in the order of their keys.
func scatter(key uint64) uint64 { return key * 48271 % 99_999_989 }

func BenchmarkSearch(b *testing.B) {
	h, err := createBenchIndex()
	if err != nil {
		b.Fatalf("create benchmark index: %v", err)
	}
	constantTerm := func(t string) Node { return Term{Text: t, Weight: 1, ConstantScore: true} }
	word := func(t string) Node { return Term{Text: t, Weight: 1} }
	rows := []struct {
		name string
		q    Query
	}{
		{"constant score, 2,000,000", Query{Node: constantTerm("half")}},
		{"constant score, 2,000,000 dated", Query{Node: constantTerm("half"), HasDateRange: true, From: 100, To: 300}},
		{"constant score, 2,000,000 where 1,333,334", Query{Node: constantTerm("half"), Filters: []string{"third"}}},
		{"constant score, 2,000,000 where 400", Query{Node: constantTerm("half"), Filters: []string{"rare"}}},
		{"any of 2,000,000 and 1,333,334", Query{Node: Any{constantTerm("half"), constantTerm("third")}}},
		{"all of two anys", Query{Node: All{Any{constantTerm("half"), word("of")}, Any{constantTerm("third"), word("deed")}}}},
		{"prefer", Query{Node: Prefer{Must: constantTerm("half"), Should: []Node{constantTerm("third")}}}},
		{"prefix of 40,000 numbers", Query{Node: constantTerm("123")}},
		{"one number", Query{Node: constantTerm("00048271")}},
		{"word of 100,000", Query{Node: word("alone")}},
		{"word of 100,000, 30 times each", Query{Node: word("of")}},
		{"all of two words", Query{Node: All{word("deed"), word("of")}}},
		{"either of two words", Query{Node: Any{word("deed"), word("of")}}},
		{"phrase in 100,000, 30 times each", Query{Node: Phrase{Terms: []string{"deed", "of"}, Weight: 1}}},
	}
	for _, row := range rows {
		b.Run(row.name, func(b *testing.B) {
			row.q.Limit = 20
			b.ReportAllocs()
			for b.Loop() {
				a, err := h.index.Search(b.Context(), row.q)
				if err != nil {
					b.Fatalf("Search: %v", err)
				}
				if len(a.Hits) == 0 {
					b.Fatal("Search found no documents, want some")
				}
			}
		})
	}
}

// BenchmarkDocFreqs looks up 500 spellings, as a search does for a typo. Almost none of
// them exist.
func BenchmarkDocFreqs(b *testing.B) {
	h, err := createBenchIndex()
	if err != nil {
		b.Fatalf("create benchmark index: %v", err)
	}
	var terms []string
	for i := range 500 {
		terms = append(terms, fmt.Sprintf("%04dx%d", i*17, i%7))
	}
	for b.Loop() {
		if _, err := h.index.DocFreqs(b.Context(), terms); err != nil {
			b.Fatalf("DocFreqs: %v", err)
		}
	}
}

// BenchmarkIndex indexes documents of 1,000 words each. There are 50,000 different words.
func BenchmarkIndex(b *testing.B) {
	x, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatalf("Open: %v", err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 49_999)
	vocabulary := make([][]byte, 50_000)
	for i := range vocabulary {
		vocabulary[i] = fmt.Appendf(nil, "w%x", i*7919)
	}
	const docWords = 1000
	batch, words := x.NewBatch(), 0
	for key := uint64(0); b.Loop(); key++ {
		batch.StartDocument(key, 0, 0)
		for position := range uint32(docWords) {
			batch.AddWord(vocabulary[zipf.Uint64()], position)
		}
		if words += docWords; batch.Bytes() > 16<<20 {
			if err := x.Apply(b.Context(), batch, nil); err != nil {
				b.Fatalf("Apply: %v", err)
			}
			batch = x.NewBatch()
		}
	}
	if err := x.Apply(b.Context(), batch, nil); err != nil {
		b.Fatalf("Apply: %v", err)
	}
	b.ReportMetric(float64(words)/b.Elapsed().Seconds(), "words/s")
	b.ReportMetric(float64(x.Stats().Bytes)/float64(words), "bytes/word")
	if err := x.Close(); err != nil {
		b.Fatalf("Close: %v", err)
	}
}
