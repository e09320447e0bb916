package postings

import "fmt"

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
	if len(b.docs) == mostDocs {
		b.fail(fmt.Errorf("more than %d documents in a batch", mostDocs))
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
// a term the first mostPlaces keep their position. It reports the first one of the
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
