package segment

import "bytes"

// Lookup finds terms of a segment, one after another. If a term isn't less than the previous one and is in
// the same leaf, the lookup continues from the previous term.
type Lookup struct {
	segment  *Segment
	terms    termIterator
	leaf     int    // number of the leaf in the sparse index that terms started with, from 1; 0 at the start
	more     bool   // terms is at a term
	lastTerm []byte // previous term; terms is at the first term that is not less than this one
}

// Lookup returns a new Lookup for the segment.
func (s *Segment) Lookup() *Lookup { return &Lookup{segment: s} }

// Find returns the dictionary entry of a term, and whether the term exists.
func (l *Lookup) Find(term []byte) (Entry, bool, error) {
	sparse := l.segment.sparse
	leaf := sparse.leafAfter(term)
	if leaf == 0 {
		return Entry{}, false, nil
	}
	if leaf != l.leaf || bytes.Compare(term, l.lastTerm) < 0 {
		l.leaf = leaf
		l.terms.seek(&l.segment.streams[streamTerms], sparse.offsets[leaf-1])
		l.more = l.terms.next()
	}
	l.lastTerm = append(l.lastTerm[:0], term...)
	for ; l.more; l.more = l.terms.next() {
		if order := bytes.Compare(l.terms.term, term); order >= 0 {
			return l.terms.entry, order == 0, nil
		}
	}
	return Entry{}, false, l.terms.err
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
