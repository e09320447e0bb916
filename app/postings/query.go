package postings

import (
	"bytes"
	"context"
	"fmt"
	"slices"
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
// what it is worth.
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

// Answer is the hits, those worth most first, and among equals those that came last
// first; and how many documents of every group match, whatever Query.Groups says.
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
	c := collector{query: q, watch: watch{ctx: ctx}, top: top{most: q.Limit}}
	// From the latest on, so that what comes first wins among equals.
	for i := len(s.views) - 1; i >= 0; i-- {
		c.search(p, i)
		if c.watch.err != nil {
			return Answer{}, c.watch.err
		}
	}
	return c.answer(s.views)
}

// collector goes over the segments and keeps the best.
type collector struct {
	query  Query
	watch  watch
	top    top
	counts [Groups]int

	view   int
	gone   *gone
	groups *column
	dates  *column
}

// search goes over one segment.
func (c *collector) search(p *plan, i int) {
	v := c.open(p, i)
	b := build{plan: p, segment: v, entries: p.entries[i], watch: &c.watch}
	b.lengths = newColumn(&v.streams[streamLengths], &c.watch)
	m := b.root()
	most := m.most()
	for d, n := m.next(), 1; d != none && c.watch.err == nil; d, n = m.next(), n+1 {
		if n%(watched*blockDocs) == 0 {
			c.watch.look()
		}
		if c.gone.has(d) || c.query.Dated && !c.dated(d) {
			continue
		}
		group := c.groups.u8(d) % Groups
		c.counts[group]++
		if c.query.Groups>>group&1 == 0 || !c.top.wants(most) {
			continue
		}
		if score := m.score(); c.top.wants(score) {
			c.top.add(ranked{hit: Hit{Group: group, Score: score}, view: i, doc: d})
		}
	}
	c.watch.look()
}

func (c *collector) open(p *plan, i int) *segment {
	v := p.views[i]
	c.view, c.gone = i, v.gone
	c.groups = newColumn(&v.segment.streams[streamGroups], &c.watch)
	c.dates = newColumn(&v.segment.streams[streamDates], &c.watch)
	return v.segment
}

func (c *collector) dated(d uint32) bool {
	date := int32(c.dates.u32(d))
	return date != NoDate && date >= c.query.From && date <= c.query.To
}

// answer reads the keys of the hits.
func (c *collector) answer(views []view) (Answer, error) {
	a := Answer{Counts: c.counts}
	for _, r := range c.top.sorted() {
		key, err := views[r.view].segment.u64(streamKeys, r.doc)
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
