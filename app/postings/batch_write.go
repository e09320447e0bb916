package postings

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
)

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
func (b *Batch) write(ctx context.Context, w *segmentWriter) error {
	numbers := make([]uint32, len(b.docs))
	for i := len(b.docs) - 1; i >= 0; i-- {
		if d := &b.docs[i]; !d.dead {
			numbers[i] = w.docs
			w.document(d.key, d.group, d.date, d.words)
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
		w.key(k.key, k.doc)
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

func (e *emission) term(w *segmentWriter, t *batchTerm) {
	e.gather(t)
	w.begin(t.word)
	for i := len(e.docs) - 1; i >= 0; i-- {
		if d := e.docs[i]; !e.batch.docs[d.doc].dead {
			w.add(e.numbers[d.doc], d.times, e.places[d.from:d.to])
		}
	}
	w.end(e.batch.terms.spelling(t))
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
		if d.times++; d.times <= mostPlaces {
			e.places = binary.AppendUvarint(e.places, v>>1)
			d.to = len(e.places)
		}
	}
}
