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
	MaxTermBytes = segment.MaxTermBytes
	NumGroups    = 8
)

// NoDate is the date of a document that has none; no range holds it.
const NoDate int32 = -1 << 31

// Batch is documents on their way into the index. It is for one goroutine. What is
// wrong with a document is said by Apply.
type Batch struct {
	docs    []batchDoc
	touched map[uint64]int // key → its document here; -1 where it is only removed
	terms   termTable
	lists   listArena
	err     error
}

type batchDoc struct {
	key        uint64
	date       int32
	words      uint32
	group      uint8
	superseded bool // replaced or removed by what came later
}

// NewBatch returns an empty batch.
func (x *Index) NewBatch() *Batch { return newBatch() }

func newBatch() *Batch {
	b := &Batch{touched: make(map[uint64]int)}
	b.terms.init()
	return b
}

// StartDocument begins a document, which takes the place of an earlier one of its key. The
// group is below Groups; the date is in days since 1970, or NoDate.
func (b *Batch) StartDocument(key uint64, group uint8, date int32) {
	if group >= NumGroups {
		b.fail(fmt.Errorf("document %d: group %d of %d", key, group, NumGroups))
		group = 0
	}
	if len(b.docs) == segment.MaxDocs {
		b.fail(fmt.Errorf("more than %d documents in a batch", segment.MaxDocs))
		return
	}
	b.Remove(key)
	b.touched[key] = len(b.docs)
	b.docs = append(b.docs, batchDoc{key: key, group: group, date: date})
}

// AddTerm says that the document has the term. Of a term that is a word of the document
// too it says nothing more.
func (b *Batch) AddTerm(term []byte) {
	if t := b.findTerm(term); t != nil {
		b.addDocument(t)
	}
}

// maxOccurrences is how many occurrences of a term in one document a batch holds; behind
// them it counts as a word of the document alone.
const maxOccurrences = 1 << 18

// AddWord says that the document has the term at the position, counted in words from 0
// and never less than the position of that term before. Of a document's occurrences of
// a term the first segment.MostPlaces keep their position. It reports the first one of the
// document.
func (b *Batch) AddWord(term []byte, position uint32) (first bool) {
	t := b.findTerm(term)
	if t == nil {
		return false
	}
	b.addDocument(t)
	if position < t.lastPosition {
		b.fail(fmt.Errorf("%w: position %d behind %d", ErrTerm, position, t.lastPosition))
		return false
	}
	t.hasPositions = true
	b.docs[len(b.docs)-1].words++
	if t.occurrences++; t.occurrences > maxOccurrences {
		return false
	}
	b.lists.append(&t.list, uint64(position-t.lastPosition)<<1)
	t.lastPosition = position
	return t.occurrences == 1
}

// Remove takes the document of the key away, whether it is of this batch or earlier.
func (b *Batch) Remove(key uint64) {
	if at, here := b.touched[key]; here && at >= 0 {
		b.docs[at].superseded = true
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

func (b *Batch) findTerm(term []byte) *batchTerm {
	switch {
	case len(b.docs) == 0:
		b.fail(fmt.Errorf("%w: it stands before every document", ErrTerm))
		return nil
	case len(term) == 0 || len(term) > MaxTermBytes:
		b.fail(fmt.Errorf("%w: %d bytes", ErrTerm, len(term)))
		return nil
	}
	return b.terms.findOrAdd(term)
}

// addDocument notes that the document has the term.
func (b *Batch) addDocument(t *batchTerm) {
	doc := uint32(len(b.docs))
	if t.lastDoc == doc {
		return
	}
	b.lists.append(&t.list, uint64(doc-t.lastDoc)<<1|1)
	t.lastDoc = doc
	t.lastPosition, t.occurrences = 0, 0
}

// liveDocs counts the documents that nothing later has replaced.
func (b *Batch) liveDocs() int {
	n := 0
	for i := range b.docs {
		if !b.docs[i].superseded {
			n++
		}
	}
	return n
}

// write writes the living documents as a segment, the latest first.
func (b *Batch) write(ctx context.Context, w *segment.Writer) error {
	numbers := make([]uint32, len(b.docs))
	for i := len(b.docs) - 1; i >= 0; i-- {
		if d := &b.docs[i]; !d.superseded {
			numbers[i] = w.AddDocument(d.key, d.group, d.date, d.words)
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
		w.AddKey(k.key, k.doc)
	}
	e := termWriter{batch: b, numbers: numbers}
	for i, t := range b.terms.sorted() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.write(w, t)
	}
	return nil
}

// termWriter turns the lists of a batch round: they were gathered from the earliest
// document on, and are written from the latest.
type termWriter struct {
	batch     *Batch
	numbers   []uint32 // document of the batch → document of the segment
	raw       []byte
	positions []byte
	postings  []posting
}

type posting struct {
	doc  int // of the batch
	freq uint32
	from int // where its positions begin
	to   int
}

func (e *termWriter) write(w *segment.Writer, t *batchTerm) {
	e.decode(t)
	w.StartTerm(t.hasPositions)
	for i := len(e.postings) - 1; i >= 0; i-- {
		if d := e.postings[i]; !e.batch.docs[d.doc].superseded {
			w.AddPosting(e.numbers[d.doc], d.freq, e.positions[d.from:d.to])
		}
	}
	w.EndTerm(e.batch.terms.termBytes(t))
}

// decode reads the list of a term.
func (e *termWriter) decode(t *batchTerm) {
	e.raw = e.batch.lists.read(&t.list, e.raw[:0])
	e.positions, e.postings = e.positions[:0], e.postings[:0]
	doc := -1
	for p := e.raw; len(p) > 0; {
		v, n := binary.Uvarint(p)
		p = p[n:]
		if v&1 == 1 {
			doc += int(v >> 1)
			e.postings = append(e.postings, posting{doc: doc, from: len(e.positions), to: len(e.positions)})
			continue
		}
		d := &e.postings[len(e.postings)-1]
		if d.freq++; d.freq <= segment.MaxPositions {
			e.positions = binary.AppendUvarint(e.positions, v>>1)
			d.to = len(e.positions)
		}
	}
}
