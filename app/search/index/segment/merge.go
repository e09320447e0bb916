package segment

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
)

// Source is a segment that is to be merged, and which of its documents are left out.
type Source struct {
	Segment    *Segment
	Tombstones *Tombstones
}

// Merge writes several segments as one, a term at a time: its memory is some pages of
// each, and two bits for a document.
type Merge struct {
	sources  []*source // the latest first, as documents are numbered
	liveDocs int
	budget   Budget
}

// source is a segment that is merged.
type source struct {
	segment    *Segment
	tombstones *Tombstones
	docMap
	terms          TermIterator
	active         bool // terms is in a term
	postings       *sequentialReader
	positions      *sequentialReader
	cursor         Cursor
	positionCursor Positions
	raw            []byte
}

// NewMerge prepares a merge of neighbors, the earliest first. Those who hold the
// segments hold them until it is written.
func NewMerge(ctx context.Context, list []Source) *Merge {
	g := &Merge{budget: Budget{ctx: ctx}}
	for _, v := range slices.Backward(list) {
		s := &source{segment: v.Segment, tombstones: v.Tombstones, docMap: newDocMap(v.Tombstones, uint32(g.liveDocs))}
		g.sources = append(g.sources, s)
		g.liveDocs += int(v.Segment.docs) - v.Tombstones.Count()
	}
	return g
}

// LiveDocs is how many documents the merged segment has; where there are none, there is
// none to write.
func (g *Merge) LiveDocs() int { return g.liveDocs }

// TombstonesSince returns which documents of the merged segment are gone by now: now is of the
// sources, in the order in which they were given, what is gone of each meanwhile.
func (g *Merge) TombstonesSince(now []*Tombstones) *Tombstones {
	var more []uint32
	for i, left := range now {
		s := g.sources[len(g.sources)-1-i]
		left.forEach(func(doc uint32) {
			if !s.tombstones.Has(doc) {
				more = append(more, s.newDoc(doc))
			}
		})
	}
	if len(more) == 0 {
		return nil
	}
	var nothing *Tombstones
	return nothing.With(uint32(g.liveDocs), more)
}

// Write writes the merged segment, but for its end (Writer.Finish). Errors: ErrDamaged,
// that of ctx and those of the operating system.
func (g *Merge) Write(w *Writer) error {
	g.writeDocuments(w)
	if g.budget.err == nil {
		g.writeKeys(w)
	}
	if g.budget.err == nil {
		g.writeTerms(w)
	}
	g.budget.Check()
	return g.budget.err
}

// writeDocuments writes what is known of each.
func (g *Merge) writeDocuments(w *Writer) {
	for _, s := range g.sources {
		of := func(stream int) *Column { return newColumn(newSequentialReader(&s.segment.streams[stream]), &g.budget) }
		keys, groups, dates, lengths := of(streamKeys), of(streamGroups), of(streamDates), of(streamLengths)
		for doc := range s.segment.docs {
			if s.tombstones.Has(doc) {
				continue
			}
			w.AddDocument(keys.u64(doc), groups.U8(doc), int32(dates.U32(doc)), uint32(lengths.U16(doc)))
		}
		if g.budget.Check(); g.budget.err != nil {
			return
		}
	}
}

// keyIterator is where the merge stands in the sorted keys of a source.
type keyIterator struct {
	*source
	keys, numbers *Column
	pos           uint32
	key           uint64
	doc           uint32
}

// next goes to the next key of a living document; false behind the last.
func (k *keyIterator) next() bool {
	for ; k.pos < k.segment.docs; k.pos++ {
		doc := k.numbers.U32(k.pos)
		if doc < k.segment.docs && !k.tombstones.Has(doc) {
			k.key, k.doc = k.keys.u64(k.pos), k.newDoc(doc)
			k.pos++
			return true
		}
	}
	return false
}

// writeKeys merges the sorted keys.
func (g *Merge) writeKeys(w *Writer) {
	var open []*keyIterator
	for _, s := range g.sources {
		of := func(stream int) *Column { return newColumn(newSequentialReader(&s.segment.streams[stream]), &g.budget) }
		if k := (&keyIterator{source: s, keys: of(streamSorted), numbers: of(streamNumbers)}); k.next() {
			open = append(open, k)
		}
	}
	for len(open) > 0 && g.budget.err == nil {
		least := 0
		for i, k := range open {
			if k.key < open[least].key {
				least = i
			}
		}
		w.AddKey(open[least].key, open[least].doc)
		if !open[least].next() {
			open = slices.Delete(open, least, least+1)
		}
	}
}

// writeTerms merges the dictionaries, and the lists with them.
func (g *Merge) writeTerms(w *Writer) {
	for _, s := range g.sources {
		of := func(stream int) *sequentialReader { return newSequentialReader(&s.segment.streams[stream]) }
		s.postings, s.positions = of(streamPostings), of(streamPositions)
		s.terms.seek(of(streamTerms), 0)
		g.advance(s)
	}
	var term []byte
	for n := 1; g.budget.err == nil; n++ {
		if n%1024 == 0 {
			g.budget.Check()
		}
		least, word := g.minTerm()
		if least == nil {
			return
		}
		term = append(term[:0], least.terms.term...)
		w.StartTerm(word)
		for _, s := range g.sources {
			if s.active && bytes.Equal(s.terms.term, term) {
				s.copyPostings(w, &g.budget)
				g.advance(s)
			}
		}
		w.EndTerm(term)
	}
}

// advance goes to the next term of a source.
func (g *Merge) advance(s *source) {
	if s.active = s.terms.next(); s.terms.err != nil {
		g.budget.Fail(s.terms.err)
	}
}

// minTerm returns a source that is in the least term, or nil; and whether some source
// has positions of it.
func (g *Merge) minTerm() (least *source, word bool) {
	for _, s := range g.sources {
		if !s.active {
			continue
		}
		order := -1
		if least != nil {
			order = bytes.Compare(s.terms.term, least.terms.term)
		}
		switch {
		case order < 0:
			least, word = s, s.terms.entry.HasPositions
		case order == 0:
			word = word || s.terms.entry.HasPositions
		}
	}
	return least, word
}

// copyPostings copies the living documents of the term the source is in.
func (s *source) copyPostings(w *Writer, watch *Budget) {
	c, e := &s.cursor, s.terms.entry
	c.open(s.postings, e, s.segment.docs, watch)
	if e.HasPositions {
		s.positionCursor.open(s.positions, c)
	}
	for d := c.Next(); d != NoMoreDocs; d = c.Next() {
		if s.tombstones.Has(d) {
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

// docMap tells the numbers of documents when those before them that are gone are
// left out.
type docMap struct {
	base          uint32
	deleted       *Tombstones
	deletedBefore []uint32 // of every word of gone, how many are gone before it
}

func newDocMap(g *Tombstones, base uint32) docMap {
	r := docMap{base: base, deleted: g}
	if g == nil {
		return r
	}
	n := uint32(0)
	for _, w := range g.bits {
		r.deletedBefore = append(r.deletedBefore, n)
		n += uint32(bits.OnesCount64(w))
	}
	return r
}

func (r *docMap) newDoc(doc uint32) uint32 {
	if r.deleted == nil {
		return r.base + doc
	}
	w := doc >> 6
	below := r.deleted.bits[w] & (1<<(doc&63) - 1)
	return r.base + doc - r.deletedBefore[w] - uint32(bits.OnesCount64(below))
}
