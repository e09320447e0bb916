// The functions in this file give tests access to internals.

package search

import (
	"context"

	"deedkeep/app/search/query"
)

// MaxDelay is the maximum time that Run waits before it applies a change.
const MaxDelay = gatherDelay + maxYield

// RunPass runs one pass.
func (x *Indexer) RunPass(ctx context.Context) (more bool, err error) { return x.runPass(ctx) }

// AllowMerge reports whether a merge may write the given number of bytes.
func (x *Indexer) AllowMerge(bytes int64) bool { return x.allowMerge(bytes) }

// SetMaxFeed sets the number of changes that are kept for an index that has stopped updating.
func (x *Indexer) SetMaxFeed(changes uint64) { x.maxFeed = changes }

// NextFiles returns the IDs of the pending files of an abstract.
func (x *Indexer) NextFiles(ctx context.Context, abstract uint64) ([]uint64, error) {
	return x.nextFiles(ctx, pendingFiles{Abstract: abstract})
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
