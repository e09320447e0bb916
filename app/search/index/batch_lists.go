package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// termTable is a hash table of the terms of a batch. It contains few pointers, so even a million
// terms do not burden the garbage collector.
type termTable struct {
	seed  maphash.Seed
	slots []uint32 // index of the term plus one; 0 is empty. The size is a power of two, at most three quarters full.
	terms []batchTerm
	text  []byte // all terms, concatenated
}

type batchTerm struct {
	list         chunkedList
	hash         uint32
	offset       uint32 // offset of the term in termTable.text
	lastDoc      uint32 // index of the last document with the term, plus one
	lastPosition uint32 // in lastDoc
	occurrences  uint32 // in lastDoc
	size         uint8
	hasPositions bool
}

func (t *termTable) init() {
	t.seed = maphash.MakeSeed()
	t.slots = make([]uint32, 1<<10)
}

// findOrAdd returns the entry of a term and adds it if necessary. The pointer is valid until the
// next call.
func (t *termTable) findOrAdd(term []byte) *batchTerm {
	hash := uint32(maphash.Bytes(t.seed, term))
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		e := &t.terms[t.slots[at]-1]
		if e.hash == hash && bytes.Equal(t.termBytes(e), term) {
			return e
		}
		at = (at + 1) & mask
	}
	t.terms = append(t.terms, batchTerm{hash: hash, offset: uint32(len(t.text)), size: uint8(len(term))})
	t.text = append(t.text, term...)
	t.slots[at] = uint32(len(t.terms))
	if 4*len(t.terms) > 3*len(t.slots) {
		t.grow()
	}
	return &t.terms[len(t.terms)-1]
}

func (t *termTable) termBytes(e *batchTerm) []byte { return t.text[e.offset : e.offset+uint32(e.size)] }

func (t *termTable) grow() {
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

func (t *termTable) bytes() int { return 4*cap(t.slots) + 48*cap(t.terms) + cap(t.text) }

// sorted returns the terms in byte order.
func (t *termTable) sorted() []*batchTerm {
	type sortEntry struct {
		prefix uint64 // first bytes of the term, which decide most comparisons
		term   *batchTerm
	}
	entries := make([]sortEntry, len(t.terms))
	for i := range t.terms {
		var first [8]byte
		copy(first[:], t.termBytes(&t.terms[i]))
		entries[i] = sortEntry{binary.BigEndian.Uint64(first[:]), &t.terms[i]}
	}
	slices.SortFunc(entries, func(a, b sortEntry) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return bytes.Compare(t.termBytes(a.term), t.termBytes(b.term))
	})
	terms := make([]*batchTerm, len(entries))
	for i, p := range entries {
		terms[i] = p.term
	}
	return terms
}

// listArena stores one list for each term of a batch. The lists grow at the same time, so each is a
// chain of chunks in shared pages. A chunk ends with the offset of the next chunk, which is twice
// as long, up to maxChunkBytes.
//
// A list consists of varints. Each document is encoded as the difference from the previous
// document, doubled, plus one. Its positions follow, each encoded as the difference from the
// previous position, doubled.
type listArena struct {
	pages [][]byte
	used  int // number of bytes used in the last page
}

const (
	arenaPageBytes = 1 << 16
	linkBytes      = 4
	minChunkBytes  = 12
	maxChunkBytes  = 1 << 12
)

// chunkedList is a list in a listArena. The zero value is empty.
type chunkedList struct {
	first uint32 // offset of the first chunk
	at    uint32 // offset of the next byte
	left  uint16 // free bytes in the last chunk, without its link
	size  uint16 // size of the last chunk; 0 if there is none
}

func (la *listArena) bytes() int { return len(la.pages) * arenaPageBytes }

func (la *listArena) append(l *chunkedList, v uint64) {
	var b [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(b[:], v)
	for _, x := range b[:n] {
		if l.left == 0 {
			la.addChunk(l)
		}
		la.pages[l.at/arenaPageBytes][l.at%arenaPageBytes] = x
		l.at++
		l.left--
	}
}

// addChunk appends a chunk to the list.
func (la *listArena) addChunk(l *chunkedList) {
	size := min(2*int(l.size), maxChunkBytes)
	if size == 0 {
		size = minChunkBytes
	}
	if len(la.pages) == 0 || la.used+size > arenaPageBytes {
		la.pages = append(la.pages, make([]byte, arenaPageBytes))
		la.used = 0
	}
	at := uint32((len(la.pages)-1)*arenaPageBytes + la.used)
	la.used += size
	if l.size == 0 {
		l.first = at
	} else {
		binary.LittleEndian.PutUint32(la.pages[l.at/arenaPageBytes][l.at%arenaPageBytes:], at)
	}
	l.at, l.size, l.left = at, uint16(size), uint16(size-linkBytes)
}

// read appends the contents of a list to p.
func (la *listArena) read(l *chunkedList, p []byte) []byte {
	at, size := l.first, minChunkBytes
	for l.size != 0 {
		page, in := la.pages[at/arenaPageBytes], int(at%arenaPageBytes)
		end := in + size - linkBytes
		if l.at >= at && l.at <= at+uint32(size-linkBytes) {
			return append(p, page[in:int(l.at%arenaPageBytes)]...)
		}
		p = append(p, page[in:end]...)
		at, size = binary.LittleEndian.Uint32(page[end:]), min(2*size, maxChunkBytes)
	}
	return p
}
