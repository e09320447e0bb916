package postings

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// Known returns those of the terms that stand in some document, with in how many about:
// documents that are gone count until they are merged away. Terms in ascending order
// are found faster.
func (x *Index) Known(ctx context.Context, terms []string) (map[string]int, error) {
	s, err := x.acquire()
	if err != nil {
		return nil, err
	}
	defer s.release()
	return s.known(ctx, terms)
}

// known goes over one segment after the other, so that terms in order are found in
// the leaf that is open.
func (s *snapshot) known(ctx context.Context, terms []string) (map[string]int, error) {
	known := make(map[string]int)
	var term []byte
	for _, v := range s.views {
		l := lookup{segment: v.segment}
		for i, t := range terms {
			if i%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			term = append(term[:0], t...)
			e, ok, err := l.find(term)
			if err != nil {
				return nil, fmt.Errorf("look up a term: %w", err)
			}
			if ok {
				known[t] += int(e.count)
			}
		}
	}
	return known, nil
}

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
