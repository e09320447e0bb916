package postings

import (
	"encoding/binary"
	"math"
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
	return b.weight * f / (f + b.fixed + b.each*float64(b.lengths.u32(doc)))
}

// most is a little more than any score, whichever way that is rounded.
func (b *bm25) most() float64 { return max(0, b.weight) * (1 + 1e-9) }

// totals are of all segments, with what is gone but not yet merged away.
type totals struct {
	docs  int
	words uint64
}

// column reads numbers of documents that ascend, a page at a time.
type column struct {
	stream *stream
	watch  *watch
	from   int64 // byte of the stream that buf begins with
	buf    []byte
	room   []byte
}

func newColumn(s *stream, w *watch) *column { return &column{stream: s, watch: w} }

// at returns size bytes of the column; nil where they cannot be read.
func (c *column) at(off int64, size int) []byte {
	if i := off - c.from; i >= 0 && i+int64(size) <= int64(len(c.buf)) {
		return c.buf[i : i+int64(size)]
	}
	return c.load(off, size)
}

// columnChunk is less than a page: where few documents match, most of it is for nothing.
const columnChunk = 1 << 11

func (c *column) load(off int64, size int) []byte {
	if c.room == nil {
		c.room = make([]byte, columnChunk)
	}
	c.from = off &^ (columnChunk - 1)
	n := min(columnChunk, c.stream.length-c.from)
	c.buf = c.room[:0]
	if off-c.from+int64(size) > n {
		c.watch.fail(ErrDamaged)
		return nil
	}
	if err := c.stream.readAt(c.room[:n], c.from); err != nil {
		c.watch.fail(err)
		return nil
	}
	c.buf = c.room[:n]
	return c.at(off, size)
}

func (c *column) u8(doc uint32) byte {
	if p := c.at(int64(doc), 1); p != nil {
		return p[0]
	}
	return 0
}

func (c *column) u32(doc uint32) uint32 {
	if p := c.at(4*int64(doc), 4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}
