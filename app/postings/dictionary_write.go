package postings

import "encoding/binary"

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
func (d *dictionaryWriter) add(term []byte, e entry) {
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
	head := uint64(e.count) << 1
	if e.word {
		head |= 1
	}
	p = binary.AppendUvarint(p, head)
	if e.count == 1 {
		p = binary.AppendUvarint(p, uint64(e.doc))
		if e.word {
			p = binary.AppendUvarint(p, uint64(e.times))
		}
	} else {
		p = binary.AppendUvarint(p, uint64(e.postings.length))
	}
	if e.word {
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
