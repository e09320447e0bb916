package vault

import (
	"slices"
	"sync"
)

// Several documents of those that were chosen together arrive at the same time, and a
// short one before a long one. Yet they were chosen in an order, such as 01 to 12, and
// are read in it. What is known of that lives in this process alone: after a restart
// in the middle the rest is filed behind.

// maxBatches is how many are remembered; the oldest is forgotten first.
const maxBatches = 200

// batches remember which documents of each batch are filed, by turn.
type Batches struct {
	mu    sync.Mutex
	order []string
	all   map[string]map[int]uint64
}

// turn is the place of one document among those that it was chosen with.
type BatchItem struct {
	batches *Batches
	batch   string
	n       int
}

// NewBatchItem returns the turn with number n of a batch.
func NewBatchItem(in *Batches, batch string, n int) *BatchItem { return &BatchItem{in, batch, n} }

// uploadedAfter are the documents of the batch that are filed already and belong behind it.
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

// recordUpload takes a document down; the last word about a turn counts, as a transaction may
// run twice.
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

// insertPosition is where documents that were filed just now stand among an abstract's.
func (f *acceptedFiles) insertPosition(present []uint64, fresh uint64) int {
	if f.batchItem == nil {
		return len(present)
	}
	defer f.batchItem.recordUpload(fresh)
	later := f.batchItem.uploadedAfter()
	if at := slices.IndexFunc(present, func(id uint64) bool { return slices.Contains(later, id) }); at >= 0 {
		return at
	}
	return len(present)
}
