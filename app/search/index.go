package search

import (
	"context"

	"deedkeep/app/search/query"
)

// Index is the part of query.Index that the indexer uses.
type Index interface {
	Search(ctx context.Context, q query.Query) (query.Result, error)
	NewBatch() *query.Batch
	Apply(ctx context.Context, b *query.Batch, checkpoint []byte) error
	Checkpoint() []byte
	Stats() query.Stats
	Check(ctx context.Context) error
	DropCache() // releases memory; searches read from the disk again
	Close() error
}

// OpenIndex opens or creates the index in a folder. It returns the same errors as query.Open.
func OpenIndex(dir string, o query.Options) (Index, error) {
	index, err := query.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return index, nil
}
