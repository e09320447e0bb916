package segment

import (
	"encoding/binary"
	"fmt"
)

// The terms of a segment stand in ascending order of their bytes, in leaves. What
// stands in one document only is told here altogether.
//
//	terms := leaf*
//	leaf  := where the postings of its first term begin, where the positions, how many
//	         terms, term*
//	term  := bytes shared with the one before u8 (0 for the first of a leaf), bytes
//	         that follow u8, these, documents*2 + 1 if a word, then
//	         one document:   its number, [how often it has the term, length of its positions]
//	         more documents: length of the postings, [length of the positions]
//
// All other numbers are varints. Postings and positions lie one behind the other in
// the order of the terms.
const (
	targetLeafBytes = 512  // a leaf ends behind the term with which it reaches so many
	maxLeafBytes    = 1024 // none is longer: a term is at most 2 + 64 + 5*10 bytes
)

// Entry is what the dictionary tells of a term.
type Entry struct {
	DocFreq      uint32 // that have it, those that are gone among them
	HasPositions bool   // it has positions

	doc       uint32 // where Documents is 1
	freq      uint32 // likewise
	postings  span   // where Documents is more
	positions span   // of the positions
}

type span struct{ off, length int64 }

// leaf reads a leaf term after term.
type leaf struct {
	term      []byte
	entry     Entry
	rest      []byte
	remaining uint64 // terms in rest
	offsets   struct{ postings, positions int64 }
	err       error
	termBuf   [MaxTermBytes]byte
}

// open takes the leaf at the start of p.
func (l *leaf) open(p []byte) {
	l.rest, l.err, l.term = p, nil, l.termBuf[:0]
	l.offsets.postings = int64(l.uvarint())
	l.offsets.positions = int64(l.uvarint())
	l.remaining = l.uvarint()
	if l.remaining == 0 {
		l.fail("leaf without terms")
	}
}

func (l *leaf) fail(what string) {
	if l.err == nil {
		l.err = fmt.Errorf("dictionary: %w: %s", ErrDamaged, what)
	}
	l.remaining = 0
}

func (l *leaf) uvarint() uint64 {
	if len(l.rest) > 0 && l.rest[0] < 0x80 {
		v := l.rest[0]
		l.rest = l.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(l.rest)
	if n <= 0 {
		l.fail("number")
		l.rest = nil
		return 0
	}
	l.rest = l.rest[n:]
	return v
}

func (l *leaf) uvarint32() uint32 {
	v := l.uvarint()
	if v > 1<<32-1 {
		l.fail("number too large")
		return 0
	}
	return uint32(v)
}

// next goes to the next term; false at the end of the leaf, and after an error.
func (l *leaf) next() bool {
	if l.remaining == 0 || l.err != nil {
		return false
	}
	l.remaining--
	if !l.readTerm() {
		return false
	}
	l.readEntry()
	return l.err == nil
}

func (l *leaf) readTerm() bool {
	if len(l.rest) < 2 {
		l.fail("cut off")
		return false
	}
	shared, more := int(l.rest[0]), int(l.rest[1])
	if shared > len(l.term) || shared+more > MaxTermBytes || shared+more == 0 || more > len(l.rest)-2 {
		l.fail("length of a term")
		return false
	}
	copy(l.termBuf[shared:], l.rest[2:2+more])
	l.term, l.rest = l.termBuf[:shared+more], l.rest[2+more:]
	return true
}

func (l *leaf) readEntry() {
	head := l.uvarint()
	if head>>1 == 0 || head>>1 > 1<<32-1 {
		l.fail("documents of a term")
		return
	}
	e := Entry{DocFreq: uint32(head >> 1), HasPositions: head&1 == 1}
	if e.DocFreq == 1 {
		e.doc = l.uvarint32()
		if e.HasPositions {
			e.freq = l.uvarint32()
		}
	} else {
		e.postings = l.readSpan(&l.offsets.postings)
	}
	if e.HasPositions {
		e.positions = l.readSpan(&l.offsets.positions)
	}
	l.entry = e
}

func (l *leaf) readSpan(where *int64) span {
	s := span{*where, int64(l.uvarint())}
	if s.length < 0 || s.off < 0 || s.off+s.length < s.off {
		l.fail("length of a list")
		return span{}
	}
	*where += s.length
	return s
}

// dictionaryWriter writes terms in ascending order.
type dictionaryWriter struct {
	pages         *pageWriter
	body          []byte // of the leaf
	numTerms      uint64 // in it
	lastTerm      []byte // term
	separator     []byte // bytes that separate the leaf from the one before
	start         struct{ postings, positions int64 }
	prevSeparator []byte // separator of the leaf before
	header        []byte
}

// add writes a term; its lists were written before, and end where the streams end.
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

// flush ends the leaf.
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

// sharedPrefix returns how many bytes two terms begin with alike.
func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
