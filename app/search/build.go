package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// buildOrder lists the record types in the order in which a rebuild indexes them.
var buildOrder = []string{query.Abstract, query.Order, query.Instrument, query.File}

const (
	// recordsPerRead limits the number of records read in one transaction. During a long read
	// transaction, the database cannot reuse free pages.
	recordsPerRead = 64
	// maxChangesPerBatch and maxRecordsPerBatch limit the changes and the records of one batch.
	maxChangesPerBatch = 1024
	maxRecordsPerBatch = 16_384
	// batchMemoryFactor is the maximum memory use of a batch, as a multiple of
	// IndexerOptions.BatchSize.
	batchMemoryFactor = 8
)

// buildNext adds the next batch of records to an index that is being built.
func (in *Indexer) buildNext(ctx context.Context, gen *generation) error {
	in.yieldToUploads(ctx)
	if err := in.checkGrowthSpace(gen); err != nil {
		return err
	}
	cp, build := gen.checkpoint, *gen.checkpoint.Build
	batch := in.newBatch(gen)
	for !batch.full() && batch.records < maxRecordsPerBatch {
		var ids []uint64
		err := in.options.Store.View(ctx, func(t *store.Tx) error { ids = t.ScanIDs(build.Type, build.NextID, recordsPerRead); return nil })
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			next := slices.Index(buildOrder, build.Type) + 1
			if next == len(buildOrder) {
				cp.Build = nil
				if err := in.applyBatch(ctx, gen, batch, cp); err != nil {
					return err
				}
				return in.setTarget(ctx, gen)
			}
			build.Type, build.NextID = buildOrder[next], 1
			continue
		}
		n, err := batch.addIDs(ctx, build.Type, ids)
		if err != nil {
			return err
		}
		build.NextID, build.Done = ids[n-1]+1, build.Done+uint64(n)
	}
	cp.Build = &build
	return in.applyBatch(ctx, gen, batch, cp)
}

// setTarget sets gen.target to the last change in the feed. The index must contain that change before
// it goes live. setTarget is called when every record has been indexed once.
func (in *Indexer) setTarget(ctx context.Context, gen *generation) error {
	return in.options.Store.View(ctx, func(t *store.Tx) error { gen.target = t.LastChange(); return nil })
}

// yieldToUploads waits while documents are being uploaded, for up to maxYield. Other background work
// waits longer, but search must stay current.
func (in *Indexer) yieldToUploads(ctx context.Context) { in.options.Yield(ctx, maxYield) }

// applyChanges applies the next batch of the change feed to an index. caughtUp reports whether the index
// then contains every change that existed before.
func (in *Indexer) applyChanges(ctx context.Context, gen *generation) (caughtUp bool, err error) {
	cp := gen.checkpoint
	var changes []store.Change
	err = in.options.Store.View(ctx, func(t *store.Tx) (err error) {
		if changes, err = t.Changes(cp.Change+1, maxChangesPerBatch); err != nil || len(changes) == 0 {
			return err
		}
		return cp.stamp(t)
	})
	switch {
	case err != nil:
		return true, err
	case gen.checkpoint.pending() > maxPending, len(changes) == 0 && gen.checkpoint.pending() > 0:
		return false, in.applyPending(ctx, gen)
	case len(changes) == 0:
		gen.singleRecord = false
		return true, nil
	}
	if err := in.checkGrowthSpace(gen); err != nil {
		return false, err
	}
	in.options.Yield(ctx, maxYield)
	batch := in.newBatch(gen)
	cp.Change, err = batch.addChanges(ctx, changes)
	if err != nil {
		return false, err
	}
	cp.addPending(changes)
	if err := in.applyBatch(ctx, gen, batch, cp); err != nil {
		return false, err
	}
	applied := gen.checkpoint
	if len(changes) == maxChangesPerBatch || applied.Change < changes[len(changes)-1].Seq || applied.pending() > 0 {
		return false, nil
	}
	gen.singleRecord = false
	return true, nil
}

