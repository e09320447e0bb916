package search

import (
	"context"

	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// indexBatch is a Batch that keeps track of the records it contains.
type indexBatch struct {
	Batch
	x            *Indexer
	records      int
	last         query.Document // the last record added or removed; only its kind and ID are used
	textBytes    int64          // bytes of document text
	singleRecord bool           // the batch is full after one record
	files        []uint64       // IDs of the documents added to or removed from the index
	missingText  []uint64       // the subset of files whose text has to be regenerated
}

// newBatch returns an empty batch for an index.
func (x *Indexer) newBatch(gen *generation) *indexBatch {
	return &indexBatch{Batch: gen.Batch(), x: x, singleRecord: gen.singleRecord}
}

// full reports whether the batch has reached its size limit and should be applied.
func (b *indexBatch) full() bool {
	limit := b.x.batchSize
	return b.records > 0 && (b.singleRecord || b.textBytes >= limit || int64(b.Bytes()) >= batchMemoryFactor*limit)
}

// addChanges adds each changed record to the batch once. upTo is the number of the last change that the
// batch covers.
func (b *indexBatch) addChanges(ctx context.Context, changes []store.Change) (upTo uint64, err error) {
	seen := make(map[store.Change]bool, len(changes))
	for len(changes) > 0 {
		// Collect a run of changes to records of one type that are not in the batch yet.
		recordType, ids := changes[0].Type, []uint64(nil)
		seqs := []uint64(nil)
		for len(changes) > 0 && changes[0].Type == recordType && len(ids) < recordsPerRead {
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
		n, err := b.addRecords(ctx, recordType, ids)
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

// addRecords adds records to the batch until it is full. Records that are deleted or in the trash are
// removed from the index. n is the number of ids processed, at least one.
func (b *indexBatch) addRecords(ctx context.Context, recordType string, ids []uint64) (n int, err error) {
	if recordType == store.FilesOfAbstract {
		return len(ids), nil // these are added to checkpoint.PendingFiles instead
	}
	var list []indexRecord
	err = b.x.store.View(ctx, func(t *store.Tx) error {
		list = list[:0]
		for _, id := range ids {
			list = append(list, b.x.loadRecord(t, recordType, id))
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

// add adds one record to the batch, or removes it from the index if searches must not find it.
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
