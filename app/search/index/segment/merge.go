package segment

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
)

// Source is a segment to be merged and the set of its deleted documents, which the merge omits.
type Source struct {
	*Segment
	Tombstones *Tombstones
}

// Merge merges several segments into one, term by term. It needs memory for a few pages per segment
// and two bits per document.
type Merge struct {
	sources  []*source // newest first, like the documents in a segment
	liveDocs int
	budget   Budget
}

// source is the merge state of one segment.
type source struct {
	Source
	base           uint32   // number of the first document in the merged segment
	deletedBefore  []uint32 // number of documents that are deleted before each 64-bit word of the bitmap
	terms          termIterator
	active         bool // whether terms is at a term
	postings       *sequentialReader
	positions      *sequentialReader
	cursor         Cursor
	positionCursor Positions
	raw            []byte
}

// NewMerge prepares a merge of adjacent segments. list contains the oldest segment first. The
// caller must keep the segments open until Write returns.
func NewMerge(ctx context.Context, list []Source) *Merge {
	m := &Merge{budget: Budget{ctx: ctx}}
	for _, v := range slices.Backward(list) {
		s := &source{Source: v, base: uint32(m.liveDocs), deletedBefore: v.Tombstones.ranks()}
		m.sources = append(m.sources, s)
		m.liveDocs += int(v.docs) - v.Tombstones.Count()
	}
	return m
}

// LiveDocs returns the number of documents that the merged segment will contain. If it is zero,
// don't call Write.
func (m *Merge) LiveDocs() int { return m.liveDocs }

// TombstonesSince returns the documents of the merged segment that were deleted during the merge.
// current holds the current tombstones of the sources, in the order passed to NewMerge.
func (m *Merge) TombstonesSince(current []*Tombstones) *Tombstones {
	var docs []uint32
	for i, tombstones := range current {
		s := m.sources[len(m.sources)-1-i]
		tombstones.forEach(func(doc uint32) {
			if !s.Tombstones.Has(doc) {
				docs = append(docs, s.newDoc(doc))
			}
		})
	}
	if len(docs) == 0 {
		return nil
	}
	var none *Tombstones
	return none.With(uint32(m.liveDocs), docs)
}

// Write writes the merged segment. The caller then completes it with Writer.Finish. Write returns
// ErrDamaged, the error of the context, or errors of the operating system.
func (m *Merge) Write(w *Writer) error {
	m.writeDocuments(w)
	if m.budget.err == nil {
		m.writeKeys(w)
	}
	if m.budget.err == nil {
		m.writeTerms(w)
	}
	m.budget.Check()
	return m.budget.err
}

// column returns a column of a source that is read from start to end.
func (m *Merge) column(s *source, stream int) *Column {
	return &Column{stream: newSequentialReader(&s.streams[stream]), budget: &m.budget}
}

// writeDocuments writes the columns of all live documents.
func (m *Merge) writeDocuments(w *Writer) {
	for _, s := range m.sources {
		keys, groups, dates, lengths := m.column(s, streamKeys), m.column(s, streamGroups), m.column(s, streamDates), m.column(s, streamLengths)
		for doc := range s.docs {
			if s.Tombstones.Has(doc) {
				continue
			}
			w.AddDocument(keys.u64(doc), groups.U8(doc), int32(dates.U32(doc)), uint32(lengths.U16(doc)))
		}
		if m.budget.Check(); m.budget.err != nil {
			return
		}
	}
}

// keyIterator iterates over the sorted keys of a source.
type keyIterator struct {
	*source
	keys, numbers *Column
	pos           uint32
	key           uint64
	doc           uint32
}

// next moves to the next key of a live document. It returns false at the end.
func (k *keyIterator) next() bool {
	for ; k.pos < k.docs; k.pos++ {
		doc := k.numbers.U32(k.pos)
		if doc < k.docs && !k.Tombstones.Has(doc) {
			k.key, k.doc = k.keys.u64(k.pos), k.newDoc(doc)
			k.pos++
			return true
		}
	}
	return false
}

