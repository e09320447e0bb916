package query

import (
	"context"
	"errors"
	"fmt"

	"deedkeep/app/search/index"
)

// ErrDeadline is that of a query that took longer than Options.Deadline, or than its
// context allows.
var ErrDeadline = errors.New("the search took too long")

// Search gives a page of what matches, best first. It reads a bounded part of the
// index, whatever is typed. Errors: ErrShort, ErrLong, ErrDeep, ErrDeadline, ErrDamaged
// and that of a canceled context.
func (x *Index) Search(ctx context.Context, q Query) (Answer, error) {
	return search(ctx, x.engine, x.options, q)
}

func search(ctx context.Context, engine searcher, o Options, q Query) (Answer, error) {
	if q.Offset < 0 || q.Limit < 0 || q.Offset > o.MostDepth-q.Limit {
		return Answer{}, fmt.Errorf("%w: %d and %d behind it", ErrDeep, q.Offset, q.Limit)
	}
	a, err := parse(q.Text, o.MostWords)
	if err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Deadline)
	defer cancel()
	s := searching{ctx: ctx, engine: engine, query: engineQuery(q), offset: q.Offset, enough: q.Offset + q.Limit}
	if err := s.run(a); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return Answer{}, fmt.Errorf("%w: %w", ErrDeadline, err)
		}
		return Answer{}, fmt.Errorf("search: %w", err)
	}
	return s.page(), nil
}

// engineQuery is what does not depend on the text.
func engineQuery(q Query) index.Query {
	e := index.Query{
		Where: where(q.Template, q.County, q.State, q.Status),
		Dated: q.Dated, From: q.From, To: q.To,
	}
	if q.Kind != 0 {
		e.Groups = 1 << q.Kind
	}
	return e
}

// searcher is the engine as a query needs it.
type searcher interface {
	dictionary
	Search(ctx context.Context, q index.Query) (index.Answer, error)
}

// searching is one query on its way through the stages.
type searching struct {
	ctx    context.Context
	engine searcher
	query  index.Query
	offset int // of the page
	enough int // hits that the page needs, with those before it

	hits   []index.Hit
	counts [index.Groups]int
	late   [stages]int // how many hits a stage added, and
	first  [stages]int // the first of them
}

// run asks stage after stage, until there are enough hits. What a later stage is too
// late with is left out, where the page has hits without it: that it has none must be so.
func (s *searching) run(a asked) error {
	b := newBuilder(s.ctx, s.engine)
	for _, stage := range []stage{strict, parted, loose, typos} {
		if stage != strict && len(s.hits) >= s.enough {
			return nil
		}
		b.found = len(s.hits) > 0
		err := s.ask(b, a, stage)
		if err != nil && len(s.hits) > s.offset && errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ask puts the hits of a stage behind those of the stages before.
func (s *searching) ask(b *builder, a asked, stage stage) error {
	node, wider, err := b.build(a, stage)
	if err != nil {
		return err
	}
	if stage != strict && !wider {
		return nil
	}
	q := s.query
	q.Node, q.Limit = node, s.enough+1+len(s.hits)
	answer, err := s.engine.Search(s.ctx, q)
	if err != nil {
		return err
	}
	s.counts = answer.Counts
	had := make(map[uint64]bool, len(s.hits))
	for _, h := range s.hits {
		had[h.Key] = true
	}
	before := len(s.hits)
	for _, h := range answer.Hits {
		if had[h.Key] {
			continue
		}
		if before > 0 {
			h.Score = min(h.Score, s.hits[before-1].Score)
		}
		s.hits = append(s.hits, h)
	}
	s.first[stage], s.late[stage] = before, len(s.hits)-before
	return nil
}

// shows says whether hits of a stage are among those up to end.
func (s *searching) shows(stage stage, end int) bool {
	return s.late[stage] > 0 && s.first[stage] < end
}

// page is the hits from the offset on.
func (s *searching) page() Answer {
	a := Answer{Counts: make(map[Kind]int)}
	for k := Abstract; k <= File; k++ {
		a.Counts[k] = s.counts[k]
	}
	a.More = len(s.hits) > s.enough
	end := min(len(s.hits), s.enough)
	a.Fuzzy, a.Loose = s.shows(typos, end), s.shows(loose, end)
	for i := min(s.offset, end); i < end; i++ {
		h := s.hits[i]
		a.Hits = append(a.Hits, Hit{
			Kind: Kind(h.Key >> 56), ID: h.Key & mostID, Score: h.Score, Guess: i >= s.late[strict]+s.late[parted], Whole: h.Score > worthNumber*worthPlain,
		})
	}
	return a
}
