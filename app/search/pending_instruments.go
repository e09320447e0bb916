package search

import (
	"context"
	"slices"
	"strconv"

	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// pendingInstruments refers to the instruments of a document type that was renamed. Like pendingFiles,
// they are reindexed in batches after all other changes. Until then,
// searches find them under the old name of their type.
type pendingInstruments struct {
	Type     uint64 `json:"type"`
	Position []byte `json:"position,omitempty"` // position in the list of these instruments, see store.Query
}

// addInstruments adds an entry for a document type. An entry for the same type starts again.
func (ch *checkpoint) addInstruments(documentType uint64) {
	ch.PendingInstruments = slices.DeleteFunc(ch.PendingInstruments, func(o pendingInstruments) bool { return o.Type == documentType })
	ch.PendingInstruments = append(ch.PendingInstruments, pendingInstruments{Type: documentType})
}

// addPendingInstruments adds the next pending instruments to a batch. cp is the checkpoint of the
// batch.
func (in *Indexer) addPendingInstruments(ctx context.Context, batch *indexBatch, cp *checkpoint) error {
	cp.PendingInstruments = slices.Clone(cp.PendingInstruments)
	for len(cp.PendingInstruments) > 0 && !batch.full() && batch.records < maxChangesPerBatch {
		pending := &cp.PendingInstruments[0]
		limit := recordsPerRead
		if batch.singleRecord {
			limit = 1
		}
		page, err := in.nextInstruments(ctx, *pending, limit)
		if err != nil {
			return err
		}
		ids := make([]uint64, len(page.Items))
		for i, item := range page.Items {
			ids[i] = item.ID
		}
		for len(ids) > 0 { // even if the batch is full, because the position is that of the page
			n, err := batch.addIDs(ctx, query.Instrument, ids)
			if err != nil {
				return err
			}
			ids = ids[n:]
		}
		if pending.Position = page.Next; page.Next == nil {
			cp.PendingInstruments = cp.PendingInstruments[1:]
		}
	}
	return nil
}

// nextInstruments returns up to limit pending instruments of a document type, oldest first.
func (in *Indexer) nextInstruments(ctx context.Context, pending pendingInstruments, limit int) (page store.Page[model.Instrument],
	err error) {
	q := store.Query{Position: pending.Position, Limit: limit,
		Filters: []store.Filter{{Column: store.ColumnDocumentType, Value: strconv.FormatUint(pending.Type, 10)}}}
	err = in.options.Store.View(ctx, func(t *store.Tx) (err error) { page, err = t.ListInstruments(q); return err })
	return page, err
}
