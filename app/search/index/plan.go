package index

import (
	"context"
	"fmt"

	"deedkeep/app/search/index/segment"
)

// plan is a query with what the dictionaries of all segments tell of its terms.
type plan struct {
	query   Query
	views   []view
	terms   map[string]int // → index of totals and entries
	spelled []string
	entries [][]segment.Entry // of a view, of every term; Documents 0 where it is not there
	counts  []int             // documents of every term
	totals  totals
	nodes   int
	most    int
	strange Node // of no kind that is known: a pointer to one
}

func newPlan(q Query, s *snapshot, mostNodes int) (*plan, error) {
	p := &plan{query: q, views: s.views, terms: make(map[string]int), most: mostNodes}
	for _, w := range q.Where {
		p.term(w)
	}
	p.node(q.Node)
	if p.strange != nil {
		return nil, fmt.Errorf("%w: a node of type %T", ErrQuery, p.strange)
	}
	if p.nodes > mostNodes {
		return nil, fmt.Errorf("%w: more than %d nodes", ErrQuery, mostNodes)
	}
	if q.Limit < 0 || q.Limit > MostHits {
		return nil, fmt.Errorf("%w: %d hits", ErrQuery, q.Limit)
	}
	return p, nil
}

func (p *plan) term(t string) {
	p.nodes++
	if _, known := p.terms[t]; !known {
		p.terms[t] = len(p.spelled)
		p.spelled = append(p.spelled, t)
	}
}

// node gathers the terms of a node. It goes no deeper once there are too many nodes.
func (p *plan) node(n Node) {
	if p.nodes > p.most {
		return
	}
	switch n := n.(type) {
	case Term:
		p.term(n.Text)
	case Phrase:
		for _, t := range n.Terms {
			p.term(t)
		}
	case All:
		p.group(n)
	case Any:
		p.group(n)
	case Prefer:
		p.nodes++
		p.node(n.Must)
		p.group(n.Should)
	case nil:
		p.nodes++
	default:
		p.strange = n
	}
}

func (p *plan) group(parts []Node) {
	p.nodes++
	for _, n := range parts {
		p.node(n)
	}
}

// lookUp asks every dictionary.
func (p *plan) lookUp(ctx context.Context) error {
	p.counts = make([]int, len(p.spelled))
	var w segment.Walk
	for _, v := range p.views {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries := make([]segment.Entry, len(p.spelled))
		for i, t := range p.spelled {
			e, found, err := v.segment.Find([]byte(t), &w)
			if err != nil {
				return err
			}
			if found {
				entries[i] = e
				p.counts[i] += int(e.Documents)
			}
		}
		p.entries = append(p.entries, entries)
		p.totals.docs += int(v.segment.Docs)
		p.totals.words += v.segment.Words()
	}
	return nil
}

// build makes the matchers of one segment.
type build struct {
	plan    *plan
	segment *segment.Segment
	entries []segment.Entry
	watch   *segment.Watch
	spare   *segment.Watch // over phrases that only better the order
	better  bool           // what is built now only does that
	lengths *segment.Column
}

// root makes what decides about a document, but for group and date.
func (b *build) root() matcher {
	var filters []matcher
	for _, w := range b.plan.query.Where {
		filters = append(filters, b.flat(w, 0))
	}
	if b.plan.query.Node == nil && len(filters) > 0 {
		return newAll(nil, filters)
	}
	return newAll([]matcher{b.node(b.plan.query.Node)}, filters)
}

func (b *build) node(n Node) matcher {
	switch n := n.(type) {
	case nil:
		return &every{docs: b.segment.Documents()}
	case Term:
		if n.Flat {
			return b.flat(n.Text, n.Weight)
		}
		return b.word(n.Text, n.Weight, b.watch)
	case Phrase:
		return b.phrase(n)
	case All:
		return b.all(n)
	case Any:
		return newAny(b.nodes(n))
	case Prefer:
		must, outer := b.node(n.Must), b.better
		b.better = true
		should := b.nodes(n.Should)
		b.better = outer
		return newPrefer(must, should)
	}
	return nothing{}
}

// nodes leaves out what is in no document of the segment.
func (b *build) nodes(list []Node) []matcher {
	var parts []matcher
	for _, n := range list {
		if m := b.node(n); m.cost() > 0 {
			parts = append(parts, m)
		}
	}
	return parts
}

func (b *build) all(list All) matcher {
	parts := b.nodes(list)
	if len(parts) < len(list) || len(parts) == 0 {
		return nothing{}
	}
	return newAll(parts, nil)
}

func (b *build) flat(text string, weight float64) matcher {
	e := b.entries[b.plan.terms[text]]
	if e.Documents == 0 {
		return nothing{}
	}
	m := &flat{weight: weight}
	m.Open(b.segment, e, b.watch)
	return m
}

func (b *build) word(text string, weight float64, watch *segment.Watch) matcher {
	i := b.plan.terms[text]
	e := b.entries[i]
	if e.Documents == 0 {
		return nothing{}
	}
	if !e.Word {
		return b.flat(text, 0)
	}
	m := &word{bm25: newBM25(weight, b.plan.counts[i], b.plan.totals, b.lengths)}
	m.Open(b.segment, e, watch)
	return m
}

func (b *build) phrase(n Phrase) matcher {
	watch := b.watch
	if b.better {
		watch = b.spare
	}
	m := &phrase{watch: watch}
	stand := make(map[string][]uint32)
	for i, t := range n.Terms {
		stand[t] = append(stand[t], uint32(i))
	}
	var words []matcher
	for i, t := range n.Terms {
		if stand[t][0] != uint32(i) {
			continue // it was there before
		}
		// A word that stands in it twice is worth twice as much.
		w, ok := b.word(t, n.Weight*float64(len(stand[t])), watch).(*word)
		if !ok {
			return nothing{}
		}
		p := &phraseWord{cursor: &w.Cursor, behind: stand[t]}
		p.Open(b.segment, &w.Cursor)
		m.words, words = append(m.words, p), append(words, w)
	}
	if len(words) == 0 {
		return nothing{}
	}
	m.matcher = newAll(words, nil)
	return m
}
