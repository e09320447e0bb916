package index

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"deedkeep/app/search/index/segment"
)

// Node is a condition that documents can match, with a score. It is a Term, All, Any, Prefer,
// Phrase, or Together. A nil Node matches every document with a score of 0. An empty All, Any,
// Phrase, or Together does not match any document.
type Node interface{ node() }

// Term matches documents that contain the term. If ConstantScore is set, the score is Weight.
// Otherwise, it is Weight times BM25, which is 0 for a term without positions.
type Term struct {
	Text          string
	Weight        float64
	ConstantScore bool
}

// All matches documents that match every node. The score is the sum of the scores.
type All []Node

// Any matches documents that match at least one node. The score is the highest one.
type Any []Node

// Prefer matches documents that match Must. Nodes in Should that also match add their scores.
//
// A Phrase in Should only improves the order of the hits, so its cost is limited. All such phrases
// of a search together read about 16,000,000 positions. They stop reading when half of the time
// until the deadline of the context has passed. The remaining documents are scored without these
// phrases.
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

// Together matches documents that contain all of the terms, at the same position if there are
// several. The score is 0.
type Together []string

func (Term) node()     {}
func (All) node()      {}
func (Any) node()      {}
func (Prefer) node()   {}
func (Phrase) node()   {}
func (Together) node() {}

// Query describes a search for the documents with the highest scores.
type Query struct {
	Node         Node
	Groups       uint8    // bit set of the groups whose hits are returned; 0: all
	Filters      []string // terms that every match must contain; they don't affect the score
	HasDateRange bool     // only match documents dated between From and To, inclusive
	From         int32    // in days since January 1, 1970, like To
	To           int32
	Limit        int  // maximum number of hits, up to MaxHits; 0: only count matches
	SkipCounts   bool // stop when no other document can be among the hits; Result.Counts is then too low
}

// Hit is a matching document.
type Hit struct {
	Key   uint64
	Group uint8
	Score float64
}

// Result is the result of a search. Hits are ordered by descending score, then by ascending group,
// and then from the newest to the oldest. Counts holds the number of matches in each group,
// regardless of Query.Groups.
type Result struct {
	Hits   []Hit
	Counts [NumGroups]int
}

// Search evaluates a query. It returns ErrQuery for an invalid query, ErrDamaged, ErrClosed, or the
// error of ctx. It checks ctx every few thousand documents.
func (in *Index) Search(ctx context.Context, q Query) (Result, error) {
	s, err := in.acquire()
	if err != nil {
		return Result{}, err
	}
	defer s.release()
	res, err := search(ctx, q, s, in.options.MaxNodes)
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
	// Search the newest segment first because the first of several hits with the same score wins.
	for i := len(s.views) - 1; i >= 0; i-- {
		c.search(p, i)
		if c.budget.Err() != nil {
			return Result{}, c.budget.Err()
		}
	}
	return c.result(s.views)
}

// maxOptionalSteps is the number of positions that optional phrases may read. Reading them takes
// about 0.1 s.
const maxOptionalSteps = 1 << 24

// halfway returns the time halfway between now and the deadline of ctx, or the zero time if there
// is no deadline.
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
	optionalBudget segment.Budget // budget for work that may be skipped
	top            topHits
	counts         [NumGroups]int
}

// docsPerCheck is the number of documents that are processed between two checks of the context.
const docsPerCheck = 1 << 12

// search searches one segment.
func (c *collector) search(p *plan, i int) {
	v := p.views[i]
	groups, dates := v.segment.Groups(&c.budget), v.segment.Dates(&c.budget)
	b := matcherBuilder{
		plan: p, segment: v.segment.Segment, entries: p.entries[i],
		budget: &c.budget, optionalBudget: &c.optionalBudget, lengths: v.segment.Lengths(&c.budget),
	}
	m := b.root()
	maxScore, lowestGroup := m.maxScore(), uint8(bits.TrailingZeros8(c.query.Groups)) // at most 8
	hopeless := func(score float64) bool { return c.query.SkipCounts && !c.top.wants(score, lowestGroup) }
	if hopeless(maxScore) {
		return
	}
	prune(m, hopeless)
	next := func(uint32) uint32 { return m.Next() }
	for d, n := m.Next(), 1; d != segment.NoMoreDocs && c.budget.Err() == nil; d, n = next(d), n+1 {
		if n%docsPerCheck == 0 {
			c.budget.Check()
		}
		if v.tombstones.Has(d) || c.query.HasDateRange && !c.query.inDateRange(int32(dates.U32(d))) {
			continue
		}
		group := groups.U8(d) % NumGroups
		c.counts[group]++
		if c.query.Groups>>group&1 == 0 || !c.top.wants(maxScore, group) {
			continue
		}
		if score := m.score(); c.top.wants(score, group) {
			raised := c.top.add(rankedHit{hit: Hit{Group: group, Score: score}, view: i, doc: d})
			if hopeless(maxScore) {
				break
			}
			if raised {
				prune(m, hopeless)
			}
			if c.query.SkipCounts && !c.top.wants(maxScore, NumGroups-1) { // the others need a lower group
				next = func(d uint32) uint32 { return c.nextInGroup(m, d+1, v.segment.Documents(), groups, maxScore) }
			}
		}
	}
	c.budget.Check()
	if err := c.optionalBudget.Err(); err != nil && !errors.Is(err, segment.ErrBudgetSpent) {
		c.budget.Fail(err) // damage, or the error of ctx, which the other budget also reports
	}
}

// nextInGroup moves a matcher to its next document, starting with d, in a group that may be among the best
// hits. It looks at the groups first because m may match nearly all documents, and such groups be rare.
func (c *collector) nextInGroup(m matcher, d, docs uint32, groups *segment.Column, maxScore float64) uint32 {
	for ; d < docs && c.budget.Err() == nil; d++ {
		if d%docsPerCheck == 0 {
			c.budget.Check()
		}
		if group := groups.U8(d) % NumGroups; c.query.Groups>>group&1 == 0 || !c.top.wants(maxScore, group) {
			continue
		}
		at := m.Advance(d)
		if at == d || at == segment.NoMoreDocs {
			return at
		}
		d = at - 1 // its group may be too high
	}
	return segment.NoMoreDocs
}

func (q *Query) inDateRange(date int32) bool {
	return date != NoDate && date >= q.From && date <= q.To
}

// result returns the hits with their keys, which it reads from the segments.
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

// DocFreqs returns the document frequency of each term that exists. Deleted documents are counted
// until they are merged away. Lookups are faster if the terms are in ascending order.
func (in *Index) DocFreqs(ctx context.Context, terms []string) (map[string]int, error) {
	s, err := in.acquire()
	if err != nil {
		return nil, err
	}
	defer s.release()
	return s.docFreqs(ctx, terms)
}

// docFreqs processes one segment after another so that lookups of sorted terms often find the next
// term in the same leaf.
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
				return nil, fmt.Errorf("look up term: %w", err)
			}
			if ok {
				known[t] += int(e.DocFreq)
			}
		}
	}
	return known, nil
}

// Terms returns the first terms with the prefix in ascending byte order, up to limit. It reads only
// the necessary parts of the dictionaries. Some of the terms may only be in deleted documents.
func (in *Index) Terms(ctx context.Context, prefix string, limit int) ([]string, error) {
	s, err := in.acquire()
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
			return nil, fmt.Errorf("list terms: %w", err)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), max(limit, 0))], nil
}
