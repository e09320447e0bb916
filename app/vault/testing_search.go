// The functions in this file give tests access to internals.

package vault

import (
	"context"

	"deedkeep/app/search"
	"deedkeep/app/search/query"
)

// WordIndex is the index as the indexer needs it.
type WordIndex = search.Index

// WrapWords puts something between the indexer and its index, of which it has opened
// none yet.
func (s *SearchService) WrapWords(wrap func(search.Index) search.Index) {
	o := s.indexing()
	o.Open = func(dir string, set query.Options) (search.Index, error) {
		in, err := search.Words(dir, set)
		if err != nil {
			return nil, err
		}
		return wrap(in), nil
	}
	s.index = search.New(o)
}

// AskWords asks the index itself.
func (s *SearchService) AskWords(ctx context.Context, q query.Query) (query.Result, error) {
	leave, err := s.index.Enter(ctx, "test")
	if err != nil {
		return query.Result{}, err
	}
	defer leave()
	return s.index.Search(ctx, q)
}
