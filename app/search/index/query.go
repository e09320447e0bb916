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
	Text   string
	Weight float64
	Flat   bool
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
	Node   Node
	Groups uint8    // of which groups hits are given, a bit each; 0 for all
	Where  []string // terms that every match has besides, worth nothing
	Dated  bool     // only those whose date is From to To, both included
	From   int32    // days since 1970
	To     int32
	Limit  int // hits, at most MostHits; 0 only counts
}

// Hit is a document that matches.
type Hit struct {
	Key   uint64
	Group uint8
	Score float64
}

// Answer is the hits, those worth most first, among equals those of the lowest group, and
// among those the ones that came last first; and how many documents of every group match, whatever Query.Groups says.
type Answer struct {
	Hits   []Hit
	Counts [Groups]int
}

// Search returns the documents that match and are worth most, and how many match. Its
// errors are ErrQuery, ErrDamaged, ErrClosed and those of ctx, at which it looks every
// few thousand documents.
func (x *Index) Search(ctx context.Context, q Query) (Answer, error) {
	s, err := x.acquire()
	if err != nil {
		return Answer{}, err
	}
	defer s.release()
	a, err := search(ctx, q, s, x.options.MaxNodes)
	if err != nil {
		return Answer{}, fmt.Errorf("search: %w", err)
	}
	return a, nil
}

func search(ctx context.Context, q Query, s *snapshot, mostNodes int) (Answer, error) {
	p, err := newPlan(q, s, mostNodes)
	if err != nil {
		return Answer{}, err
	}
	if err := p.lookUp(ctx); err != nil {
		return Answer{}, err
	}
	if q.Groups == 0 {
		q.Groups = 1<<Groups - 1
	}
	c := collector{query: q, watch: segment.WatchOver(ctx), spare: segment.WatchOver(ctx), top: top{most: q.Limit}}
	c.spare.Bounded(mostSpare, halfway(ctx))
	// From the latest on, so that what comes first wins among equals.
	for i := len(s.views) - 1; i >= 0; i-- {
		c.search(p, i)
		if c.watch.Err() != nil {
			return Answer{}, c.watch.Err()
		}
	}
	return c.answer(s.views)
}

// mostSpare is how many positions are followed only to better the order: some 0.1 s.
const mostSpare = 1 << 24

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
	query  Query
	watch  segment.Watch
	spare  segment.Watch // over what may be left undone
	top    top
	counts [Groups]int

	view   int
	gone   *segment.Gone
	groups *segment.Column
	dates  *segment.Column
}

// looked is how many documents are gone over between two looks at ctx.
const looked = 1 << 12

// search goes over one segment.
func (c *collector) search(p *plan, i int) {
	v := c.open(p, i)
	b := build{plan: p, segment: v, entries: p.entries[i], watch: &c.watch, spare: &c.spare, lengths: v.Lengths(&c.watch)}
	m := b.root()
	most := m.most()
	for d, n := m.Next(), 1; d != segment.None && c.watch.Err() == nil; d, n = m.Next(), n+1 {
		if n%looked == 0 {
			c.watch.Look()
		}
		if c.gone.Has(d) || c.query.Dated && !c.dated(d) {
			continue
		}
		group := c.groups.U8(d) % Groups
		c.counts[group]++
		if c.query.Groups>>group&1 == 0 || !c.top.wants(most, group) {
			continue
		}
		if score := m.score(); c.top.wants(score, group) {
			c.top.add(ranked{hit: Hit{Group: group, Score: score}, view: i, doc: d})
		}
	}
	c.watch.Look()
	if err := c.spare.Err(); err != nil && !errors.Is(err, segment.ErrSpent) {
		c.watch.Fail(err) // damage; or ctx, which is looked at anyway
	}
}

func (c *collector) open(p *plan, i int) *segment.Segment {
	v := p.views[i]
	c.view, c.gone = i, v.gone
	c.groups = v.segment.Groups(&c.watch)
	c.dates = v.segment.Dates(&c.watch)
	return v.segment.Segment
}

func (c *collector) dated(d uint32) bool {
	date := int32(c.dates.U32(d))
	return date != NoDate && date >= c.query.From && date <= c.query.To
}

// answer reads the keys of the hits.
func (c *collector) answer(views []view) (Answer, error) {
	a := Answer{Counts: c.counts}
	for _, r := range c.top.sorted() {
		key, err := views[r.view].segment.Key(r.doc)
		if err != nil {
			return Answer{}, err
		}
		r.hit.Key = key
		a.Hits = append(a.Hits, r.hit)
	}
	return a, nil
}

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
				known[t] += int(e.Documents)
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
