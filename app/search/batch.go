package search

import (
	"context"
	"slices"

	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// indexBatch is a query.Batch that keeps track of the records it contains.
type indexBatch struct {
	*query.Batch
	x            *Indexer
	records      int
	last         query.Document // the last record added or removed; only its kind and ID are used
	textBytes    int64          // bytes of document text
	singleRecord bool           // the batch is full after one record
	files        []uint64       // IDs of the documents added to or removed from the index
	missingText  []uint64       // the subset of files whose text has to be regenerated
}

// newBatch returns an empty batch for an index.
func (in *Indexer) newBatch(gen *generation) *indexBatch {
	return &indexBatch{Batch: gen.NewBatch(), x: in, singleRecord: gen.singleRecord}
}

// full reports whether the batch has reached its size limit and should be applied.
func (b *indexBatch) full() bool {
	limit := b.x.options.BatchSize
	return b.records > 0 && (b.singleRecord || b.textBytes >= limit || int64(b.Bytes()) >= batchMemoryFactor*limit)
}

// addChanges adds each changed record to the batch once. upTo is the number of the last change that the
// batch covers.
func (b *indexBatch) addChanges(ctx context.Context, changes []store.Change) (upTo uint64, err error) {
	seen := make(map[store.Change]bool, len(changes))
	records := slices.DeleteFunc(slices.Clone(changes), func(c store.Change) bool {
		c.Seq = 0
		again := seen[c]
		seen[c] = true
		return again || c.Type == store.FilesOfAbstract || c.Type == store.InstrumentsOfType // see checkpoint.addPending
	})
	n, err := b.addRecords(ctx, records)
	if err != nil {
		return 0, err
	}
	if n < len(records) {
		return records[n].Seq - 1, nil
	}
	return changes[len(changes)-1].Seq, nil
}

// addRecords adds records to the batch until it is full. Records that are deleted or in the trash are
// removed from the index. n is the number of records processed, at least one.
func (b *indexBatch) addRecords(ctx context.Context, records []store.Change) (n int, err error) {
	for part := range slices.Chunk(records, recordsPerRead) {
		var list []indexRecord
		err := b.x.options.Store.View(ctx, func(t *store.Tx) error {
			list = list[:0]
			for _, r := range part {
				list = append(list, b.x.loadRecord(t, r.Type, r.ID))
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		for _, record := range list {
			if err := b.add(ctx, record); err != nil {
				return n, err
			}
			if n++; b.full() {
				return n, nil
			}
		}
	}
	return n, nil
}

// addIDs adds records of one type, as addRecords does.
func (b *indexBatch) addIDs(ctx context.Context, recordType string, ids []uint64) (n int, err error) {
	records := make([]store.Change, len(ids))
	for i, id := range ids {
		records[i] = store.Change{Type: recordType, ID: id}
	}
	return b.addRecords(ctx, records)
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
