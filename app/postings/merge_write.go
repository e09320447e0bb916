package postings

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
)

// merge writes several segments as one, a term at a time: its memory is some pages of
// each, and two bits for a document.
type merge struct {
	sources []*source // the latest first, as documents are numbered
	living  int
	watch   watch
}

// source is a segment that is merged.
type source struct {
	view
	renumber
	terms     walk
	alive     bool // terms is in a term
	postings  *passage
	positions *passage
	cursor    cursor
	places    places
	raw       []byte
}

func newMerge(ctx context.Context, views []view) *merge {
	g := &merge{watch: watch{ctx: ctx}}
	for _, v := range slices.Backward(views) {
		s := &source{view: v, renumber: newRenumber(v.gone, uint32(g.living))}
		g.sources = append(g.sources, s)
		g.living += int(v.segment.docs) - v.gone.count()
	}
	return g
}

func (g *merge) earliest() *segment { return g.sources[len(g.sources)-1].segment }

// goneSince returns which documents of the merged segment are gone by now: views are
// what the sources have become meanwhile.
func (g *merge) goneSince(views []view, docs uint32) *gone {
	var more []uint32
	for i, v := range views {
		s := g.sources[len(g.sources)-1-i]
		v.gone.each(func(doc uint32) {
			if !s.gone.has(doc) {
				more = append(more, s.number(doc))
			}
		})
	}
	if len(more) == 0 {
		return nil
	}
	var none *gone
	return none.with(docs, more)
}

func (g *merge) write(w *segmentWriter) error {
	g.documents(w)
	if g.watch.err == nil {
		g.keys(w)
	}
	if g.watch.err == nil {
		g.terms(w)
	}
	g.watch.look()
	return g.watch.err
}

// documents writes what is known of each.
func (g *merge) documents(w *segmentWriter) {
	for _, s := range g.sources {
		of := func(stream int) *column { return newColumn(newPassage(&s.segment.streams[stream]), &g.watch) }
		keys, groups, dates, lengths := of(streamKeys), of(streamGroups), of(streamDates), of(streamLengths)
		for doc := range s.segment.docs {
			if s.gone.has(doc) {
				continue
			}
			w.document(keys.u64(doc), groups.u8(doc), int32(dates.u32(doc)), uint32(lengths.u16(doc)))
		}
		if g.watch.look(); g.watch.err != nil {
			return
		}
	}
}

// keyed is where the merge stands in the sorted keys of a source.
type keyed struct {
	*source
	keys, numbers *column
	at            uint32
	key           uint64
	doc           uint32
}

// next goes to the next key of a living document; false behind the last.
func (k *keyed) next() bool {
	for ; k.at < k.segment.docs; k.at++ {
		doc := k.numbers.u32(k.at)
		if doc < k.segment.docs && !k.gone.has(doc) {
			k.key, k.doc = k.keys.u64(k.at), k.number(doc)
			k.at++
			return true
		}
	}
	return false
}

// keys merges the sorted keys.
func (g *merge) keys(w *segmentWriter) {
	var open []*keyed
	for _, s := range g.sources {
		of := func(stream int) *column { return newColumn(newPassage(&s.segment.streams[stream]), &g.watch) }
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
		w.key(open[least].key, open[least].doc)
		if !open[least].next() {
			open = slices.Delete(open, least, least+1)
		}
	}
}

// terms merges the dictionaries, and the lists with them.
func (g *merge) terms(w *segmentWriter) {
	for _, s := range g.sources {
		of := func(stream int) *passage { return newPassage(&s.segment.streams[stream]) }
		s.postings, s.positions = of(streamPostings), of(streamPositions)
		s.terms.from(of(streamTerms), 0)
		g.step(s)
	}
	var term []byte
	for n := 1; g.watch.err == nil; n++ {
		if n%1024 == 0 {
			g.watch.look()
		}
		least, word := g.least()
		if least == nil {
			return
		}
		term = append(term[:0], least.terms.term...)
		w.begin(word)
		for _, s := range g.sources {
			if s.alive && bytes.Equal(s.terms.term, term) {
				s.copy(w, &g.watch)
				g.step(s)
			}
		}
		w.end(term)
	}
}

// step goes to the next term of a source.
func (g *merge) step(s *source) {
	if s.alive = s.terms.next(); s.terms.err != nil {
		g.watch.fail(s.terms.err)
	}
}

// least returns a source that is in the least term, or nil; and whether some source
// has positions of it.
func (g *merge) least() (least *source, word bool) {
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
			least, word = s, s.terms.entry.word
		case order == 0:
			word = word || s.terms.entry.word
		}
	}
	return least, word
}

// copy copies the living documents of the term the source is in.
func (s *source) copy(w *segmentWriter, watch *watch) {
	c, e := &s.cursor, s.terms.entry
	c.open(s.postings, e, s.segment.docs, watch)
	if e.word {
		s.places.open(s.positions, c)
	}
	for d := c.next(); d != none; d = c.next() {
		if s.gone.has(d) {
			continue
		}
		times := uint32(0)
		s.raw = s.raw[:0]
		if e.word {
			times = c.often()
			s.raw = s.places.raw(s.raw)
		}
		w.add(s.number(d), times, s.raw)
	}
}

// renumber tells the numbers of documents when those before them that are gone are
// left out.
type renumber struct {
	base   uint32
	left   *gone
	before []uint32 // of every word of gone, how many are gone before it
}

func newRenumber(g *gone, base uint32) renumber {
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
