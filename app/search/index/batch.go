package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"deedkeep/app/search/index/segment"
)

// A document is what the caller says it is: a key, a group, a date, and terms, which
// are opaque bytes here. What they mean is the caller's.

// Most bytes of a term, and most groups.
const (
	MostTerm = segment.MostTerm
	Groups   = 8
)

// NoDate is the date of a document that has none; no range holds it.
const NoDate int32 = -1 << 31

// Batch is documents on their way into the index. It is for one goroutine. What is
// wrong with a document is said by Apply.
type Batch struct {
	docs    []batchDoc
	touched map[uint64]int // key → its document here; -1 where it is only removed
	terms   table
	lists   chains
	err     error
}

type batchDoc struct {
	key   uint64
	date  int32
	words uint32
	group uint8
	dead  bool // replaced or removed by what came later
}

// Batch returns an empty batch.
func (x *Index) Batch() *Batch { return newBatch() }

func newBatch() *Batch {
	b := &Batch{touched: make(map[uint64]int)}
	b.terms.init()
	return b
}

// Begin begins a document, which takes the place of an earlier one of its key. The
// group is below Groups; the date is in days since 1970, or NoDate.
func (b *Batch) Begin(key uint64, group uint8, date int32) {
	if group >= Groups {
		b.fail(fmt.Errorf("document %d: group %d of %d", key, group, Groups))
		group = 0
	}
	if len(b.docs) == segment.MostDocs {
		b.fail(fmt.Errorf("more than %d documents in a batch", segment.MostDocs))
		return
	}
	b.Remove(key)
	b.touched[key] = len(b.docs)
	b.docs = append(b.docs, batchDoc{key: key, group: group, date: date})
}

// Flat says that the document has the term. Of a term that is a word of the document
// too it says nothing more.
func (b *Batch) Flat(term []byte) {
	if t := b.term(term); t != nil {
		b.occur(t)
	}
}

// mostTimes is how many occurrences of a term in one document a batch holds; behind
// them it counts as a word of the document alone.
const mostTimes = 1 << 18

// Word says that the document has the term at the position, counted in words from 0
// and never less than the position of that term before. Of a document's occurrences of
// a term the first segment.MostPlaces keep their position. It reports the first one of the
// document.
func (b *Batch) Word(term []byte, position uint32) (first bool) {
	t := b.term(term)
	if t == nil {
		return false
	}
	b.occur(t)
	if position < t.position {
		b.fail(fmt.Errorf("%w: position %d behind %d", ErrTerm, position, t.position))
		return false
	}
	t.word = true
	b.docs[len(b.docs)-1].words++
	if t.places++; t.places > mostTimes {
		return false
	}
	b.lists.append(&t.list, uint64(position-t.position)<<1)
	t.position = position
	return t.places == 1
}

// Remove takes the document of the key away, whether it is of this batch or earlier.
func (b *Batch) Remove(key uint64) {
	if at, here := b.touched[key]; here && at >= 0 {
		b.docs[at].dead = true
	}
	b.touched[key] = -1
}

// Bytes returns about how much memory the batch holds.
func (b *Batch) Bytes() int {
	const doc, touched = 24, 40
	return b.lists.bytes() + b.terms.bytes() + doc*cap(b.docs) + touched*len(b.touched)
}

func (b *Batch) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *Batch) term(term []byte) *batchTerm {
	switch {
	case len(b.docs) == 0:
		b.fail(fmt.Errorf("%w: it stands before every document", ErrTerm))
		return nil
	case len(term) == 0 || len(term) > MostTerm:
		b.fail(fmt.Errorf("%w: %d bytes", ErrTerm, len(term)))
		return nil
	}
	return b.terms.get(term)
}

// occur notes that the document has the term.
func (b *Batch) occur(t *batchTerm) {
	doc := uint32(len(b.docs))
	if t.doc == doc {
		return
	}
	b.lists.append(&t.list, uint64(doc-t.doc)<<1|1)
	t.doc = doc
	t.position, t.places = 0, 0
}

// living counts the documents that nothing later has replaced.
func (b *Batch) living() int {
	n := 0
	for i := range b.docs {
		if !b.docs[i].dead {
			n++
		}
	}
	return n
}

// write writes the living documents as a segment, the latest first.
func (b *Batch) write(ctx context.Context, w *segment.Writer) error {
	numbers := make([]uint32, len(b.docs))
	for i := len(b.docs) - 1; i >= 0; i-- {
		if d := &b.docs[i]; !d.dead {
			numbers[i] = w.Document(d.key, d.group, d.date, d.words)
		}
	}
	type place struct {
		key uint64
		doc uint32
	}
	var keys []place
	for key, at := range b.touched {
		if at >= 0 {
			keys = append(keys, place{key, numbers[at]})
		}
	}
	slices.SortFunc(keys, func(a, b place) int { return cmp.Compare(a.key, b.key) })
	for _, k := range keys {
		w.Key(k.key, k.doc)
	}
	e := emission{batch: b, numbers: numbers}
	for i, t := range b.terms.sorted() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.term(w, t)
	}
	return nil
}

// emission turns the lists of a batch round: they were gathered from the earliest
// document on, and are written from the latest.
type emission struct {
	batch   *Batch
	numbers []uint32 // document of the batch → document of the segment
	list    []byte
	places  []byte
	docs    []emitted
}

type emitted struct {
	doc   int // of the batch
	times uint32
	from  int // where its positions begin
	to    int
}

func (e *emission) term(w *segment.Writer, t *batchTerm) {
	e.gather(t)
	w.Begin(t.word)
	for i := len(e.docs) - 1; i >= 0; i-- {
		if d := e.docs[i]; !e.batch.docs[d.doc].dead {
			w.Add(e.numbers[d.doc], d.times, e.places[d.from:d.to])
		}
	}
	w.End(e.batch.terms.spelling(t))
}

// gather reads the list of a term.
func (e *emission) gather(t *batchTerm) {
	e.list = e.batch.lists.read(&t.list, e.list[:0])
	e.places, e.docs = e.places[:0], e.docs[:0]
	doc := -1
	for p := e.list; len(p) > 0; {
		v, n := binary.Uvarint(p)
		p = p[n:]
		if v&1 == 1 {
			doc += int(v >> 1)
			e.docs = append(e.docs, emitted{doc: doc, from: len(e.places), to: len(e.places)})
			continue
		}
		d := &e.docs[len(e.docs)-1]
		if d.times++; d.times <= segment.MostPlaces {
			e.places = binary.AppendUvarint(e.places, v>>1)
			d.to = len(e.places)
		}
	}
}
