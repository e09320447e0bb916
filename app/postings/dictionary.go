package postings

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
	leafBytes = 1024 // a leaf ends behind the term with which it reaches so many
	mostLeaf  = 2048 // none is longer: a term is at most 2 + 64 + 5*10 bytes
)

// entry is what the dictionary tells of a term.
type entry struct {
	count    uint32 // documents, those that are gone among them
	word     bool
	doc      uint32 // where count is 1
	times    uint32 // likewise
	postings span   // where count is more
	places   span   // of the positions
}

type span struct{ off, length int64 }

// leaf reads a leaf term after term.
type leaf struct {
	term  []byte
	entry entry
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
	e := entry{count: uint32(head >> 1), word: head&1 == 1}
	if e.count == 1 {
		e.doc = l.narrow()
		if e.word {
			e.times = l.narrow()
		}
	} else {
		e.postings = l.take(&l.where.postings)
	}
	if e.word {
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
