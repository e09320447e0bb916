package segment

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Tombstones is which documents of a segment are no more; nil is none. It is not changed once
// others see it.
type Tombstones struct {
	bits  []uint64
	total int
}

func newTombstones(docs uint32) *Tombstones { return &Tombstones{bits: make([]uint64, (docs+63)/64)} }

// Has tells whether the document is gone; it is one of the segment.
func (g *Tombstones) Has(doc uint32) bool {
	return g != nil && g.bits[doc>>6]&(1<<(doc&63)) != 0
}

// Count is how many are gone.
func (g *Tombstones) Count() int {
	if g == nil {
		return 0
	}
	return g.total
}

func (g *Tombstones) add(doc uint32) {
	if bit := uint64(1) << (doc & 63); g.bits[doc>>6]&bit == 0 {
		g.bits[doc>>6] |= bit
		g.total++
	}
}

// With returns a copy of g, which may be nil, with more documents.
func (g *Tombstones) With(docs uint32, more []uint32) *Tombstones {
	c := newTombstones(docs)
	if g != nil {
		copy(c.bits, g.bits)
		c.total = g.total
	}
	for _, d := range more {
		c.add(d)
	}
	return c
}

// forEach calls visit with every document that is gone, in order.
func (g *Tombstones) forEach(visit func(doc uint32)) {
	if g == nil {
		return
	}
	for i, w := range g.bits {
		for ; w != 0; w &= w - 1 {
			visit(uint32(i)<<6 + uint32(bits.TrailingZeros64(w)))
		}
	}
}

// Written down, where the segments are listed:
//
//	gone := how many, gap of every document to the one before less one   where few are gone
//	      | how many, a bit for every document, in words of 64, u64      where more than a tenth are
//
// The numbers but the words are varints.
//
// dense tells which of the two it is.
func dense(count, docs uint32) bool { return count > docs/10 }

// Append appends g, which may be nil, as it is written, of a segment of so many documents.
func (g *Tombstones) Append(p []byte, docs uint32) []byte {
	count := uint32(g.Count())
	p = binary.AppendUvarint(p, uint64(count))
	if count == 0 {
		return p
	}
	if dense(count, docs) {
		for _, w := range g.bits {
			p = binary.LittleEndian.AppendUint64(p, w)
		}
		return p
	}
	prev := ^uint32(0)
	g.forEach(func(doc uint32) {
		p = binary.AppendUvarint(p, uint64(doc-prev-1))
		prev = doc
	})
	return p
}

var errTombstones = fmt.Errorf("%w: documents that are gone", ErrDamaged)

// ParseTombstones reads what Append wrote, and returns the rest of p. It takes memory for what
// stands in p, and a bit for each document where that is whole: the caller knows that
// the segment has so many (Stamp.Holds).
func ParseTombstones(p []byte, docs uint32) (*Tombstones, []byte, error) {
	count, n := readUvarint32(p)
	if n == 0 || count > docs {
		return nil, nil, errTombstones
	}
	if p = p[n:]; count == 0 {
		return nil, p, nil
	}
	var g *Tombstones
	var err error
	if dense(count, docs) {
		g, p, err = parseBitmap(p, docs)
	} else {
		g, p, err = parseGaps(p, count, docs)
	}
	if err != nil {
		return nil, nil, err
	}
	last := g.bits[len(g.bits)-1]
	if g.total != int(count) || docs&63 != 0 && last>>(docs&63) != 0 {
		return nil, nil, errTombstones
	}
	return g, p, nil
}

func parseBitmap(p []byte, docs uint32) (*Tombstones, []byte, error) {
	if uint64(len(p)) < (uint64(docs)+63)/64*8 {
		return nil, nil, errTombstones
	}
	g := newTombstones(docs)
	for i := range g.bits {
		g.bits[i] = binary.LittleEndian.Uint64(p[8*i:])
		g.total += bits.OnesCount64(g.bits[i])
	}
	return g, p[8*len(g.bits):], nil
}

func parseGaps(p []byte, count, docs uint32) (*Tombstones, []byte, error) {
	if uint64(count) > uint64(len(p)) { // each has a byte
		return nil, nil, errTombstones
	}
	list := make([]uint32, count)
	p, err := decodeGaps(p, ^uint32(0), list, docs)
	if err != nil {
		return nil, nil, err
	}
	g := newTombstones(docs)
	for _, d := range list {
		g.add(d)
	}
	return g, p, nil
}
