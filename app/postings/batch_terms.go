package postings

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// table finds the terms of a batch. It holds no pointers but its few slices, so that a
// million terms are nothing to the garbage collector.
type table struct {
	seed  maphash.Seed
	slots []uint32 // of terms, plus one; 0 is empty. A power of two, at most three quarters full.
	terms []batchTerm
	text  []byte // of the terms, one behind the other
}

type batchTerm struct {
	list     chain
	hash     uint32
	text     uint32 // where it begins
	doc      uint32 // the last that has it, plus one
	position uint32 // the last in it
	places   uint32 // how many in it
	size     uint8
	word     bool
}

func (t *table) init() {
	t.seed = maphash.MakeSeed()
	t.slots = make([]uint32, 1<<10)
}

// get returns the term, which is made where it is new; until the next get.
func (t *table) get(term []byte) *batchTerm {
	hash := uint32(maphash.Bytes(t.seed, term))
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		e := &t.terms[t.slots[at]-1]
		if e.hash == hash && bytes.Equal(t.spelling(e), term) {
			return e
		}
		at = (at + 1) & mask
	}
	t.terms = append(t.terms, batchTerm{hash: hash, text: uint32(len(t.text)), size: uint8(len(term))})
	t.text = append(t.text, term...)
	t.slots[at] = uint32(len(t.terms))
	if 4*len(t.terms) > 3*len(t.slots) {
		t.grow()
	}
	return &t.terms[len(t.terms)-1]
}

func (t *table) spelling(e *batchTerm) []byte { return t.text[e.text : e.text+uint32(e.size)] }

func (t *table) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	mask := uint32(len(t.slots) - 1)
	for i := range t.terms {
		at := t.terms[i].hash & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = uint32(i + 1)
	}
}

func (t *table) bytes() int { return 4*cap(t.slots) + 48*cap(t.terms) + cap(t.text) }

// sorted returns the terms in the order of their bytes.
func (t *table) sorted() []*batchTerm {
	type place struct {
		begins uint64 // its first bytes: most comparisons end there
		term   *batchTerm
	}
	places := make([]place, len(t.terms))
	for i := range t.terms {
		var first [8]byte
		copy(first[:], t.spelling(&t.terms[i]))
		places[i] = place{binary.BigEndian.Uint64(first[:]), &t.terms[i]}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.begins != b.begins {
			return cmp.Compare(a.begins, b.begins)
		}
		return bytes.Compare(t.spelling(a.term), t.spelling(b.term))
	})
	terms := make([]*batchTerm, len(places))
	for i, p := range places {
		terms[i] = p.term
	}
	return terms
}
