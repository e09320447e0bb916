package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"deedkeep/app/search/index/segment"
)

// A document consists of a key, a group, a date, and terms. Their meaning is up to the caller.

// MaxTermBytes is the maximum length of a term in bytes. NumGroups is the number of groups.
const (
	MaxTermBytes = segment.MaxTermBytes
	NumGroups    = 8
)

// NoDate is the date of a document without a date. No date range contains it.
const NoDate int32 = -1 << 31

// Batch collects documents for one Apply. It is not safe for concurrent use. Its methods return no
// errors: Apply returns the first one.
type Batch struct {
	docs    []batchDoc
	touched map[uint64]int // key → index in docs; -1 if the key is only removed
	terms   termTable
	lists   listArena
	live    int // number of docs that are not superseded
	err     error
}

type batchDoc struct {
	key        uint64
	date       int32
	words      uint32
	group      uint8
	superseded bool // replaced or removed by a later operation in the batch
}

// NewBatch returns an empty batch.
func (in *Index) NewBatch() *Batch {
	b := &Batch{touched: make(map[uint64]int)}
	b.terms.init()
	return b
}

// StartDocument starts a document. It replaces any document with the same key. The group must be
// less than NumGroups. The date is in days since January 1, 1970, or NoDate.
func (b *Batch) StartDocument(key uint64, group uint8, date int32) {
	if group >= NumGroups {
		b.fail(fmt.Errorf("document %d: group is %d, limit %d", key, group, NumGroups))
		group = 0
	}
	if len(b.docs) == segment.MaxDocs {
		b.fail(fmt.Errorf("batch has more than %d documents", segment.MaxDocs))
		return
	}
	b.Remove(key)
	b.touched[key] = len(b.docs)
	b.live++
	b.docs = append(b.docs, batchDoc{key: key, group: group, date: date})
}

// AddTerm adds a term without a position to the current document. It has no effect if the document
// already has the term, with or without a position.
func (b *Batch) AddTerm(term []byte) {
	if t := b.termEntry(term); t != nil {
		b.recordTerm(t)
	}
}

// maxOccurrences is the maximum number of occurrences of a term in one document that a batch keeps.
// Additional occurrences only add to the length of the document.
const maxOccurrences = 1 << 18

// AddWord adds a term at a position to the current document. The positions of a term must not
// decrease. Only the first segment.MaxPositions positions of a term are stored. first reports
// whether this is the first occurrence of the term in the document.
func (b *Batch) AddWord(term []byte, position uint32) (first bool) {
	t := b.termEntry(term)
	if t == nil {
		return false
	}
	b.recordTerm(t)
	if position < t.lastPosition {
		b.fail(fmt.Errorf("%w: position %d comes after position %d", ErrTerm, position, t.lastPosition))
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

// Remove removes the document with the given key from this batch and from the index.
func (b *Batch) Remove(key uint64) {
	if i, ok := b.touched[key]; ok && i >= 0 {
		b.docs[i].superseded = true
		b.live--
	}
	b.touched[key] = -1
}

// Bytes returns the approximate memory use of the batch.
func (b *Batch) Bytes() int {
	const doc, touched = 24, 40
	return b.lists.bytes() + b.terms.bytes() + doc*cap(b.docs) + touched*len(b.touched)
}

func (b *Batch) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// termEntry returns the entry of a term. It returns nil if the term is invalid.
func (b *Batch) termEntry(term []byte) *batchTerm {
	switch {
	case len(b.docs) == 0:
		b.fail(fmt.Errorf("%w: term before the first document", ErrTerm))
		return nil
	case len(term) == 0 || len(term) > MaxTermBytes:
		b.fail(fmt.Errorf("%w: invalid length of %d bytes", ErrTerm, len(term)))
		return nil
	}
	return b.terms.findOrAdd(term)
}

// recordTerm adds the term to the current document.
func (b *Batch) recordTerm(t *batchTerm) {
	doc := uint32(len(b.docs))
	if t.lastDoc == doc {
		return
	}
	b.lists.append(&t.list, uint64(doc-t.lastDoc)<<1|1)
	t.lastDoc = doc
	t.lastPosition, t.occurrences = 0, 0
}

// write writes the live documents to a segment, newest first.
func (b *Batch) write(ctx context.Context, w *segment.Writer) error {
	numbers := make([]uint32, len(b.docs))
	for i := len(b.docs) - 1; i >= 0; i-- {
		if d := &b.docs[i]; !d.superseded {
			numbers[i] = w.AddDocument(d.key, d.group, d.date, d.words)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.touched)) {
		if i := b.touched[key]; i >= 0 {
			w.AddKey(key, numbers[i])
		}
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

// termWriter writes the posting lists of a batch. It reverses them because a batch collects
// documents from the oldest to the newest and a segment stores the newest first.
type termWriter struct {
	batch     *Batch
	numbers   []uint32 // maps documents of the batch to documents of the segment
	raw       []byte
	positions []byte
	postings  []posting
}

type posting struct {
	doc  int // index of the document in the batch
	freq uint32
	from int // range of its positions
	to   int
}

func (tw *termWriter) write(w *segment.Writer, t *batchTerm) {
	tw.decode(t)
	w.StartTerm(t.hasPositions)
	for i := len(tw.postings) - 1; i >= 0; i-- {
		if d := tw.postings[i]; !tw.batch.docs[d.doc].superseded {
			w.AddPosting(tw.numbers[d.doc], d.freq, tw.positions[d.from:d.to])
		}
	}
	w.EndTerm(tw.batch.terms.termBytes(t))
}

// decode decodes the posting list of a term.
func (tw *termWriter) decode(t *batchTerm) {
	tw.raw = tw.batch.lists.read(&t.list, tw.raw[:0])
	tw.positions, tw.postings = tw.positions[:0], tw.postings[:0]
	doc := -1
	for p := tw.raw; len(p) > 0; {
		v, n := binary.Uvarint(p)
		p = p[n:]
		if v&1 == 1 {
			doc += int(v >> 1)
			tw.postings = append(tw.postings, posting{doc: doc, from: len(tw.positions), to: len(tw.positions)})
			continue
		}
		d := &tw.postings[len(tw.postings)-1]
		if d.freq++; d.freq <= segment.MaxPositions {
			tw.positions = binary.AppendUvarint(tw.positions, v>>1)
			d.to = len(tw.positions)
		}
	}
}
