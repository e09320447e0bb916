package postings

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// Apply puts what the batch holds into the index, and the mark with it: both are there
// when it returns, whatever is cut from then on, and neither is where it fails, but for
// a power cut or a disk that fails in its last step, after which the next Open tells by
// the mark. The batch stays as it is: it can be applied again.
func (x *Index) Apply(ctx context.Context, b *Batch, mark []byte) error {
	if b.err != nil {
		return fmt.Errorf("apply batch: %w", b.err)
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	now, failed := x.current, x.failed
	x.mu.Unlock()
	if now == nil {
		return ErrClosed
	}
	err := failed
	if err == nil {
		err = x.apply(ctx, now, b, mark)
	}
	if err != nil {
		return fmt.Errorf("apply batch: %w", err)
	}
	x.merger.poke()
	return nil
}

func (x *Index) apply(ctx context.Context, now *snapshot, b *Batch, mark []byte) error {
	views, err := without(ctx, now.views, slices.Sorted(maps.Keys(b.touched)))
	if err != nil {
		return err
	}
	var fresh *segment
	if living := b.living(); living > 0 {
		if fresh, err = x.build(func(w *segmentWriter) error { return b.write(ctx, w) }); err != nil {
			return err
		}
		views = append(views, view{segment: fresh})
	}
	inDoubt, err := x.install(views, slices.Clone(mark))
	if fresh != nil {
		// From here on the state alone uses it; where there is none, its file goes, unless
		// the manifest may name it.
		fresh.drop.Store(err != nil && !inDoubt)
		err = errors.Join(err, fresh.release())
	}
	return err
}

// without returns the views with the documents of the keys gone.
func without(ctx context.Context, views []view, keys []uint64) ([]view, error) {
	views = slices.Clone(views)
	for i := len(views) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := &views[i]
		var more []uint32
		from := uint32(0)
		for _, key := range keys {
			doc, found, next, err := v.segment.lookUp(key, from)
			if err != nil {
				return nil, err
			}
			if from = next; found && !v.gone.has(doc) {
				more = append(more, doc)
			}
		}
		if len(more) > 0 {
			v.gone = v.gone.with(v.segment.docs, more)
		}
	}
	return views, nil
}

// build writes a segment and opens it; the caller is its only user.
func (x *Index) build(write func(*segmentWriter) error) (*segment, error) {
	number := x.next.Add(1) - 1
	path := filepath.Join(x.dir, segmentName(number))
	f, err := x.files.Create(path)
	if err != nil {
		return nil, err
	}
	w := newSegmentWriter(f)
	l := listed{number: number}
	if err = write(w); err == nil {
		l.size, l.sum, err = w.finish(number)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		// Its name is to be there before the manifest names it.
		err = x.files.SyncDir(x.dir)
	}
	var s *segment
	if err == nil {
		s, err = openSegment(x.dir, l, x.cache, x.files)
	}
	if err != nil {
		return nil, errors.Join(err, x.files.Remove(path))
	}
	return s, nil
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
			doc += int(v >> 1) // #nosec G115 -- a distance of documents
			e.docs = append(e.docs, emitted{doc: doc, from: len(e.places), to: len(e.places)})
			continue
		}
		d := &e.docs[len(e.docs)-1]
		e.places = binary.AppendUvarint(e.places, v>>1)
		d.times++
		d.to = len(e.places)
	}
}
