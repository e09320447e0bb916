package vault

import (
	"slices"
	"sync"
)

// maxBatches is the maximum number of batches in memory. The oldest batch is dropped
// first.
const maxBatches = 200

// Batches records the documents uploaded so far from each batch, by their position in the
// batch. Documents that a user selects together are uploaded concurrently and finish in
// any order, but must end up in the sequence in which they were selected. The state is
// only in memory: after a restart, the remaining documents of a batch are appended to the
// abstract.
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

// NewBatchItem returns an item for position n of a batch.
func NewBatchItem(in *Batches, batch string, n int) *BatchItem { return &BatchItem{in, batch, n} }

// uploadedAfter returns the IDs of the documents from this batch that have a higher
// position and are already uploaded.
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

// recordUpload records the ID of the uploaded document. If a transaction is retried, it
// is called again, and the last ID is kept.
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

// insertPosition returns the index in existing at which to insert new documents. It also
// records added, the ID of the first one, in the batch.
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
