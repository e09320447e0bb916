package segment

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
)

// Source is a segment that is to be merged, and which of its documents are left out.
type Source struct {
	Segment *Segment
	Gone    *Gone
}

// Merge writes several segments as one, a term at a time: its memory is some pages of
// each, and two bits for a document.
type Merge struct {
	sources []*source // the latest first, as documents are numbered
	living  int
	watch   Watch
}

// source is a segment that is merged.
type source struct {
	segment *Segment
	gone    *Gone
	renumber
	terms     Walk
	alive     bool // terms is in a term
	postings  *passage
	positions *passage
	cursor    Cursor
	places    Places
	raw       []byte
}

// NewMerge prepares a merge of neighbors, the earliest first. Those who hold the
// segments hold them until it is written.
func NewMerge(ctx context.Context, list []Source) *Merge {
	g := &Merge{watch: Watch{ctx: ctx}}
	for _, v := range slices.Backward(list) {
		s := &source{segment: v.Segment, gone: v.Gone, renumber: newRenumber(v.Gone, uint32(g.living))}
		g.sources = append(g.sources, s)
		g.living += int(v.Segment.docs) - v.Gone.Count()
	}
	return g
}

// Living is how many documents the merged segment has; where there are none, there is
// none to write.
func (g *Merge) Living() int { return g.living }

// GoneSince returns which documents of the merged segment are gone by now: now is of the
// sources, in the order in which they were given, what is gone of each meanwhile.
func (g *Merge) GoneSince(now []*Gone) *Gone {
	var more []uint32
	for i, left := range now {
		s := g.sources[len(g.sources)-1-i]
		left.each(func(doc uint32) {
			if !s.gone.Has(doc) {
				more = append(more, s.number(doc))
			}
		})
	}
	if len(more) == 0 {
		return nil
	}
	var nothing *Gone
	return nothing.With(uint32(g.living), more)
}

// Write writes the merged segment, but for its end (Writer.Finish). Errors: ErrDamaged,
// that of ctx and those of the operating system.
func (g *Merge) Write(w *Writer) error {
	g.documents(w)
	if g.watch.err == nil {
		g.keys(w)
	}
	if g.watch.err == nil {
		g.terms(w)
	}
	g.watch.Look()
	return g.watch.err
}

// documents writes what is known of each.
func (g *Merge) documents(w *Writer) {
	for _, s := range g.sources {
		of := func(stream int) *Column { return newColumn(newPassage(&s.segment.streams[stream]), &g.watch) }
		keys, groups, dates, lengths := of(streamKeys), of(streamGroups), of(streamDates), of(streamLengths)
		for doc := range s.segment.docs {
			if s.gone.Has(doc) {
				continue
			}
			w.Document(keys.u64(doc), groups.U8(doc), int32(dates.U32(doc)), uint32(lengths.U16(doc)))
		}
		if g.watch.Look(); g.watch.err != nil {
			return
		}
	}
}

// keyed is where the merge stands in the sorted keys of a source.
type keyed struct {
	*source
	keys, numbers *Column
	at            uint32
	key           uint64
	doc           uint32
}

// next goes to the next key of a living document; false behind the last.
func (k *keyed) next() bool {
	for ; k.at < k.segment.docs; k.at++ {
		doc := k.numbers.U32(k.at)
		if doc < k.segment.docs && !k.gone.Has(doc) {
			k.key, k.doc = k.keys.u64(k.at), k.number(doc)
			k.at++
			return true
		}
	}
	return false
}

// keys merges the sorted keys.
func (g *Merge) keys(w *Writer) {
	var open []*keyed
	for _, s := range g.sources {
		of := func(stream int) *Column { return newColumn(newPassage(&s.segment.streams[stream]), &g.watch) }
		if k := (&keyed{source: s, keys: of(streamSorted), numbers: of(streamNumbers)}); k.next() {
			open = append(open, k)
		}
	}
	for len(open) > 0 && g.watch.err == nil {
		least := 0
		for i, k := range open {
			if k.key < open[least].key {
				least = i
			}
		}
		w.Key(open[least].key, open[least].doc)
		if !open[least].next() {
			open = slices.Delete(open, least, least+1)
		}
	}
}

// terms merges the dictionaries, and the lists with them.
func (g *Merge) terms(w *Writer) {
	for _, s := range g.sources {
		of := func(stream int) *passage { return newPassage(&s.segment.streams[stream]) }
		s.postings, s.positions = of(streamPostings), of(streamPositions)
		s.terms.from(of(streamTerms), 0)
		g.step(s)
	}
	var term []byte
	for n := 1; g.watch.err == nil; n++ {
		if n%1024 == 0 {
			g.watch.Look()
		}
		least, word := g.least()
		if least == nil {
			return
		}
		term = append(term[:0], least.terms.term...)
		w.Begin(word)
		for _, s := range g.sources {
			if s.alive && bytes.Equal(s.terms.term, term) {
				s.copy(w, &g.watch)
				g.step(s)
			}
		}
		w.End(term)
	}
}

// step goes to the next term of a source.
func (g *Merge) step(s *source) {
	if s.alive = s.terms.next(); s.terms.err != nil {
		g.watch.Fail(s.terms.err)
	}
}

// least returns a source that is in the least term, or nil; and whether some source
// has positions of it.
func (g *Merge) least() (least *source, word bool) {
	for _, s := range g.sources {
		if !s.alive {
			continue
		}
		order := -1
		if least != nil {
			order = bytes.Compare(s.terms.term, least.terms.term)
		}
		switch {
		case order < 0:
			least, word = s, s.terms.entry.Word
		case order == 0:
			word = word || s.terms.entry.Word
		}
	}
	return least, word
}

// copy copies the living documents of the term the source is in.
func (s *source) copy(w *Writer, watch *Watch) {
	c, e := &s.cursor, s.terms.entry
	c.open(s.postings, e, s.segment.docs, watch)
	if e.Word {
		s.places.open(s.positions, c)
	}
	for d := c.Next(); d != None; d = c.Next() {
		if s.gone.Has(d) {
			continue
		}
		times := uint32(0)
		s.raw = s.raw[:0]
		if e.Word {
			times = c.Often()
			s.raw = s.places.raw(s.raw)
		}
		w.Add(s.number(d), times, s.raw)
	}
}

// renumber tells the numbers of documents when those before them that are gone are
// left out.
type renumber struct {
	base   uint32
	left   *Gone
	before []uint32 // of every word of gone, how many are gone before it
}

func newRenumber(g *Gone, base uint32) renumber {
	r := renumber{base: base, left: g}
	if g == nil {
		return r
	}
	n := uint32(0)
	for _, w := range g.bits {
		r.before = append(r.before, n)
		n += uint32(bits.OnesCount64(w))
	}
	return r
}

func (r *renumber) number(doc uint32) uint32 {
	if r.left == nil {
		return r.base + doc
	}
	w := doc >> 6
	below := r.left.bits[w] & (1<<(doc&63) - 1)
	return r.base + doc - r.before[w] - uint32(bits.OnesCount64(below))
}
