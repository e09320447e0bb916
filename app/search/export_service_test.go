// The functions in this file give tests access to internals.

package search

import (
	"deedkeep/app/search/query"
)

// WrapIndex wraps each index that the indexer opens. Call it before the indexer has opened one.
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
