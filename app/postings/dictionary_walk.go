package postings

import "bytes"

// walk goes over the terms of a dictionary in order.
type walk struct {
	leaf
	terms reader
	off   int64 // of the leaf
	size  int64 // bytes taken of buf when the leaf is at its end
	buf   [mostLeaf]byte
}

// from goes to the leaf at off; next then gives its first term.
func (w *walk) from(terms reader, off int64) {
	w.terms, w.off, w.size = terms, off, 0
	w.left, w.err, w.rest, w.term = 0, nil, nil, w.room[:0]
}

// next goes to the next term, over the ends of leaves; false at the end of the
// dictionary and after an error, which err then is.
func (w *walk) next() bool {
	for w.err == nil {
		if w.leaf.next() {
			return true
		}
		if w.err != nil || !w.turn() {
			return false
		}
	}
	return false
}

// turn reads the leaf behind.
func (w *walk) turn() bool {
	w.off += w.size - int64(len(w.rest))
	w.size = min(mostLeaf, w.terms.size()-w.off)
	w.rest = nil
	if w.size <= 0 {
		w.size = 0
		return false
	}
	if err := w.terms.readAt(w.buf[:w.size], w.off); err != nil {
		w.err = err
		return false
	}
	w.begin(w.buf[:w.size])
	return w.err == nil
}

// find returns what the dictionary tells of a term.
func (s *segment) find(term []byte, w *walk) (entry, bool, error) {
	off, end, ok := s.sparse.find(term)
	if !ok {
		return entry{}, false, nil
	}
	w.from(&s.streams[streamTerms], off)
	for w.next() {
		switch bytes.Compare(w.term, term) {
		case 0:
			return w.entry, true, nil
		case 1:
			return entry{}, false, nil
		}
		if w.left == 0 && w.off+w.size-int64(len(w.rest)) >= end {
			return entry{}, false, nil
		}
	}
	return entry{}, false, w.err
}
