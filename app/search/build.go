package search

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// buildOrder are the nouns in the order in which their records go into a new index.
var buildOrder = []string{"abstract", "order", fileType}

const (
	// recordsPerRead bounds one look into the database, which holds up its file's reuse
	// of room.
	recordsPerRead = 64
	// maxChangesPerBatch bounds the changes of one batch, maxRecordsPerBatch its records.
	maxChangesPerBatch = 1024
	maxRecordsPerBatch = 16_384
	// batchMemoryFactor is how much more a batch may hold than it has text.
	batchMemoryFactor = 8
)

// buildNext puts the next batch of records into an index that is being made.
func (x *Indexer) buildNext(ctx context.Context, in *generation) error {
	x.yieldToUploads(ctx)
	if err := x.checkGrowthSpace(in); err != nil {
		return err
	}
	mark, place := in.checkpoint, *in.checkpoint.Build
	batch := x.newBatch(in)
	for !batch.full() && batch.records < maxRecordsPerBatch {
		var ids []uint64
		err := x.store.View(ctx, func(t *store.Tx) error { ids = t.ScanIDs(place.Type, place.NextID, recordsPerRead); return nil })
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			at := slices.Index(buildOrder, place.Type) + 1
			if at == len(buildOrder) {
				mark.Build = nil
				if err := x.applyBatch(ctx, in, batch, mark); err != nil {
					return err
				}
				return x.setTarget(ctx, in)
			}
			place.Type, place.NextID = buildOrder[at], 1
			continue
		}
		n, err := batch.addRecords(ctx, place.Type, ids)
		if err != nil {
			return err
		}
		place.NextID, place.Done = ids[n-1]+1, place.Done+uint64(n)
	}
	mark.Build = &place
	return x.applyBatch(ctx, in, batch, mark)
}

// setTarget sets what an index that has walked over all records must know to be whole.
func (x *Indexer) setTarget(ctx context.Context, in *generation) error {
	return x.store.View(ctx, func(t *store.Tx) error { in.target = t.LastChange(); return nil })
}

// yieldToUploads lets documents that arrive go first, for less long where somebody waits
// to search, as always: other background work is more patient.
func (x *Indexer) yieldToUploads(ctx context.Context) { x.yield(ctx, maxYield) }

// applyChanges puts the next changes into an index that is whole.
func (x *Indexer) applyChanges(ctx context.Context, in *generation) (caught bool, err error) {
	mark := in.checkpoint
	var changes []store.Change
	err = x.store.View(ctx, func(t *store.Tx) (err error) {
		if changes, err = t.Changes(mark.Change+1, maxChangesPerBatch); err != nil || len(changes) == 0 {
			return err
		}
		return mark.stamp(t)
	})
	switch {
	case err != nil:
		return true, err
	case len(in.checkpoint.PendingFiles) > maxPendingFiles, len(changes) == 0 && len(in.checkpoint.PendingFiles) > 0:
		return false, x.applyPendingFiles(ctx, in)
	case len(changes) == 0:
		in.singleRecord = false
		return true, nil
	}
	if err := x.checkGrowthSpace(in); err != nil {
		return false, err
	}
	x.yield(ctx, maxYield)
	batch := x.newBatch(in)
	mark.Change, err = batch.addChanges(ctx, changes)
	if err != nil {
		return false, err
	}
	mark.addPendingFiles(changes)
	return false, x.applyBatch(ctx, in, batch, mark)
}

func (x *Indexer) applyBatch(ctx context.Context, in *generation, batch *indexBatch, mark checkpoint) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	mark.updateMissingText(batch)
	err := in.Apply(ctx, batch.Batch, mark.encode())
	switch {
	case errors.Is(err, query.ErrTerm) && batch.records > 1:
		in.singleRecord = true // one record a batch, until the one is met that it does not take
		return nil
	case errors.Is(err, query.ErrTerm):
		x.log.Error("a record is not in the search index", "kind", batch.last.Kind, "id", batch.last.ID, "error", err)
		in.singleRecord = false
		without := in.Batch()
		without.Remove(batch.last.Kind, batch.last.ID)
		err = in.Apply(ctx, without, mark.encode())
	}
	if err != nil {
		return err
	}
	in.checkpoint = mark
	in.publishProgress(mark)
	return nil
}

// publishProgress shows a mark to those who look.
func (in *generation) publishProgress(mark checkpoint) {
	in.change.Store(mark.Change)
	in.pendingFiles.Store(uint64(len(mark.PendingFiles)))
	in.missingText.Store(&mark.MissingText)
	in.building.Store(mark.Build != nil)
	if mark.Build == nil {
		in.buildDone.Store(in.buildTotal.Load())
		return
	}
	in.buildTotal.Store(mark.Build.Total)
	in.buildDone.Store(mark.Build.Done)
}

// progress is how far the walk has come; records that came after it began count too.
func (in *generation) progress() (done, total uint64) {
	total = in.buildTotal.Load()
	return min(in.buildDone.Load(), total), total
}
