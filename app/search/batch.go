package search

import (
	"context"

	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// indexBatch is a batch and what is in it.
type indexBatch struct {
	Batch
	x            *Indexer
	records      int
	last         query.Document // of which only the place counts
	textBytes    int64          // bytes
	singleRecord bool           // it takes one record
	files        []uint64       // documents
	missingText  []uint64       // of these, whose text is to be made again
}

func (x *Indexer) newBatch(in *generation) *indexBatch {
	return &indexBatch{Batch: in.Batch(), x: x, singleRecord: in.singleRecord}
}

func (b *indexBatch) full() bool {
	most := b.x.batchSize
	return b.records > 0 && (b.singleRecord || b.textBytes >= most || int64(b.Bytes()) >= batchMemoryFactor*most)
}

// addChanges puts changed records into the batch, each once, and tells up to which change
// the batch has all of them.
func (b *indexBatch) addChanges(ctx context.Context, changes []store.Change) (upTo uint64, err error) {
	seen := make(map[store.Change]bool, len(changes))
	for len(changes) > 0 {
		// A stretch of one noun, of records that were not yet in it.
		noun, ids := changes[0].Type, []uint64(nil)
		seqs := []uint64(nil)
		for len(changes) > 0 && changes[0].Type == noun && len(ids) < recordsPerRead {
			c := changes[0]
			changes = changes[1:]
			upTo = c.Seq
			record := store.Change{Type: c.Type, ID: c.ID}
			if !seen[record] {
				seen[record] = true
				ids, seqs = append(ids, c.ID), append(seqs, c.Seq)
			}
		}
		if len(ids) == 0 {
			continue
		}
		n, err := b.addRecords(ctx, noun, ids)
		if err != nil {
			return 0, err
		}
		if n < len(ids) {
			return seqs[n] - 1, nil
		}
		if b.full() {
			return upTo, nil
		}
	}
	return upTo, nil
}

// addRecords puts records into the batch, or takes those out of the index that are not to
// be found any more, until it is full: it tells how many, one at least.
func (b *indexBatch) addRecords(ctx context.Context, noun string, ids []uint64) (n int, err error) {
	if noun == store.FilesOfAbstract {
		return len(ids), nil // which is owed
	}
	var list []indexRecord
	err = b.x.store.View(ctx, func(t *store.Tx) error {
		list = list[:0]
		for _, id := range ids {
			list = append(list, b.x.loadRecord(t, noun, id))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, record := range list {
		if err := b.add(ctx, record); err != nil {
			return 0, err
		}
		if n++; b.full() {
			break
		}
	}
	return n, nil
}

func (b *indexBatch) add(ctx context.Context, r indexRecord) error {
	b.records++
	b.last = query.Document{Kind: r.Kind, ID: r.ID}
	if r.Kind == query.File {
		b.files = append(b.files, r.ID)
	}
	if !r.found {
		b.Remove(r.Kind, r.ID)
		return nil
	}
	if r.digest != "" {
		r.Text = func(page func(text string) error) error { return b.readText(ctx, r, page) }
	}
	return b.Put(r.Document)
}
