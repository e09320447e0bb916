package query

import (
	"context"
	"errors"
	"fmt"
	"math"

	"deedkeep/app/search/index"
)

// ErrDeadline means that a search exceeded Options.Deadline or the deadline of its context.
var ErrDeadline = errors.New("the search took too long")

// Search returns one page of matches, best first. It reads only a limited part of the index for any
// query. It returns ErrShort, ErrLong, or ErrDeep for an invalid query, ErrDeadline, ErrDamaged, or
// the error of a canceled context.
func (i *Index) Search(ctx context.Context, q Query) (Result, error) {
	return search(ctx, i.Index, i.options, q)
}

func search(ctx context.Context, engine searcher, o Options, q Query) (Result, error) {
	if q.Offset < 0 || q.Limit < 0 || q.Offset > o.MaxDepth-q.Limit {
		return Result{}, fmt.Errorf("%w: offset %d, limit %d", ErrDeep, q.Offset, q.Limit)
	}
	var parsed parsedQuery
	var party index.Node
	var err error
	if q.Party != "" {
		party, err = partyNode(q.Party, o.MaxWords)
	}
	if err == nil && (q.Party == "" || q.Text != "") {
		parsed, err = parse(q.Text, o.MaxWords)
	}
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Deadline)
	defer cancel()
	s := searchRun{ctx: ctx, engine: engine, query: newIndexQuery(q), party: party, offset: q.Offset, needed: q.Offset + q.Limit}
	if err := s.run(parsed); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return Result{}, fmt.Errorf("%w: %w", ErrDeadline, err)
		}
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return s.result(), nil
}

// newIndexQuery returns the part of the index query that does not depend on the text.
func newIndexQuery(q Query) index.Query {
	e := index.Query{Filters: q.filterTerms(), From: math.MinInt32, To: math.MaxInt32, SkipCounts: q.SkipCounts || q.Party != ""}
	if !q.CreatedFrom.IsZero() {
		e.HasDateRange, e.From = true, Day(q.CreatedFrom)
	}
	if !q.CreatedTo.IsZero() {
		e.HasDateRange, e.To = true, Day(q.CreatedTo)
	}
	if q.Kind != "" {
		e.Groups = 1 << kindNumber(q.Kind)
	}
	return e
}

// searcher is the part of index.Index that a search uses.
type searcher interface {
	dictionary
	Search(ctx context.Context, q index.Query) (index.Result, error)
}

// searchRun is the state of one search, which consists of several stages.
type searchRun struct {
	ctx    context.Context
	engine searcher
	query  index.Query
	party  index.Node // also required; nil if Query.Party is empty
	offset int        // index of the first hit of the page
	needed int        // number of hits up to the end of the page

	hits   []index.Hit
	counts [index.NumGroups]int
	added  [numStages]int // number of hits that each stage added
	first  [numStages]int // index in hits of the first of them
}

// run runs the stages until there are enough hits. If a later stage exceeds the deadline and the
// page already has hits, run returns without an error. An empty page is an error because later
// stages might have found hits.
func (s *searchRun) run(parsed parsedQuery) error {
	if len(parsed.groups) == 0 { // the query has only a party
		return s.find(exact, s.party)
	}
	b := newBuilder(s.ctx, s.engine)
	for _, stage := range []stage{exact, splitInitials, relaxed, fuzzy} {
		if stage != exact && len(s.hits) >= s.needed {
			return nil
		}
		b.hasHits = len(s.hits) > 0
		err := s.runStage(b, parsed, stage)
		if err != nil && len(s.hits) > s.offset && errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runStage runs a stage unless it can't find more than the previous one.
func (s *searchRun) runStage(b *builder, parsed parsedQuery, stage stage) error {
	node, wider, err := b.build(parsed, stage)
	if err != nil {
		return err
	}
	if stage != exact && !wider {
		return nil
	}
	if s.party != nil {
		node = index.All{node, s.party}
	}
	return s.find(stage, node)
}

// find appends the hits of a node that earlier stages did not find.
func (s *searchRun) find(stage stage, node index.Node) error {
	q := s.query
	q.Node, q.Limit = node, s.needed+1+len(s.hits)
	found, err := s.engine.Search(s.ctx, q)
	if err != nil {
		return err
	}
	s.counts = found.Counts
	seen := make(map[uint64]bool, len(s.hits))
	for _, h := range s.hits {
		seen[h.Key] = true
	}
	before := len(s.hits)
	for _, h := range found.Hits {
		if n := h.Key >> 56; n == 0 || n >= uint64(len(kinds)) {
			return fmt.Errorf("%w: a record of unknown type %d", index.ErrDamaged, n)
		}
		if seen[h.Key] {
			continue
		}
		if before > 0 {
			h.Score = min(h.Score, s.hits[before-1].Score)
		}
		s.hits = append(s.hits, h)
	}
	s.first[stage], s.added[stage] = before, len(s.hits)-before
	return nil
}

// hasHitOf reports whether at least one of the first end hits was added by the given stage.
func (s *searchRun) hasHitOf(stage stage, end int) bool {
	return s.added[stage] > 0 && s.first[stage] < end
}

// result returns the requested page of hits.
func (s *searchRun) result() Result {
	a := Result{Counts: make(map[Kind]int)}
	for n, k := range kinds[1:] {
		a.Counts[k] = s.counts[n+1]
	}
	a.More = len(s.hits) > s.needed
	end := min(len(s.hits), s.needed)
	a.Fuzzy, a.Relaxed = s.hasHitOf(fuzzy, end), s.hasHitOf(relaxed, end)
	for i := min(s.offset, end); i < end; i++ {
		h := s.hits[i]
		a.Hits = append(a.Hits, Hit{
			Kind: kinds[h.Key>>56], ID: h.Key & maxID, Score: h.Score,
			Approximate:    i >= s.added[exact]+s.added[splitInitials],
			MayMatchNumber: h.Score > weightNumber*factorTrimmedZeros,
		})
	}
	return a
}
