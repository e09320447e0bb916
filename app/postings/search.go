package postings

import (
	"context"
	"fmt"
)

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
		if c.query.Groups>>group&1 == 0 || !c.top.wants(most, group) {
			continue
		}
		if score := m.score(); c.top.wants(score, group) {
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
