package postings

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// Terms returns the first terms in ascending order of their bytes that begin with the
// prefix, at most limit of them; no more of a dictionary is read than that takes. Terms
// may be among them that only documents have which are gone.
func (x *Index) Terms(ctx context.Context, prefix string, limit int) ([]string, error) {
	s, err := x.acquire()
	if err != nil {
		return nil, err
	}
	defer s.release()
	var all []string
	for _, v := range s.views {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if all, err = v.segment.terms([]byte(prefix), limit, all); err != nil {
			return nil, fmt.Errorf("terms: %w", err)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), max(limit, 0))], nil
}

// terms appends at most limit terms with the prefix.
func (s *segment) terms(prefix []byte, limit int, all []string) ([]string, error) {
	off, _, ok := s.sparse.find(prefix)
	if !ok {
		off = 0
	}
	var w walk
	w.from(&s.streams[streamTerms], off)
	for n := 0; n < limit && w.next(); {
		if bytes.HasPrefix(w.term, prefix) {
			all = append(all, string(w.term))
			n++
		} else if bytes.Compare(w.term, prefix) > 0 {
			break
		}
	}
	return all, w.err
}
