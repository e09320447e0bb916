package search

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// walked are the nouns in the order in which their records go into a new index.
var walked = []string{"abstract", "order", fileNoun}

const (
	// recordsAtOnce bounds one look into the database, which holds up its file's reuse
	// of room.
	recordsAtOnce = 64
	// followAtOnce bounds the changes of one batch, walkAtOnce its records.
	followAtOnce = 1024
	walkAtOnce   = 16_384
	// batchMemory is how much more a batch may hold than it has text.
	batchMemory = 8
)

// walk puts the next batch of records into an index that is being made.
func (x *Indexer) walk(ctx context.Context, in *volume) error {
	x.standBack(ctx)
	if err := x.roomToIndex(in); err != nil {
		return err
	}
	mark, place := in.mark, *in.mark.Place
	batch := x.newBatch(in)
	for !batch.full() && batch.records < walkAtOnce {
		var ids []uint64
		err := x.store.View(ctx, func(t *store.Tx) error { ids = t.ScanIDs(place.Noun, place.From, recordsAtOnce); return nil })
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			at := slices.Index(walked, place.Noun) + 1
			if at == len(walked) {
				mark.Place = nil
				if err := x.apply(ctx, in, batch, mark); err != nil {
					return err
				}
				return x.aim(ctx, in)
			}
			place.Noun, place.From = walked[at], 1
			continue
		}
		n, err := batch.fill(ctx, place.Noun, ids)
		if err != nil {
			return err
		}
		place.From, place.Done = ids[n-1]+1, place.Done+uint64(n)
	}
	mark.Place = &place
	return x.apply(ctx, in, batch, mark)
}

// aim sets what an index that has walked over all records must know to be whole.
func (x *Indexer) aim(ctx context.Context, in *volume) error {
	return x.store.View(ctx, func(t *store.Tx) error { in.goal = t.LastChange(); return nil })
}

// standBack lets documents that arrive go first, for less long where somebody waits
// to search, as always: other background work is more patient.
func (x *Indexer) standBack(ctx context.Context) { x.yield(ctx, yieldFor) }

// follow puts the next changes into an index that is whole.
func (x *Indexer) follow(ctx context.Context, in *volume) (caught bool, err error) {
	mark := in.mark
	var changes []store.Change
	err = x.store.View(ctx, func(t *store.Tx) (err error) {
		if changes, err = t.Changes(mark.Change+1, followAtOnce); err != nil || len(changes) == 0 {
			return err
		}
		return mark.seen(t)
	})
	switch {
	case err != nil:
		return true, err
	case len(in.mark.Owed) > mostOwed, len(changes) == 0 && len(in.mark.Owed) > 0:
		return false, x.repay(ctx, in)
	case len(changes) == 0:
		in.single = false
		return true, nil
	}
	if err := x.roomToIndex(in); err != nil {
		return false, err
	}
	x.yield(ctx, yieldFor)
	batch := x.newBatch(in)
	mark.Change, err = batch.follow(ctx, changes)
	if err != nil {
		return false, err
	}
	mark.owe(changes)
	return false, x.apply(ctx, in, batch, mark)
}

func (x *Indexer) apply(ctx context.Context, in *volume, batch *indexBatch, mark indexMark) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	mark.texts(batch)
	err := in.Apply(ctx, batch.Batch, mark.raw())
	switch {
	case errors.Is(err, query.ErrTerm) && batch.records > 1:
		in.single = true // one record a batch, until the one is met that it does not take
		return nil
	case errors.Is(err, query.ErrTerm):
		x.log.Error("a record is not in the search index", "kind", batch.last.Kind, "id", batch.last.ID, "error", err)
		in.single = false
		without := in.Batch()
		without.Remove(batch.last.Kind, batch.last.ID)
		err = in.Apply(ctx, without, mark.raw())
	}
	if err != nil {
		return err
	}
	in.mark = mark
	in.moved(mark)
	return nil
}

// moved shows a mark to those who look.
func (in *volume) moved(mark indexMark) {
	in.behind.Store(mark.Change)
	in.owed.Store(uint64(len(mark.Owed)))
	in.lacking.Store(&mark.Lacking)
	in.walking.Store(mark.Place != nil)
	if mark.Place == nil {
		in.walkDone.Store(in.walkTotal.Load())
		return
	}
	in.walkTotal.Store(mark.Place.Total)
	in.walkDone.Store(mark.Place.Done)
}

// done is how far the walk has come; records that came after it began count too.
func (in *volume) done() (done, total uint64) {
	total = in.walkTotal.Load()
	return min(in.walkDone.Load(), total), total
}
