package search

import (
	"context"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

const (
	// trimAtOnce bounds a commit that trims the feed, and is how much must be there
	// for one; defaultFeed is how much is kept for an index that does not get on.
	trimAtOnce  = 4096
	defaultFeed = 1_000_000
)

// trim takes changes out of the feed that every index has durably, rarely and a
// bounded number at once. What an index needs stays, unless there are so many that to
// make it anew costs less: what is beyond that goes at once, as turns may be minutes
// apart while the index does not get on.
func (x *Indexer) trim(ctx context.Context) error {
	var first, last uint64
	err := x.store.View(ctx, func(t *store.Tx) error { first, last = t.FirstChange(), t.LastChange(); return nil })
	if err != nil {
		return err
	}
	upTo := last
	for _, in := range []*volume{x.now, x.next} {
		if in != nil && in.outrun.IsZero() {
			upTo = min(upTo, in.mark.Change)
		}
	}
	if x.now == nil && x.next == nil {
		upTo = 0
	}
	for upTo = max(upTo, last-min(last, x.mostFeed)); upTo+1 >= first+trimAtOnce; first += trimAtOnce {
		err := x.store.Update(ctx, nil, func(t *store.Tx) error {
			_, err := t.TrimChanges(upTo, trimAtOnce)
			return err
		})
		if takesNoWrites(err) {
			return nil // they can wait
		}
		if err != nil {
			return err
		}
		if first+trimAtOnce+x.mostFeed > last {
			break // the rest goes with the turns that come
		}
	}
	return nil
}

// takesNoWrites is the error of a database that is full or read-only, for now or until
// a restart.
func takesNoWrites(err error) bool {
	kind := errs.KindOf(err)
	return kind == errs.Unavailable || kind == errs.InsufficientStorage
}
