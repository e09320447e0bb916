package segment

import "bytes"

// TermIterator goes over the terms of a dictionary in order. The zero value is ready.
type TermIterator struct {
	leaf
	terms      byteReader
	leafOffset int64 // of the leaf
	size       int64 // bytes taken of buf when the leaf is at its end
	buf        [maxLeafBytes]byte
}

// seek goes to the leaf at off; next then gives its first term.
func (w *TermIterator) seek(terms byteReader, off int64) {
	w.terms, w.leafOffset, w.size = terms, off, 0
	w.remaining, w.err, w.rest, w.term = 0, nil, nil, w.termBuf[:0]
}

// next goes to the next term, over the ends of leaves; false at the end of the
// dictionary and after an error, which err then is.
func (w *TermIterator) next() bool {
	for w.err == nil {
		if w.leaf.next() {
			return true
		}
		if w.err != nil || !w.nextLeaf() {
			return false
		}
	}
	return false
}

// nextLeaf reads the leaf behind.
func (w *TermIterator) nextLeaf() bool {
	w.leafOffset += w.size - int64(len(w.rest))
	w.size = min(maxLeafBytes, w.terms.size()-w.leafOffset)
	w.rest = nil
	if w.size <= 0 {
		w.size = 0
		return false
	}
	if err := w.terms.readAt(w.buf[:w.size], w.leafOffset); err != nil {
		w.err = err
		return false
	}
	w.open(w.buf[:w.size])
	return w.err == nil
}

// Find returns what the dictionary tells of a term, with w as its room.
func (s *Segment) Find(term []byte, w *TermIterator) (Entry, bool, error) {
	off, end, ok := s.sparse.find(term)
	if !ok {
		return Entry{}, false, nil
	}
	w.seek(&s.streams[streamTerms], off)
	for w.next() {
		switch bytes.Compare(w.term, term) {
		case 0:
			return w.entry, true, nil
		case 1:
			return Entry{}, false, nil
		}
		if w.remaining == 0 && w.leafOffset+w.size-int64(len(w.rest)) >= end {
			return Entry{}, false, nil
		}
	}
	return Entry{}, false, w.err
}

// Lookup finds terms of a segment one after the other. A term behind the one before is
// looked for from there on, where it cannot be in a later leaf.
type Lookup struct {
	segment  *Segment
	terms    TermIterator
	started  bool
	done     bool   // behind the last term up to limit
	lastTerm []byte // the term before; walk is at the first that is not before it
	limit    []byte // separator behind what walk goes over; nil: the dictionary ends
	end      int64  // where that is
}

// Lookup begins to look up terms.
func (s *Segment) Lookup() *Lookup { return &Lookup{segment: s} }

// Find returns what the dictionary tells of a term.
func (l *Lookup) Find(term []byte) (Entry, bool, error) {
	if !l.started || bytes.Compare(term, l.lastTerm) < 0 || l.limit != nil && bytes.Compare(term, l.limit) >= 0 {
		if !l.seek(term) {
			return Entry{}, false, nil
		}
		l.step()
	}
	l.lastTerm = append(l.lastTerm[:0], term...)
	for !l.done {
		switch bytes.Compare(l.terms.term, term) {
		case 0:
			return l.terms.entry, true, nil
		case 1:
			return Entry{}, false, nil
		}
		l.step()
	}
	return Entry{}, false, l.terms.err
}

// seek goes before the terms of which one may be it.
func (l *Lookup) seek(term []byte) bool {
	x := l.segment.sparse
	n := x.leafAfter(term)
	if l.started = n > 0; !l.started {
		return false
	}
	l.done, l.limit, l.end = false, nil, x.length
	if n < len(x.offsets) {
		l.limit, l.end = x.separator(n), x.offsets[n]
	}
	l.terms.seek(&l.segment.streams[streamTerms], x.offsets[n-1])
	return true
}

func (l *Lookup) step() {
	w := &l.terms
	atEnd := w.size > 0 && w.remaining == 0 && w.leafOffset+w.size-int64(len(w.rest)) >= l.end
	l.done = atEnd || !w.next()
}

// Terms appends the first terms with the prefix, in ascending order, at most limit of them.
func (s *Segment) Terms(prefix []byte, limit int, all []string) ([]string, error) {
	off, _, ok := s.sparse.find(prefix)
	if !ok {
		off = 0
	}
	var w TermIterator
	w.seek(&s.streams[streamTerms], off)
	for n := 0; n < limit && w.next(); {
		if bytes.HasPrefix(w.term, prefix) {
			all = append(all, string(w.term))
			n++
		} else if bytes.Compare(w.term, prefix) > 0 {
			break
		}
	}
	return all, w.err
}
