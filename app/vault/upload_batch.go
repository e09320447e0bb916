package vault

import (
	"slices"
	"sync"
)

// maxBatches is the maximum number of batches in memory; the oldest is dropped first.
const maxBatches = 200

// Batches records which documents of each batch were uploaded, by their position in it.
// Documents selected together upload concurrently and finish in any order, but keep the
// sequence in which they were selected. The state is in memory only: after a restart,
// the rest of a batch is appended.
type Batches struct {
	mu    sync.Mutex
	order []string
	all   map[string]map[int]uint64
}

// BatchItem is the position of a document in a batch.
type BatchItem struct {
	batches *Batches
	batch   string
	n       int
}

// NewBatchItem returns position n of a batch.
func NewBatchItem(in *Batches, batch string, n int) *BatchItem { return &BatchItem{in, batch, n} }

// uploadedAfter returns the uploaded documents of the batch with a higher position.
func (t *BatchItem) uploadedAfter() (files []uint64) {
	t.batches.mu.Lock()
	defer t.batches.mu.Unlock()
	for n, file := range t.batches.all[t.batch] {
		if n > t.n {
			files = append(files, file)
		}
	}
	return files
}

// recordUpload records the ID of the uploaded document. It may be called again if a
// transaction is retried; the last call wins.
func (t *BatchItem) recordUpload(file uint64) {
	b := t.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[string]map[int]uint64{}
	}
	if b.all[t.batch] == nil {
		if len(b.order) == maxBatches {
			delete(b.all, b.order[0])
			b.order = slices.Delete(b.order, 0, 1)
		}
		b.all[t.batch] = map[int]uint64{}
		b.order = append(b.order, t.batch)
	}
	b.all[t.batch][t.n] = file
}

// insertPosition returns the index in existing at which new documents are inserted.
func (f *acceptedFiles) insertPosition(existing []uint64, added uint64) int {
	if f.batchItem == nil {
		return len(existing)
	}
	defer f.batchItem.recordUpload(added)
	later := f.batchItem.uploadedAfter()
	if at := slices.IndexFunc(existing, func(id uint64) bool { return slices.Contains(later, id) }); at >= 0 {
		return at
	}
	return len(existing)
}
