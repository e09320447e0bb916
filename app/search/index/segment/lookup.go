package segment

import "bytes"

// termIterator iterates over the terms of a dictionary in order. The zero value is ready to use.
type termIterator struct {
	leaf
	terms      byteReader
	leafOffset int64 // offset of the current leaf
	size       int64 // number of bytes in buf
	buf        [maxLeafBytes]byte
}

// seek moves to the leaf at offset off. The next call of next moves to its first term.
func (it *termIterator) seek(terms byteReader, off int64) {
	it.terms, it.leafOffset, it.size = terms, off, 0
	it.remaining, it.err, it.rest, it.term = 0, nil, nil, it.termBuf[:0]
}

// next moves to the next term, which may be in the next leaf. It returns false at the end of the
// dictionary or after an error, which is in it.err.
func (it *termIterator) next() bool {
	for it.err == nil {
		if it.leaf.next() {
			return true
		}
		if it.err != nil || !it.nextLeaf() {
			return false
		}
	}
	return false
}

// nextLeaf reads the next leaf.
func (it *termIterator) nextLeaf() bool {
	it.leafOffset += it.size - int64(len(it.rest))
	it.size = min(maxLeafBytes, it.terms.size()-it.leafOffset)
	it.rest = nil
	if it.size <= 0 {
		it.size = 0
		return false
	}
	if err := it.terms.readAt(it.buf[:it.size], it.leafOffset); err != nil {
		it.err = err
		return false
	}
	it.open(it.buf[:it.size])
	return it.err == nil
}

// Lookup finds terms of a segment, one after another. If a term is greater than the previous one
// and less than limit, the lookup continues from the previous term.
type Lookup struct {
	segment  *Segment
	terms    termIterator
	started  bool
	done     bool   // there are no more terms before limit
	lastTerm []byte // previous term; terms is at the first term that is not less than this one
	limit    []byte // next separator in the sparse index; nil if there is none
	end      int64  // offset in the dictionary at which the terms below limit end
}

// Lookup returns a new Lookup for the segment.
func (s *Segment) Lookup() *Lookup { return &Lookup{segment: s} }

// Find returns the dictionary entry of a term, and whether the term exists.
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

// seek moves to the start of the leaf that can contain the term. It returns false if there is none.
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
	it := &l.terms
	atEnd := it.size > 0 && it.remaining == 0 && it.leafOffset+it.size-int64(len(it.rest)) >= l.end
	l.done = atEnd || !it.next()
}

// Terms appends the first terms with the prefix to all, in ascending order. It appends up to limit
// terms.
func (s *Segment) Terms(prefix []byte, limit int, all []string) ([]string, error) {
	off := int64(0)
	if n := s.sparse.leafAfter(prefix); n > 0 {
		off = s.sparse.offsets[n-1]
	}
	var it termIterator
	it.seek(&s.streams[streamTerms], off)
	for n := 0; n < limit && it.next(); {
		if bytes.HasPrefix(it.term, prefix) {
			all = append(all, string(it.term))
			n++
		} else if bytes.Compare(it.term, prefix) > 0 {
			break
		}
	}
	return all, it.err
}
