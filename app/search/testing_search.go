// The functions in this file give tests access to internals.

package search

import (
	"context"

	"deedkeep/app/search/query"
)

// WrapIndex puts something between the indexer and its index, of which it has opened
// none yet.
func (s *Service) WrapIndex(wrap func(Index) Index) {
	o := s.indexerOptions()
	o.Open = func(dir string, set query.Options) (Index, error) {
		in, err := OpenIndex(dir, set)
		if err != nil {
			return nil, err
		}
		return wrap(in), nil
	}
	s.Index = NewIndexer(o)
}

// SearchIndex asks the index itself.
func (s *Service) SearchIndex(ctx context.Context, q query.Query) (query.Result, error) {
	leave, err := s.Index.Acquire(ctx, "test")
	if err != nil {
		return query.Result{}, err
	}
	defer leave()
	return s.Index.Search(ctx, q)
}
