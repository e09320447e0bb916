// The functions in this file give tests access to internals.

package search

import (
	"context"

	"deedkeep/app/search/query"
)

// MaxDelay is the maximum time that Run waits before it applies a change.
const MaxDelay = gatherDelay + maxYield

// RunPass runs one pass.
func (in *Indexer) RunPass(ctx context.Context) (more bool, err error) { return in.runPass(ctx) }

// AllowMerge reports whether a merge may write the given number of bytes.
func (in *Indexer) AllowMerge(bytes int64) bool { return in.allowMerge(bytes) }

// SetFeed sets the number of changes that are kept for an index that has stopped updating, and the number that one commit
// removes.
func (in *Indexer) SetFeed(changes, batch uint64) { in.maxFeed, in.batch = changes, batch }

// NextFiles returns the IDs of the pending files of an abstract.
func (in *Indexer) NextFiles(ctx context.Context, abstract uint64) ([]uint64, error) {
	return in.nextFiles(ctx, pendingFiles{Abstract: abstract})
}

// WrapIndex makes the indexer wrap each index that it opens. Call it before the indexer has opened one.
func (s *Service) WrapIndex(wrap func(Index) Index) {
	o := s.indexerOptions()
	o.Open = func(dir string, opts query.Options) (Index, error) {
		in, err := OpenIndex(dir, opts)
		if err != nil {
			return nil, err
		}
		return wrap(in), nil
	}
	s.Index = NewIndexer(o)
}
