package search

import "context"

// RunPass does one turn.
func (x *Indexer) RunPass(ctx context.Context) (more bool, err error) { return x.runPass(ctx) }

// AllowMerge tells whether a merge of the index may take so much.
func (x *Indexer) AllowMerge(bytes int64) bool { return x.allowMerge(bytes) }

// MaxDelay is how long Run waits before it follows, at most.
const MaxDelay = gatherDelay + maxYield

// SetMaxFeed changes how many changes are kept for an index that does not get on.
func (x *Indexer) SetMaxFeed(most uint64) { x.maxFeed = most }

// NextFiles gives the files of an abstract that is owed.
func (x *Indexer) NextFiles(ctx context.Context, abstract uint64) ([]uint64, error) {
	return x.nextFiles(ctx, pendingFiles{Abstract: abstract})
}
