package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deedkeep/app/search/index/segment"
)

// Node is one of Term, All, Any, Prefer and Phrase: what a document must have, and
// what it is worth. A nil Node is every document, worth nothing. An All, an Any or a
// Phrase of nothing is no document, and so is a term that none can have.
type Node interface{ node() }

// Term is a document that has the term, at positions or without. It is worth Weight,
// where Flat; else Weight times BM25, which is 0 where it has no positions.
type Term struct {
	Text          string
	Weight        float64
	ConstantScore bool
}

// All is a document that every node holds of; it is worth the sum.
type All []Node

// Any is a document that at least one node holds of; it is worth the most of those.
type Any []Node

// Prefer is a document that Must holds of; each of Should that holds of it too adds
// what it is worth. A Phrase in Should only betters the order, and never costs the
// answer: of positions a search follows some 16,000,000 for all of those, and none when half
// of the time is over that ctx allows; documents that come then are worth what they are
// without.
type Prefer struct {
	Must   Node
	Should []Node
}

// Phrase is a document in which the terms stand one behind the other; it is worth
// Weight times the BM25 of the terms.
type Phrase struct {
	Terms  []string
	Weight float64
}

func (Term) node()   {}
func (All) node()    {}
func (Any) node()    {}
func (Prefer) node() {}
func (Phrase) node() {}

// Query asks for the documents that are worth most.
type Query struct {
	Node         Node
	Groups       uint8    // of which groups hits are given, a bit each; 0 for all
	Filters      []string // terms that every match has besides, worth nothing
	HasDateRange bool     // only those whose date is From to To, both included
	From         int32    // days since 1970
	To           int32
	Limit        int // hits, at most MaxHits; 0 only counts
}

// Hit is a document that matches.
type Hit struct {
	Key   uint64
	Group uint8
	Score float64
}

// Result is the hits, those worth most first, among equals those of the lowest group, and
// among those the ones that came last first; and how many documents of every group match, whatever Query.Groups says.
type Result struct {
	Hits   []Hit
	Counts [NumGroups]int
}

// Search returns the documents that match and are worth most, and how many match. Its
// errors are ErrQuery, ErrDamaged, ErrClosed and those of ctx, at which it looks every
// few thousand documents.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	s, err := x.acquire()
	if err != nil {
		return Result{}, err
	}
	defer s.release()
	a, err := search(ctx, q, s, x.options.MaxNodes)
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	return a, nil
}

func search(ctx context.Context, q Query, s *snapshot, mostNodes int) (Result, error) {
	p, err := newPlan(q, s, mostNodes)
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
	// From the latest on, so that what comes first wins among equals.
	for i := len(s.views) - 1; i >= 0; i-- {
		c.search(p, i)
		if c.budget.Err() != nil {
			return Result{}, c.budget.Err()
		}
	}
	return c.result(s.views)
}

// maxOptionalSteps is how many positions are followed only to better the order: some 0.1 s.
const maxOptionalSteps = 1 << 24

// halfway is when half of the time that ctx allows is over; zero where it allows any.
func halfway(ctx context.Context) time.Time {
	end, ends := ctx.Deadline()
	if !ends {
		return time.Time{}
	}
	return end.Add(-time.Until(end) / 2)
}

// collector goes over the segments and keeps the best.
type collector struct {
	query          Query
	budget         segment.Budget
	optionalBudget segment.Budget // over what may be left undone
	top            topHits
	counts         [NumGroups]int

	view       int
	tombstones *segment.Tombstones
	groups     *segment.Column
	dates      *segment.Column
}

// docsPerCheck is how many documents are gone over between two looks at ctx.
const docsPerCheck = 1 << 12

// search goes over one segment.
func (c *collector) search(p *plan, i int) {
	v := c.open(p, i)
	b := matcherBuilder{plan: p, segment: v, entries: p.entries[i], budget: &c.budget, optionalBudget: &c.optionalBudget, lengths: v.Lengths(&c.budget)}
	m := b.root()
	most := m.maxScore()
	for d, n := m.Next(), 1; d != segment.NoMoreDocs && c.budget.Err() == nil; d, n = m.Next(), n+1 {
		if n%docsPerCheck == 0 {
			c.budget.Check()
		}
		if c.tombstones.Has(d) || c.query.HasDateRange && !c.inDateRange(d) {
			continue
		}
		group := c.groups.U8(d) % NumGroups
		c.counts[group]++
		if c.query.Groups>>group&1 == 0 || !c.top.wants(most, group) {
			continue
		}
		if score := m.score(); c.top.wants(score, group) {
			c.top.add(rankedHit{hit: Hit{Group: group, Score: score}, view: i, doc: d})
		}
	}
	c.budget.Check()
	if err := c.optionalBudget.Err(); err != nil && !errors.Is(err, segment.ErrBudgetSpent) {
		c.budget.Fail(err) // damage; or ctx, which is looked at anyway
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
	a := Result{Counts: c.counts}
	for _, r := range c.top.sorted() {
		key, err := views[r.view].segment.Key(r.doc)
		if err != nil {
			return Result{}, err
		}
		r.hit.Key = key
		a.Hits = append(a.Hits, r.hit)
	}
	return a, nil
}

// DocFreqs returns those of the terms that stand in some document, with in how many about:
// documents that are gone count until they are merged away. Terms in ascending order
// are found faster.
func (x *Index) DocFreqs(ctx context.Context, terms []string) (map[string]int, error) {
	s, err := x.acquire()
	if err != nil {
		return nil, err
	}
	defer s.release()
	return s.docFreqs(ctx, terms)
}

// docFreqs goes over one segment after the other, so that terms in order are found in
// the leaf that is open.
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
		if all, err = v.segment.Terms([]byte(prefix), limit, all); err != nil {
			return nil, fmt.Errorf("terms: %w", err)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), max(limit, 0))], nil
}
