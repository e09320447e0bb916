package segment

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Tombstones is the set of deleted documents of a segment. nil is the empty set. It is immutable
// once it is shared.
type Tombstones struct {
	bits  []uint64
	total int
}

func newTombstones(docs uint32) *Tombstones { return &Tombstones{bits: make([]uint64, (docs+63)/64)} }

// Has reports whether the document is deleted.
func (t *Tombstones) Has(doc uint32) bool {
	return t != nil && t.bits[doc>>6]&(1<<(doc&63)) != 0
}

// Count returns the number of deleted documents.
func (t *Tombstones) Count() int {
	if t == nil {
		return 0
	}
	return t.total
}

func (t *Tombstones) add(doc uint32) {
	if bit := uint64(1) << (doc & 63); t.bits[doc>>6]&bit == 0 {
		t.bits[doc>>6] |= bit
		t.total++
	}
}

// With returns a copy of t that also contains the documents in added. t may be nil. docs is the
// number of documents in the segment.
func (t *Tombstones) With(docs uint32, added []uint32) *Tombstones {
	c := newTombstones(docs)
	if t != nil {
		copy(c.bits, t.bits)
		c.total = t.total
	}
	for _, d := range added {
		c.add(d)
	}
	return c
}

// forEach calls visit for every deleted document in ascending order.
func (t *Tombstones) forEach(visit func(doc uint32)) {
	if t == nil {
		return
	}
	for i, w := range t.bits {
		for ; w != 0; w &= w - 1 {
			visit(uint32(i)<<6 + uint32(bits.TrailingZeros64(w)))
		}
	}
}

// The manifest stores tombstones in one of two encodings:
//
//	tombstones := count, gap of every document to the previous one minus one   if few are deleted
//	            | count, one bit per document, in words of 64 bits, u64        if more than a tenth are
//
// All numbers except the words are varints.
//
// dense reports whether the encoding with one bit per document is used.
func dense(count, docs uint32) bool { return count > docs/10 }

// Append appends the encoding of t, which may be nil. docs is the number of documents in the
// segment.
func (t *Tombstones) Append(p []byte, docs uint32) []byte {
	count := uint32(t.Count())
	p = binary.AppendUvarint(p, uint64(count))
	if count == 0 {
		return p
	}
	if dense(count, docs) {
		for _, w := range t.bits {
			p = binary.LittleEndian.AppendUint64(p, w)
		}
		return p
	}
	prev := ^uint32(0)
	t.forEach(func(doc uint32) {
		p = binary.AppendUvarint(p, uint64(doc-prev-1))
		prev = doc
	})
	return p
}

var errTombstones = fmt.Errorf("%w: invalid list of deleted documents", ErrDamaged)

// ParseTombstones decodes tombstones encoded by Append and returns the rest of p. It allocates
// memory in proportion to p, plus one bit per document if p is valid. The caller must have checked
// that the segment can contain that many documents (Meta.Plausible).
func ParseTombstones(p []byte, docs uint32) (*Tombstones, []byte, error) {
	count, n := Uvarint32(p)
	if n == 0 || count > docs {
		return nil, nil, errTombstones
	}
	if p = p[n:]; count == 0 {
		return nil, p, nil
	}
	var t *Tombstones
	var err error
	if dense(count, docs) {
		t, p, err = parseBitmap(p, docs)
	} else {
		t, p, err = parseGaps(p, count, docs)
	}
	if err != nil {
		return nil, nil, err
	}
	last := t.bits[len(t.bits)-1]
	if t.total != int(count) || docs&63 != 0 && last>>(docs&63) != 0 {
		return nil, nil, errTombstones
	}
	return t, p, nil
}

func parseBitmap(p []byte, docs uint32) (*Tombstones, []byte, error) {
	if uint64(len(p)) < (uint64(docs)+63)/64*8 {
		return nil, nil, errTombstones
	}
	t := newTombstones(docs)
	for i := range t.bits {
		t.bits[i] = binary.LittleEndian.Uint64(p[8*i:])
		t.total += bits.OnesCount64(t.bits[i])
	}
	return t, p[8*len(t.bits):], nil
}

func parseGaps(p []byte, count, docs uint32) (*Tombstones, []byte, error) {
	if uint64(count) > uint64(len(p)) { // each document takes at least one byte
		return nil, nil, errTombstones
	}
	list := make([]uint32, count)
	p, err := decodeGaps(p, ^uint32(0), list, docs)
	if err != nil {
		return nil, nil, err
	}
	t := newTombstones(docs)
	for _, d := range list {
		t.add(d)
	}
	return t, p, nil
}
