package search

import (
	"context"

	"deedkeep/app/search/query"
)

// Index is the part of query.Index that the indexer uses.
type Index interface {
	Search(ctx context.Context, q query.Query) (query.Result, error)
	Batch() Batch
	Apply(ctx context.Context, b Batch, checkpoint []byte) error
	Checkpoint() []byte
	Size() (documents uint64, bytes int64, segments int)
	Check(ctx context.Context) error
	Close() error
}

// Batch collects changes that an Index applies in one commit.
type Batch interface {
	Put(d query.Document) error
	Remove(k query.Kind, id uint64)
	Bytes() int
}

// queryIndex adapts query.Index to Index.
type queryIndex struct{ *query.Index }

// OpenIndex opens or creates the index in a folder. It returns the same errors as query.Open.
func OpenIndex(dir string, o query.Options) (Index, error) {
	index, err := query.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return queryIndex{index}, nil
}

// Batch returns an empty batch.
func (w queryIndex) Batch() Batch { return w.Index.NewBatch() }

// Apply commits a batch and its checkpoint.
func (w queryIndex) Apply(ctx context.Context, b Batch, checkpoint []byte) error {
	return w.Index.Apply(ctx, b.(*query.Batch), checkpoint) //nolint:forcetypeassert // always from Batch
}

// Size returns the number of documents, the size on disk in bytes, and the number of segments.
func (w queryIndex) Size() (documents uint64, bytes int64, segments int) {
	s := w.Stats()
	return uint64(s.Documents), s.Bytes, s.Segments
}