// applyBatch commits a batch and its new checkpoint to an index. If the index rejects a record, that
// record is removed from the index and logged.
func (in *Indexer) applyBatch(ctx context.Context, gen *generation, batch *indexBatch, cp checkpoint) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cp.updateMissingText(batch)
	err := gen.Apply(ctx, batch.Batch, cp.encode())
	switch {
	case errors.Is(err, query.ErrTerm) && batch.records > 1:
		gen.singleRecord = true // the next batches contain one record each, to isolate the rejected one
		return nil
	case errors.Is(err, query.ErrTerm):
		in.options.Log.Error("record not added to the search index", "kind", batch.last.Kind, "id", batch.last.ID, "error", err)
		gen.singleRecord = false
		removal := gen.NewBatch()
		removal.Remove(batch.last.Kind, batch.last.ID)
		err = gen.Apply(ctx, removal, cp.encode())
	}
	if err != nil {
		return err
	}
	gen.setCheckpoint(cp)
	return nil
}

// setCheckpoint sets the checkpoint after it was applied.
func (gen *generation) setCheckpoint(cp checkpoint) {
	gen.checkpoint = cp
	gen.published.Store(&cp)
	if cp.Build != nil {
		gen.buildTotal.Store(cp.Build.Total)
	}
}

// progress returns how many records a build has indexed, and their total. Records created during the
// build also count as done, so done is limited to total.
func (gen *generation) progress() (done, total uint64) {
	done, total = gen.buildTotal.Load(), gen.buildTotal.Load()
	if build := gen.published.Load().Build; build != nil {
		done = min(build.Done, total)
	}
	return done, total
}

const (
	// immediateRebuilds is the number of times that the index may fail before rebuilds are delayed.
	// Without a delay, a disk that keeps corrupting the index would cause one rebuild after another,
	// each of which reads every record and all document text. The delay starts at minPause and doubles
	// up to maxPause.
	immediateRebuilds = 3
	minPause          = 10 * time.Minute
	maxPause          = time.Hour
	// If there is no failure for resetAfter, the count starts over.
	resetAfter = 24 * time.Hour
)

// rebuildBackoff delays rebuilds after repeated failures of an index, whether it was live or being
// built.
type rebuildBackoff struct {
	count     int
	last      time.Time
	notBefore time.Time   // earliest time of the next rebuild; zero: immediately
	reason    *errs.Error // error reported during the delay
}

// add counts a failure.
func (b *rebuildBackoff) add(now time.Time, reason error) {
	if elapsed := now.Sub(b.last); elapsed < 0 || elapsed > resetAfter {
		*b = rebuildBackoff{}
	}
	b.last = now
	if b.count++; b.count <= immediateRebuilds {
		return
	}
	pause := min(minPause<<min(b.count-immediateRebuilds-1, 8), maxPause)
	b.notBefore = now.Add(pause)
	b.reason = errs.NotNow(errs.Rebuilding,
		fmt.Sprintf(`The search index failed %d times (%s). Check the disk. `+
			`The server rebuilds it in %v, or run "deedkeep reindex" now.`,
			b.count, message(reason), pause), reason)
}

// err returns the reason for the delay if no rebuild may start now. Otherwise, it returns nil.
func (b *rebuildBackoff) err(now time.Time) error {
	// If the clock was set back, the delay is not extended.
	if left := b.notBefore.Sub(now); left <= 0 || left > maxPause {
		return nil
	}
	return b.reason
}

// backoffErr returns the reason for the delay if no rebuild may start now. Otherwise, it returns nil.
func (in *Indexer) backoffErr() (err error) {
	in.withLock(func() { err = in.backoff.err(in.options.Now()) })
	return err
}

// dropUnusable drops a failed index. If building a replacement is delayed, it returns the reason. A
// deleted folder is not counted as a failure because administrators may delete it.
func (in *Indexer) dropUnusable(gen *generation, reason error) error {
	in.options.Log.Warn("the search index failed and will be rebuilt", "reason", reason)
	if !in.folderDeleted(gen) {
		in.withLock(func() { in.backoff.add(in.options.Now(), reason) })
	}
	in.drop(gen)
	if in.building != nil {
		return nil // the replacement is already being built
	}
	return in.backoffErr()
}
