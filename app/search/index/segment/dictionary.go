package segment

import (
	"encoding/binary"
	"fmt"
)

// The dictionary stores the terms of a segment in leaves, in ascending byte order. If a term is in
// only one document, its posting is stored in the dictionary itself.
//
//	terms := leaf*
//	leaf  := offset of its first term's postings, offset of its first term's positions,
//	         number of terms, term*
//	term  := bytes shared with the previous term u8 (0 for the first of a leaf), number of
//	         further bytes u8, these bytes, documents*2 (+ 1 if it has positions), then
//	         one document:   its number, [term frequency, length of its positions]
//	         more documents: length of the postings, [length of the positions]
//
// All numbers without a type are varints. Postings and positions are stored contiguously, in the
// order of their terms.
const (
	targetLeafBytes = 512  // a leaf ends when it reaches this length
	maxLeafBytes    = 1024 // upper bound: a term takes at most 2 + 64 + 5*10 bytes
)

// Entry is the dictionary entry of a term.
type Entry struct {
	DocFreq      uint32 // number of documents with the term, including deleted ones
	HasPositions bool   // whether positions and frequencies are stored

	doc       uint32 // if DocFreq is 1
	freq      uint32 // if DocFreq is 1
	postings  span   // if DocFreq is greater than 1
	positions span
}

type span struct{ off, length int64 }

// termIterator decodes the terms of a dictionary in order. The zero value is ready to use.
type termIterator struct {
	term    []byte
	entry   Entry
	err     error
	termBuf [MaxTermBytes]byte

	terms     byteReader
	rest      []byte // of buf
	remaining uint64 // number of terms left in the current leaf
	nextTerms int64  // offset of the first byte after buf
	offsets   struct{ postings, positions int64 }
	buf       [maxLeafBytes]byte
}

// seek moves to the leaf at offset off. The next call of next moves to its first term.
func (t *termIterator) seek(terms byteReader, off int64) {
	t.terms, t.nextTerms = terms, off
	t.remaining, t.err, t.rest, t.term = 0, nil, nil, t.termBuf[:0]
}

// next moves to the next term, which may be in the next leaf. It returns false at the end of the
// dictionary or after an error, which is in t.err.
func (t *termIterator) next() bool {
	if t.err != nil || t.remaining == 0 && !t.openLeaf() {
		return false
	}
	t.remaining--
	if t.readTerm() {
		t.readEntry()
	}
	return t.err == nil
}

// openLeaf reads the next leaf, which starts where the last one ended. It returns false at the end of the
// dictionary or after an error.
func (t *termIterator) openLeaf() bool {
	t.nextTerms -= int64(len(t.rest))
	size := min(maxLeafBytes, t.terms.size()-t.nextTerms)
	if t.rest = nil; size <= 0 {
		return false
	}
	if t.err = t.terms.readAt(t.buf[:size], t.nextTerms); t.err != nil {
		return false
	}
	t.nextTerms += size
	t.rest, t.term = t.buf[:size], t.termBuf[:0]
	t.offsets.postings = int64(t.uvarint())
	t.offsets.positions = int64(t.uvarint())
	if t.remaining = t.uvarint(); t.remaining == 0 {
		t.fail("leaf has no terms")
	}
	return t.err == nil
}

func (t *termIterator) fail(msg string) {
	if t.err == nil {
		t.err = fmt.Errorf("dictionary: %w: %s", ErrDamaged, msg)
	}
}

