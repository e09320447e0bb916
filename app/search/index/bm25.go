package index

import (
	"math"
	"slices"

	"deedkeep/app/search/index/segment"
)

// BM25 as Robertson and Zaragoza tell it ("The Probabilistic Relevance Framework", 2009),
// with the usual numbers: a word is worth more where it is rare, where it stands more
// often, and where the document is shorter.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// bm25 weighs one word in one segment.
type bm25 struct {
	weight     float64 // with the rarity of the word, times k+1
	baseNorm   float64 // k (1 - b)
	lengthNorm float64 // k b / average length
	lengths    *segment.Column
}

// idf is the weight of a word that stands in so many documents of all.
func idf(documents, all int) float64 {
	d, n := float64(documents), float64(all)
	return math.Log(1 + (n-d+0.5)/(d+0.5))
}

func newBM25(weight float64, documents int, t collectionStats, lengths *segment.Column) bm25 {
	average := 1.0
	if t.words > 0 {
		average = float64(t.words) / float64(t.docs)
	}
	return bm25{
		weight:     weight * idf(documents, t.docs) * (bm25K + 1),
		baseNorm:   bm25K * (1 - bm25B),
		lengthNorm: bm25K * bm25B / average,
		lengths:    lengths,
	}
}

func (b *bm25) score(times, doc uint32) float64 {
	if times == 0 {
		return 0
	}
	f := float64(times)
	return b.weight * f / (f + b.baseNorm + b.lengthNorm*float64(b.lengths.U16(doc)))
}

// maxScore is a little more than any score, whichever way that is rounded.
func (b *bm25) maxScore() float64 { return max(0, b.weight) * (1 + 1e-9) }

// collectionStats are of all segments, with what is gone but not yet merged away.
type collectionStats struct {
	docs  int
	words uint64
}

// topHits keeps the hits that are worth most, and among equals those of the lowest group. They
// come in the order that decides among the others, so an equal of the least is of no use
// any more.
type topHits struct {
	limit int
	hits  []rankedHit // a heap, the least on top
	seq   int
}

type rankedHit struct {
	hit  Hit
	view int    // where the key is to be read
	doc  uint32 // likewise
	seq  int
}

func (t *topHits) full() bool { return len(t.hits) >= t.limit }

// wants tells whether a document that came now and is worth so much would be kept.
func (t *topHits) wants(score float64, group uint8) bool {
	if !t.full() || t.limit == 0 {
		return !t.full()
	}
	least := &t.hits[0].hit
	return score > least.Score || score == least.Score && group < least.Group
}

// worse tells whether a is worth less than b.
func worse(a, b *rankedHit) bool {
	if a.hit.Score != b.hit.Score {
		return a.hit.Score < b.hit.Score
	}
	if a.hit.Group != b.hit.Group {
		return a.hit.Group > b.hit.Group
	}
	return a.seq > b.seq
}

// add takes a hit that wants told of.
func (t *topHits) add(r rankedHit) {
	r.seq = t.seq
	t.seq++
	if !t.full() {
		t.hits = append(t.hits, r)
		if t.full() {
			for i := len(t.hits)/2 - 1; i >= 0; i-- {
				t.siftDown(i)
			}
		}
		return
	}
	t.hits[0] = r
	t.siftDown(0)
}

func (t *topHits) siftDown(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.hits) {
			return
		}
		if child+1 < len(t.hits) && worse(&t.hits[child+1], &t.hits[child]) {
			child++
		}
		if worse(&t.hits[i], &t.hits[child]) {
			return
		}
		t.hits[i], t.hits[child] = t.hits[child], t.hits[i]
		i = child
	}
}

// sorted returns the hits, those worth most first.
func (t *topHits) sorted() []rankedHit {
	slices.SortFunc(t.hits, func(a, b rankedHit) int {
		if worse(&b, &a) {
			return -1
		}
		return 1
	})
	return t.hits
}
