package search

import (
	"context"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

const (
	// trimBatchSize is the number of changes that one commit removes from the feed. Fewer are not worth
	// a commit. defaultMaxFeed is the number of changes that are kept for an index that has stopped
	// updating.
	trimBatchSize  = 4096
	defaultMaxFeed = 1_000_000
)

// trimFeed removes changes that every index contains from the feed, in bounded commits. It keeps up to
// maxFeed changes that an index still needs. With more changes, a rebuild costs less than applying
// them. Changes in excess of maxFeed are all removed in one pass because passes may be minutes apart
// while indexing fails.
func (in *Indexer) trimFeed(ctx context.Context) error {
	var first, last uint64
	err := in.options.Store.View(ctx, func(t *store.Tx) error { first, last = t.FirstChange(), t.LastChange(); return nil })
	if err != nil {
		return err
	}
	upTo := last
	for _, gen := range []*generation{in.live, in.building} {
		if gen != nil && gen.fellBehindAt.IsZero() {
			upTo = min(upTo, gen.checkpoint.Change)
		}
	}
	if in.live == nil && in.building == nil {
		upTo = 0
	}
	for upTo = max(upTo, last-min(last, in.maxFeed)); upTo+1 >= first+trimBatchSize; first += trimBatchSize {
		err := in.options.Store.Update(ctx, nil, func(t *store.Tx) error {
			_, err := t.TrimChanges(upTo, trimBatchSize)
			return err
		})
		if errs.NotWritable(err) {
			return nil // trimming can wait
		}
		if err != nil {
			return err
		}
		if first+trimBatchSize+in.maxFeed > last {
			break // the following passes remove the rest
		}
	}
	return nil
}