func (t *termIterator) uvarint() uint64 {
	if len(t.rest) > 0 && t.rest[0] < 0x80 {
		v := t.rest[0]
		t.rest = t.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(t.rest)
	if n <= 0 {
		t.fail("invalid number")
		return 0
	}
	t.rest = t.rest[n:]
	return v
}

func (t *termIterator) uvarint32() uint32 {
	v := t.uvarint()
	if v > 1<<32-1 {
		t.fail("number too large")
	}
	return uint32(v)
}

func (t *termIterator) readTerm() bool {
	if len(t.rest) < 2 {
		t.fail("truncated")
		return false
	}
	shared, more := int(t.rest[0]), int(t.rest[1])
	if shared > len(t.term) || shared+more > MaxTermBytes || shared+more == 0 || more > len(t.rest)-2 {
		t.fail("invalid term length")
		return false
	}
	copy(t.termBuf[shared:], t.rest[2:2+more])
	t.term, t.rest = t.termBuf[:shared+more], t.rest[2+more:]
	return true
}

func (t *termIterator) readEntry() {
	head := t.uvarint()
	if head>>1 == 0 || head>>1 > 1<<32-1 {
		t.fail("invalid document count")
		return
	}
	e := Entry{DocFreq: uint32(head >> 1), HasPositions: head&1 == 1}
	if e.DocFreq == 1 {
		e.doc = t.uvarint32()
		if e.HasPositions {
			e.freq = t.uvarint32()
		}
	} else {
		e.postings = t.readSpan(&t.offsets.postings)
	}
	if e.HasPositions {
		e.positions = t.readSpan(&t.offsets.positions)
	}
	t.entry = e
}

func (t *termIterator) readSpan(next *int64) span {
	s := span{*next, int64(t.uvarint())}
	if s.length < 0 || s.off < 0 || s.off+s.length < s.off {
		t.fail("invalid list length")
		return span{}
	}
	*next += s.length
	return s
}

// dictionaryWriter writes terms in ascending order.
type dictionaryWriter struct {
	pages         *pageWriter
	body          []byte // the current leaf without its header
	numTerms      uint64 // number of terms in body
	lastTerm      []byte
	separator     []byte // separator of the current leaf
	start         struct{ postings, positions int64 }
	prevSeparator []byte // separator of the previous leaf
	header        []byte
}

// add writes a term. Its postings and positions must already have been written and must be the last
// bytes of their streams.
func (d *dictionaryWriter) add(term []byte, e Entry) {
	if d.numTerms == 0 {
		d.start.postings = d.pages.lengths[streamPostings] - e.postings.length
		d.start.positions = d.pages.lengths[streamPositions] - e.positions.length
		d.separator = append(d.separator[:0], term[:min(len(term), sharedPrefix(d.lastTerm, term)+1)]...)
		d.lastTerm = d.lastTerm[:0]
	}
	n := sharedPrefix(d.lastTerm, term)
	p := d.body
	p = append(p, byte(n), byte(len(term)-n))
	p = append(p, term[n:]...)
	head := uint64(e.DocFreq) << 1
	if e.HasPositions {
		head |= 1
	}
	p = binary.AppendUvarint(p, head)
	if e.DocFreq == 1 {
		p = binary.AppendUvarint(p, uint64(e.doc))
		if e.HasPositions {
			p = binary.AppendUvarint(p, uint64(e.freq))
		}
	} else {
		p = binary.AppendUvarint(p, uint64(e.postings.length))
	}
	if e.HasPositions {
		p = binary.AppendUvarint(p, uint64(e.positions.length))
	}
	d.body, d.lastTerm = p, append(d.lastTerm[:0], term...)
	d.numTerms++
	if len(d.body) >= targetLeafBytes {
		d.flush()
	}
}

// flush writes the current leaf and adds an entry for it to the sparse index.
func (d *dictionaryWriter) flush() {
	if d.numTerms == 0 {
		return
	}
	h := binary.AppendUvarint(d.header[:0], uint64(d.start.postings))
	h = binary.AppendUvarint(h, uint64(d.start.positions))
	h = binary.AppendUvarint(h, d.numTerms)
	d.pages.write(streamTerms, h)
	d.pages.write(streamTerms, d.body)
	size := uint64(len(h) + len(d.body))

	n := sharedPrefix(d.prevSeparator, d.separator)
	h = append(h[:0], byte(n), byte(len(d.separator)-n))
	h = append(h, d.separator[n:]...)
	d.header = binary.AppendUvarint(h, size)
	d.pages.write(streamIndex, d.header)
	d.prevSeparator = append(d.prevSeparator[:0], d.separator...)
	d.body, d.numTerms = d.body[:0], 0
}

// sharedPrefix returns the length of the common prefix of a and b.
func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
