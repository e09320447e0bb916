package search

import "context"

// RunPass runs one pass.
func (x *Indexer) RunPass(ctx context.Context) (more bool, err error) { return x.runPass(ctx) }

// AllowMerge reports whether a merge may write the given number of bytes.
func (x *Indexer) AllowMerge(bytes int64) bool { return x.allowMerge(bytes) }

// MaxDelay is the longest that Run waits before it applies a change.
const MaxDelay = gatherDelay + maxYield

// SetMaxFeed sets how many changes are kept for an index that has stopped updating.
func (x *Indexer) SetMaxFeed(max uint64) { x.maxFeed = max }

// NextFiles returns the pending files of an abstract.
func (x *Indexer) NextFiles(ctx context.Context, abstract uint64) ([]uint64, error) {
	return x.nextFiles(ctx, pendingFiles{Abstract: abstract})
}
