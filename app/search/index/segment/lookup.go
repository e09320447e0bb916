package segment

import "bytes"

// Walk goes over the terms of a dictionary in order. The zero value is ready.
type Walk struct {
	leaf
	terms reader
	off   int64 // of the leaf
	size  int64 // bytes taken of buf when the leaf is at its end
	buf   [mostLeaf]byte
}

// from goes to the leaf at off; next then gives its first term.
func (w *Walk) from(terms reader, off int64) {
	w.terms, w.off, w.size = terms, off, 0
	w.left, w.err, w.rest, w.term = 0, nil, nil, w.room[:0]
}

// next goes to the next term, over the ends of leaves; false at the end of the
// dictionary and after an error, which err then is.
func (w *Walk) next() bool {
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
func (w *Walk) turn() bool {
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

// Find returns what the dictionary tells of a term, with w as its room.
func (s *Segment) Find(term []byte, w *Walk) (Entry, bool, error) {
	off, end, ok := s.sparse.find(term)
	if !ok {
		return Entry{}, false, nil
	}
	w.from(&s.streams[streamTerms], off)
	for w.next() {
		switch bytes.Compare(w.term, term) {
		case 0:
			return w.entry, true, nil
		case 1:
			return Entry{}, false, nil
		}
		if w.left == 0 && w.off+w.size-int64(len(w.rest)) >= end {
			return Entry{}, false, nil
		}
	}
	return Entry{}, false, w.err
}

// Lookup finds terms of a segment one after the other. A term behind the one before is
// looked for from there on, where it cannot be in a later leaf.
type Lookup struct {
	segment *Segment
	walk    Walk
	begun   bool
	over    bool   // behind the last term up to limit
	last    []byte // the term before; walk is at the first that is not before it
	limit   []byte // separator behind what walk goes over; nil: the dictionary ends
	end     int64  // where that is
}

// Lookup begins to look up terms.
func (s *Segment) Lookup() *Lookup { return &Lookup{segment: s} }

// Find returns what the dictionary tells of a term.
func (l *Lookup) Find(term []byte) (Entry, bool, error) {
	if !l.begun || bytes.Compare(term, l.last) < 0 || l.limit != nil && bytes.Compare(term, l.limit) >= 0 {
		if !l.seek(term) {
			return Entry{}, false, nil
		}
		l.step()
	}
	l.last = append(l.last[:0], term...)
	for !l.over {
		switch bytes.Compare(l.walk.term, term) {
		case 0:
			return l.walk.entry, true, nil
		case 1:
			return Entry{}, false, nil
		}
		l.step()
	}
	return Entry{}, false, l.walk.err
}

// seek goes before the terms of which one may be it.
func (l *Lookup) seek(term []byte) bool {
	x := l.segment.sparse
	n := x.behind(term)
	if l.begun = n > 0; !l.begun {
		return false
	}
	l.over, l.limit, l.end = false, nil, x.length
	if n < len(x.offsets) {
		l.limit, l.end = x.separator(n), x.offsets[n]
	}
	l.walk.from(&l.segment.streams[streamTerms], x.offsets[n-1])
	return true
}

func (l *Lookup) step() {
	w := &l.walk
	atEnd := w.size > 0 && w.left == 0 && w.off+w.size-int64(len(w.rest)) >= l.end
	l.over = atEnd || !w.next()
}

// Terms appends the first terms with the prefix, in ascending order, at most limit of them.
func (s *Segment) Terms(prefix []byte, limit int, all []string) ([]string, error) {
	off, _, ok := s.sparse.find(prefix)
	if !ok {
		off = 0
	}
	var w Walk
	w.from(&s.streams[streamTerms], off)
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
