package search

import (
	"context"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

const (
	// trimBatchSize bounds a commit that trims the feed, and is how much must be there
	// for one; defaultMaxFeed is how much is kept for an index that does not get on.
	trimBatchSize  = 4096
	defaultMaxFeed = 1_000_000
)

// trimFeed takes changes out of the feed that every index has durably, rarely and a
// bounded number at once. What an index needs stays, unless there are so many that to
// make it anew costs less: what is beyond that goes at once, as turns may be minutes
// apart while the index does not get on.
func (x *Indexer) trimFeed(ctx context.Context) error {
	var first, last uint64
	err := x.store.View(ctx, func(t *store.Tx) error { first, last = t.FirstChange(), t.LastChange(); return nil })
	if err != nil {
		return err
	}
	upTo := last
	for _, in := range []*generation{x.live, x.building} {
		if in != nil && in.fellBehindAt.IsZero() {
			upTo = min(upTo, in.checkpoint.Change)
		}
	}
	if x.live == nil && x.building == nil {
		upTo = 0
	}
	for upTo = max(upTo, last-min(last, x.maxFeed)); upTo+1 >= first+trimBatchSize; first += trimBatchSize {
		err := x.store.Update(ctx, nil, func(t *store.Tx) error {
			_, err := t.TrimChanges(upTo, trimBatchSize)
			return err
		})
		if isWriteUnavailable(err) {
			return nil // they can wait
		}
		if err != nil {
			return err
		}
		if first+trimBatchSize+x.maxFeed > last {
			break // the rest goes with the turns that come
		}
	}
	return nil
}

// isWriteUnavailable is the error of a database that is full or read-only, for now or until
// a restart.
func isWriteUnavailable(err error) bool {
	kind := errs.KindOf(err)
	return kind == errs.Unavailable || kind == errs.InsufficientStorage
}
