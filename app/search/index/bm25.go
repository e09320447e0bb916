package index

import (
	"cmp"
	"math"
	"slices"

	"deedkeep/app/search/index/segment"
)

// Usual parameters of BM25. See Robertson and Zaragoza, "The Probabilistic Relevance Framework"
// (2009). The score of a term is higher if the term is rare in the collection or frequent in the
// document, or if the document is short.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// bm25 computes the scores of one term in one segment.
type bm25 struct {
	weight     float64 // multiplied by idf and by k+1
	baseNorm   float64 // k (1 - b)
	lengthNorm float64 // k b / average length
	lengths    *segment.Column
}

// idf returns the inverse document frequency of a term that is in documents of all documents.
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

// maxScore returns an upper bound of the scores, with a margin for rounding.
func (b *bm25) maxScore() float64 { return max(0, b.weight) * (1 + 1e-9) }

// collectionStats holds totals of all segments. They include deleted documents that have not been
// merged away.
type collectionStats struct {
	docs  int
	words uint64
}

// topHits keeps the hits with the highest scores. For equal scores, it keeps those of the lowest
// group. Further ties are broken by the order in which hits are added: a later hit that equals the
// worst one is not kept.
type topHits struct {
	limit int
	hits  []rankedHit // up to twice the limit
	cut   bool        // the first hits are the best so far, in order; hits[limit-1] is the worst of them
}

type rankedHit struct {
	hit  Hit
	view int    // index of the view whose segment has the key
	doc  uint32 // number of the document in that segment
}

// wants reports whether a document with this score and group may be one of the best.
func (t *topHits) wants(score float64, group uint8) bool {
	if !t.cut {
		return t.limit > 0
	}
	worst := &t.hits[t.limit-1].hit
	return score > worst.Score || score == worst.Score && group < worst.Group
}

// add adds a hit for which wants returned true. raised says that wants may now return false for more
// scores.
func (t *topHits) add(r rankedHit) (raised bool) {
	t.hits = append(t.hits, r)
	if len(t.hits) == t.limit && !t.cut || len(t.hits) == 2*t.limit {
		t.sorted()
		t.cut = true
		return true
	}
	return false
}

// sorted returns the best hits in order, and drops the others.
func (t *topHits) sorted() []rankedHit {
	slices.SortStableFunc(t.hits, func(a, b rankedHit) int {
		return cmp.Or(cmp.Compare(b.hit.Score, a.hit.Score), cmp.Compare(a.hit.Group, b.hit.Group))
	})
	t.hits = t.hits[:min(len(t.hits), t.limit)]
	return t.hits
}
