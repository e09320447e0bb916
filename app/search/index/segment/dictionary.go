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
	leafBytes = 512  // a leaf ends behind the term with which it reaches so many
	mostLeaf  = 1024 // none is longer: a term is at most 2 + 64 + 5*10 bytes
)

// Entry is what the dictionary tells of a term.
type Entry struct {
	Documents uint32 // that have it, those that are gone among them
	Word      bool   // it has positions

	doc      uint32 // where Documents is 1
	times    uint32 // likewise
	postings span   // where Documents is more
	places   span   // of the positions
}

type span struct{ off, length int64 }

// leaf reads a leaf term after term.
type leaf struct {
	term  []byte
	entry Entry
	rest  []byte
	left  uint64 // terms in rest
	where struct{ postings, positions int64 }
	err   error
	room  [MostTerm]byte
}

// begin takes the leaf at the start of p.
func (l *leaf) begin(p []byte) {
	l.rest, l.err, l.term = p, nil, l.room[:0]
	l.where.postings = int64(l.varint())
	l.where.positions = int64(l.varint())
	l.left = l.varint()
	if l.left == 0 {
		l.fail("leaf without terms")
	}
}

func (l *leaf) fail(what string) {
	if l.err == nil {
		l.err = fmt.Errorf("dictionary: %w: %s", ErrDamaged, what)
	}
	l.left = 0
}

func (l *leaf) varint() uint64 {
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

func (l *leaf) narrow() uint32 {
	v := l.varint()
	if v > 1<<32-1 {
		l.fail("number too large")
		return 0
	}
	return uint32(v)
}

// next goes to the next term; false at the end of the leaf, and after an error.
func (l *leaf) next() bool {
	if l.left == 0 || l.err != nil {
		return false
	}
	l.left--
	if !l.spell() {
		return false
	}
	l.describe()
	return l.err == nil
}

func (l *leaf) spell() bool {
	if len(l.rest) < 2 {
		l.fail("cut off")
		return false
	}
	shared, more := int(l.rest[0]), int(l.rest[1])
	if shared > len(l.term) || shared+more > MostTerm || shared+more == 0 || more > len(l.rest)-2 {
		l.fail("length of a term")
		return false
	}
	copy(l.room[shared:], l.rest[2:2+more])
	l.term, l.rest = l.room[:shared+more], l.rest[2+more:]
	return true
}

func (l *leaf) describe() {
	head := l.varint()
	if head>>1 == 0 || head>>1 > 1<<32-1 {
		l.fail("documents of a term")
		return
	}
	e := Entry{Documents: uint32(head >> 1), Word: head&1 == 1}
	if e.Documents == 1 {
		e.doc = l.narrow()
		if e.Word {
			e.times = l.narrow()
		}
	} else {
		e.postings = l.take(&l.where.postings)
	}
	if e.Word {
		e.places = l.take(&l.where.positions)
	}
	l.entry = e
}

func (l *leaf) take(where *int64) span {
	s := span{*where, int64(l.varint())}
	if s.length < 0 || s.off < 0 || s.off+s.length < s.off {
		l.fail("length of a list")
		return span{}
	}
	*where += s.length
	return s
}

// dictionaryWriter writes terms in ascending order.
type dictionaryWriter struct {
	pages *pageWriter
	body  []byte // of the leaf
	terms uint64 // in it
	last  []byte // term
	first []byte // bytes that separate the leaf from the one before
	begun struct{ postings, positions int64 }
	mark  []byte // separator of the leaf before
	head  []byte
}

// add writes a term; its lists were written before, and end where the streams end.
func (d *dictionaryWriter) add(term []byte, e Entry) {
	if d.terms == 0 {
		d.begun.postings = d.pages.lengths[streamPostings] - e.postings.length
		d.begun.positions = d.pages.lengths[streamPositions] - e.places.length
		d.first = append(d.first[:0], term[:min(len(term), shared(d.last, term)+1)]...)
		d.last = d.last[:0]
	}
	n := shared(d.last, term)
	p := d.body
	p = append(p, byte(n), byte(len(term)-n))
	p = append(p, term[n:]...)
	head := uint64(e.Documents) << 1
	if e.Word {
		head |= 1
	}
	p = binary.AppendUvarint(p, head)
	if e.Documents == 1 {
		p = binary.AppendUvarint(p, uint64(e.doc))
		if e.Word {
			p = binary.AppendUvarint(p, uint64(e.times))
		}
	} else {
		p = binary.AppendUvarint(p, uint64(e.postings.length))
	}
	if e.Word {
		p = binary.AppendUvarint(p, uint64(e.places.length))
	}
	d.body, d.last = p, append(d.last[:0], term...)
	d.terms++
	if len(d.body) >= leafBytes {
		d.flush()
	}
}

// flush ends the leaf.
func (d *dictionaryWriter) flush() {
	if d.terms == 0 {
		return
	}
	h := binary.AppendUvarint(d.head[:0], uint64(d.begun.postings))
	h = binary.AppendUvarint(h, uint64(d.begun.positions))
	h = binary.AppendUvarint(h, d.terms)
	d.pages.write(streamTerms, h)
	d.pages.write(streamTerms, d.body)
	size := uint64(len(h) + len(d.body))

	n := shared(d.mark, d.first)
	h = append(h[:0], byte(n), byte(len(d.first)-n))
	h = append(h, d.first[n:]...)
	d.head = binary.AppendUvarint(h, size)
	d.pages.write(streamIndex, d.head)
	d.mark = append(d.mark[:0], d.first...)
	d.body, d.terms = d.body[:0], 0
}

// shared returns how many bytes two terms begin with alike.
func shared(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
