// The functions in this file give tests access to internals.

package search

import (
	"context"

	"deedkeep/app/search/query"
)

// WordIndex is the index as the indexer needs it.
type WordIndex = Index

// WrapWords puts something between the indexer and its index, of which it has opened
// none yet.
func (s *SearchService) WrapWords(wrap func(Index) Index) {
	o := s.indexing()
	o.Open = func(dir string, set query.Options) (Index, error) {
		in, err := Words(dir, set)
		if err != nil {
			return nil, err
		}
		return wrap(in), nil
	}
	s.Index = New(o)
}

// AskWords asks the index itself.
func (s *SearchService) AskWords(ctx context.Context, q query.Query) (query.Result, error) {
	leave, err := s.Index.Enter(ctx, "test")
	if err != nil {
		return query.Result{}, err
	}
	defer leave()
	return s.Index.Search(ctx, q)
}