// writeKeys merges the sorted keys of the sources.
func (m *Merge) writeKeys(w *Writer) {
	var iters []*keyIterator
	for _, s := range m.sources {
		if k := (&keyIterator{source: s, keys: m.column(s, streamSorted), numbers: m.column(s, streamNumbers)}); k.next() {
			iters = append(iters, k)
		}
	}
	for len(iters) > 0 && m.budget.err == nil {
		first := 0
		for i, k := range iters {
			if k.key < iters[first].key {
				first = i
			}
		}
		w.AddKey(iters[first].key, iters[first].doc)
		if !iters[first].next() {
			iters = slices.Delete(iters, first, first+1)
		}
	}
}

// writeTerms merges the dictionaries and posting lists of the sources.
func (m *Merge) writeTerms(w *Writer) {
	for _, s := range m.sources {
		s.postings, s.positions = newSequentialReader(&s.streams[streamPostings]), newSequentialReader(&s.streams[streamPositions])
		s.terms.seek(newSequentialReader(&s.streams[streamTerms]), 0)
		m.advance(s)
	}
	var term []byte
	for n := 1; m.budget.err == nil; n++ {
		if n%1024 == 0 {
			m.budget.Check()
		}
		first, hasPositions := m.minTerm()
		if first == nil {
			return
		}
		term = append(term[:0], first.terms.term...)
		w.StartTerm(hasPositions)
		for _, s := range m.sources {
			if s.active && bytes.Equal(s.terms.term, term) {
				s.copyPostings(w, &m.budget)
				m.advance(s)
			}
		}
		w.EndTerm(term)
	}
}

// advance moves a source to its next term.
func (m *Merge) advance(s *source) {
	if s.active = s.terms.next(); s.terms.err != nil {
		m.budget.Fail(s.terms.err)
	}
}

// minTerm returns a source that is at the smallest term, or nil if there are no more terms.
// hasPositions reports whether any source has positions for that term.
func (m *Merge) minTerm() (first *source, hasPositions bool) {
	for _, s := range m.sources {
		if !s.active {
			continue
		}
		order := -1
		if first != nil {
			order = bytes.Compare(s.terms.term, first.terms.term)
		}
		switch {
		case order < 0:
			first, hasPositions = s, s.terms.entry.HasPositions
		case order == 0:
			hasPositions = hasPositions || s.terms.entry.HasPositions
		}
	}
	return first, hasPositions
}

// copyPostings copies the live postings of the current term of the source.
func (s *source) copyPostings(w *Writer, budget *Budget) {
	c, e := &s.cursor, s.terms.entry
	c.open(s.postings, e, s.docs, budget)
	if e.HasPositions {
		s.positionCursor.open(s.positions, c)
	}
	for d := c.Next(); d != NoMoreDocs; d = c.Next() {
		if s.Tombstones.Has(d) {
			continue
		}
		times := uint32(0)
		s.raw = s.raw[:0]
		if e.HasPositions {
			times = c.Freq()
			s.raw = s.positionCursor.appendRaw(s.raw)
		}
		w.AddPosting(s.newDoc(d), times, s.raw)
	}
}

// newDoc maps the number of a live document to its number in the merged segment.
func (s *source) newDoc(doc uint32) uint32 {
	if s.Tombstones == nil {
		return s.base + doc
	}
	w := doc >> 6
	below := s.Tombstones.bits[w] & (1<<(doc&63) - 1)
	return s.base + doc - s.deletedBefore[w] - uint32(bits.OnesCount64(below))
}

// ranks returns the number of deleted documents before each 64-bit word of the bitmap.
func (t *Tombstones) ranks() (ranks []uint32) {
	if t == nil {
		return nil
	}
	n := uint32(0)
	for _, w := range t.bits {
		ranks = append(ranks, n)
		n += uint32(bits.OnesCount64(w))
	}
	return ranks
}
