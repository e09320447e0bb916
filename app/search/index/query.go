package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deedkeep/app/search/index/segment"
)

// Node is a condition on documents with a score. It is a Term, All, Any, Prefer, or Phrase. A nil
// Node matches every document with score 0. An empty All, Any, or Phrase matches no document.
type Node interface{ node() }

// Term matches documents that contain the term. The score is Weight if ConstantScore is set;
// otherwise it is Weight times BM25, which is 0 for a term without positions.
type Term struct {
	Text          string
	Weight        float64
	ConstantScore bool
}

// All matches documents that match every node. The score is the sum.
type All []Node

// Any matches documents that match at least one node. The score is that of the best match.
type Any []Node

// Prefer matches documents that match Must. Nodes in Should add their score if they match too.
//
// A Phrase in Should only improves the order, so its cost is limited: all of them together read
// about 16,000,000 positions per search, and none after half of the time until the deadline of the
// context has passed. Documents after that are scored without these phrases.
type Prefer struct {
	Must   Node
	Should []Node
}

// Phrase matches documents that contain the terms at consecutive positions. The score is Weight
// times the BM25 of the terms.
type Phrase struct {
	Terms  []string
	Weight float64
}

func (Term) node()   {}
func (All) node()    {}
func (Any) node()    {}
func (Prefer) node() {}
func (Phrase) node() {}

// Query describes a search for the documents with the highest scores.
type Query struct {
	Node         Node
	Groups       uint8    // bit set of the groups to return hits of; 0 is all
	Filters      []string // terms that every match must contain; they don't affect the score
	HasDateRange bool     // only match documents dated From to To, inclusive
	From         int32    // in days since 1970, as is To
	To           int32
	Limit        int // maximum number of hits, at maxScore MaxHits; 0 only counts
}

// Hit is a matching document.
type Hit struct {
	Key   uint64
	Group uint8
	Score float64
}

// Result is the result of a search. Hits are ordered by descending score, then by ascending group,
// then from the newest to the oldest. Counts has the number of matches in every group, regardless
// of Query.Groups.
type Result struct {
	Hits   []Hit
	Counts [NumGroups]int
}

// Search evaluates a query. It returns ErrQuery, ErrDamaged, ErrClosed, and the error of ctx, which
// it checks every few thousand documents.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	s, err := x.acquire()
	if err != nil {
		return Result{}, err
	}
	defer s.release()
	res, err := search(ctx, q, s, x.options.MaxNodes)
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return res, nil
}

func search(ctx context.Context, q Query, s *snapshot, maxNodes int) (Result, error) {
	p, err := newPlan(q, s, maxNodes)
	if err != nil {
		return Result{}, err
	}
	if err := p.lookUp(ctx); err != nil {
		return Result{}, err
	}
	if q.Groups == 0 {
		q.Groups = 1<<NumGroups - 1
	}
	c := collector{query: q, budget: segment.NewBudget(ctx), optionalBudget: segment.NewBudget(ctx), top: topHits{limit: q.Limit}}
	c.optionalBudget.Limit(maxOptionalSteps, halfway(ctx))
	// Newest first, because among equals the first one found wins.
	for i := len(s.views) - 1; i >= 0; i-- {
		c.search(p, i)
		if c.budget.Err() != nil {
			return Result{}, c.budget.Err()
		}
	}
	return c.result(s.views)
}

// maxOptionalSteps is how many positions optional phrases may read: about 0.1 s of work.
const maxOptionalSteps = 1 << 24

// halfway returns the time at which half of the time until the deadline has passed, or zero.
func halfway(ctx context.Context) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return end.Add(-time.Until(end) / 2)
}

// collector searches the segments one after another and keeps the best hits.
type collector struct {
	query          Query
	budget         segment.Budget
	optionalBudget segment.Budget // for work that may be skipped
	top            topHits
	counts         [NumGroups]int

	view       int
	tombstones *segment.Tombstones
	groups     *segment.Column
	dates      *segment.Column
}

// docsPerCheck is the number of documents between two checks of the context.
const docsPerCheck = 1 << 12

// search searches one segment.
func (c *collector) search(p *plan, i int) {
	v := c.open(p, i)
	b := matcherBuilder{
		plan: p, segment: v, entries: p.entries[i],
		budget: &c.budget, optionalBudget: &c.optionalBudget, lengths: v.Lengths(&c.budget),
	}
	m := b.root()
	maxScore := m.maxScore()
	for d, n := m.Next(), 1; d != segment.NoMoreDocs && c.budget.Err() == nil; d, n = m.Next(), n+1 {
		if n%docsPerCheck == 0 {
			c.budget.Check()
		}
		if c.tombstones.Has(d) || c.query.HasDateRange && !c.inDateRange(d) {
			continue
		}
		group := c.groups.U8(d) % NumGroups
		c.counts[group]++
		if c.query.Groups>>group&1 == 0 || !c.top.wants(maxScore, group) {
			continue
		}
		if score := m.score(); c.top.wants(score, group) {
			c.top.add(rankedHit{hit: Hit{Group: group, Score: score}, view: i, doc: d})
		}
	}
	c.budget.Check()
	if err := c.optionalBudget.Err(); err != nil && !errors.Is(err, segment.ErrBudgetSpent) {
		c.budget.Fail(err) // damage, or the error of ctx, which the other budget reports too
	}
}

func (c *collector) open(p *plan, i int) *segment.Segment {
	v := p.views[i]
	c.view, c.tombstones = i, v.tombstones
	c.groups = v.segment.Groups(&c.budget)
	c.dates = v.segment.Dates(&c.budget)
	return v.segment.Segment
}

func (c *collector) inDateRange(d uint32) bool {
	date := int32(c.dates.U32(d))
	return date != NoDate && date >= c.query.From && date <= c.query.To
}

// result reads the keys of the hits.
func (c *collector) result(views []view) (Result, error) {
	res := Result{Counts: c.counts}
	for _, r := range c.top.sorted() {
		key, err := views[r.view].segment.Key(r.doc)
		if err != nil {
			return Result{}, err
		}
		r.hit.Key = key
		res.Hits = append(res.Hits, r.hit)
	}
	return res, nil
}

// DocFreqs returns the document frequency of each term that occurs. Deleted documents count until
// they are merged away. Lookups are faster if the terms are in ascending order.
func (x *Index) DocFreqs(ctx context.Context, terms []string) (map[string]int, error) {
	s, err := x.acquire()
	if err != nil {
		return nil, err
	}
	defer s.release()
	return s.docFreqs(ctx, terms)
}

// docFreqs processes one segment after another, so that sorted terms are found in the current leaf.
func (s *snapshot) docFreqs(ctx context.Context, terms []string) (map[string]int, error) {
	known := make(map[string]int)
	var term []byte
	for _, v := range s.views {
		l := v.segment.Lookup()
		for i, t := range terms {
			if i%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			term = append(term[:0], t...)
			e, ok, err := l.Find(term)
			if err != nil {
				return nil, fmt.Errorf("look up a term: %w", err)
			}
			if ok {
				known[t] += int(e.DocFreq)
			}
		}
	}
	return known, nil
}

// Terms returns the first terms with the prefix in ascending byte order, at most limit of them. It
// reads no more of the dictionaries than necessary. Some terms may be of deleted documents only.
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
		if all, err = v.segment.Terms([]byte(prefix), limit, all); err != nil {
			return nil, fmt.Errorf("terms: %w", err)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), max(limit, 0))], nil
}
