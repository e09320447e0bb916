package search

import (
	"context"

	"deedkeep/app/search/query"
)

// Index is the index of words (app/search/query) as the indexer needs it.
type Index interface {
	Search(ctx context.Context, q query.Query) (query.Result, error)
	Batch() Batch
	Apply(ctx context.Context, b Batch, mark []byte) error
	Checkpoint() []byte
	Size() (documents uint64, bytes int64, segments int)
	Check(ctx context.Context) error
	Close() error
}

// Batch is what goes into an Index at once.
type Batch interface {
	Put(d query.Document) error
	Remove(k query.Kind, id uint64)
	Bytes() int
}

// queryIndex is app/search/query as the indexer needs it.
type queryIndex struct{ *query.Index }

// OpenIndex opens the index in a folder, with the errors of search.Open.
func OpenIndex(dir string, o query.Options) (Index, error) {
	in, err := query.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return queryIndex{in}, nil
}

// Batch begins one.
func (w queryIndex) Batch() Batch { return w.Index.NewBatch() }

// Apply puts one in.
func (w queryIndex) Apply(ctx context.Context, b Batch, mark []byte) error {
	return w.Index.Apply(ctx, b.(*query.Batch), mark) //nolint:forcetypeassert // Batch made it
}

// Size is how large it is.
func (w queryIndex) Size() (documents uint64, bytes int64, segments int) {
	s := w.Stats()
	return uint64(s.Documents), s.Bytes, s.Segments
}
