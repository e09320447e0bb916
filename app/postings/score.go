package postings

import "math"

// BM25 as Robertson and Zaragoza tell it ("The Probabilistic Relevance Framework", 2009),
// with the usual numbers: a word is worth more where it is rare, where it stands more
// often, and where the document is shorter.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// bm25 weighs one word in one segment.
type bm25 struct {
	weight  float64 // with the rarity of the word, times k+1
	fixed   float64 // k (1 - b)
	each    float64 // k b / average length
	lengths *column
}

// rarity is the weight of a word that stands in so many documents of all.
func rarity(documents, all int) float64 {
	d, n := float64(documents), float64(all)
	return math.Log(1 + (n-d+0.5)/(d+0.5))
}

func newBM25(weight float64, documents int, t totals, lengths *column) bm25 {
	average := 1.0
	if t.words > 0 {
		average = float64(t.words) / float64(t.docs)
	}
	return bm25{
		weight:  weight * rarity(documents, t.docs) * (bm25K + 1),
		fixed:   bm25K * (1 - bm25B),
		each:    bm25K * bm25B / average,
		lengths: lengths,
	}
}

func (b *bm25) score(times, doc uint32) float64 {
	if times == 0 {
		return 0
	}
	f := float64(times)
	return b.weight * f / (f + b.fixed + b.each*float64(b.lengths.u16(doc)))
}

// most is a little more than any score, whichever way that is rounded.
func (b *bm25) most() float64 { return max(0, b.weight) * (1 + 1e-9) }

// totals are of all segments, with what is gone but not yet merged away.
type totals struct {
	docs  int
	words uint64
}
