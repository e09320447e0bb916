package index

import (
	"context"
	"fmt"

	"deedkeep/app/search/index/segment"
)

// plan is a query with what the dictionaries of all segments tell of its terms.
type plan struct {
	query       Query
	views       []view
	terms       map[string]int // → index of totals and entries
	texts       []string
	entries     [][]segment.Entry // of a view, of every term; Documents 0 where it is not there
	docFreqs    []int             // documents of every term
	totals      collectionStats
	nodes       int
	maxNodes    int
	unknownNode Node // of no kind that is known: a pointer to one
}

func newPlan(q Query, s *snapshot, mostNodes int) (*plan, error) {
	p := &plan{query: q, views: s.views, terms: make(map[string]int), maxNodes: mostNodes}
	for _, w := range q.Filters {
		p.addTerm(w)
	}
	p.addNode(q.Node)
	if p.unknownNode != nil {
		return nil, fmt.Errorf("%w: a node of type %T", ErrQuery, p.unknownNode)
	}
	if p.nodes > mostNodes {
		return nil, fmt.Errorf("%w: more than %d nodes", ErrQuery, mostNodes)
	}
	if q.Limit < 0 || q.Limit > MaxHits {
		return nil, fmt.Errorf("%w: %d hits", ErrQuery, q.Limit)
	}
	return p, nil
}

func (p *plan) addTerm(t string) {
	p.nodes++
	if _, known := p.terms[t]; !known {
		p.terms[t] = len(p.texts)
		p.texts = append(p.texts, t)
	}
}

// addNode gathers the terms of a node. It goes no deeper once there are too many nodes.
func (p *plan) addNode(n Node) {
	if p.nodes > p.maxNodes {
		return
	}
	switch n := n.(type) {
	case Term:
		p.addTerm(n.Text)
	case Phrase:
		for _, t := range n.Terms {
			p.addTerm(t)
		}
	case All:
		p.addNodes(n)
	case Any:
		p.addNodes(n)
	case Prefer:
		p.nodes++
		p.addNode(n.Must)
		p.addNodes(n.Should)
	case nil:
		p.nodes++
	default:
		p.unknownNode = n
	}
}

func (p *plan) addNodes(parts []Node) {
	p.nodes++
	for _, n := range parts {
		p.addNode(n)
	}
}

// lookUp asks every dictionary.
func (p *plan) lookUp(ctx context.Context) error {
	p.docFreqs = make([]int, len(p.texts))
	var w segment.TermIterator
	for _, v := range p.views {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries := make([]segment.Entry, len(p.texts))
		for i, t := range p.texts {
			e, found, err := v.segment.Find([]byte(t), &w)
			if err != nil {
				return err
			}
			if found {
				entries[i] = e
				p.docFreqs[i] += int(e.DocFreq)
			}
		}
		p.entries = append(p.entries, entries)
		p.totals.docs += int(v.segment.Docs)
		p.totals.words += v.segment.Words()
	}
	return nil
}

// matcherBuilder makes the matchers of one segment.
type matcherBuilder struct {
	plan           *plan
	segment        *segment.Segment
	entries        []segment.Entry
	budget         *segment.Budget
	optionalBudget *segment.Budget // over phrases that only better the order
	optional       bool            // what is built now only does that
	lengths        *segment.Column
}

// root makes what decides about a document, but for group and date.
func (b *matcherBuilder) root() matcher {
	var filters []matcher
	for _, w := range b.plan.query.Filters {
		filters = append(filters, b.constantTerm(w, 0))
	}
	if b.plan.query.Node == nil && len(filters) > 0 {
		return newConjunction(nil, filters)
	}
	return newConjunction([]matcher{b.node(b.plan.query.Node)}, filters)
}

func (b *matcherBuilder) node(n Node) matcher {
	switch n := n.(type) {
	case nil:
		return &everyDoc{docs: b.segment.Documents()}
	case Term:
		if n.ConstantScore {
			return b.constantTerm(n.Text, n.Weight)
		}
		return b.bm25Term(n.Text, n.Weight, b.budget)
	case Phrase:
		return b.phraseMatcher(n)
	case All:
		return b.conjunction(n)
	case Any:
		return newDisjunction(b.nodes(n))
	case Prefer:
		must, outer := b.node(n.Must), b.optional
		b.optional = true
		should := b.nodes(n.Should)
		b.optional = outer
		return newPreferMatcher(must, should)
	}
	return noDocs{}
}

// nodes leaves out what is in no document of the segment.
func (b *matcherBuilder) nodes(list []Node) []matcher {
	var parts []matcher
	for _, n := range list {
		if m := b.node(n); m.cost() > 0 {
			parts = append(parts, m)
		}
	}
	return parts
}

func (b *matcherBuilder) conjunction(list All) matcher {
	parts := b.nodes(list)
	if len(parts) < len(list) || len(parts) == 0 {
		return noDocs{}
	}
	return newConjunction(parts, nil)
}

func (b *matcherBuilder) constantTerm(text string, weight float64) matcher {
	e := b.entries[b.plan.terms[text]]
	if e.DocFreq == 0 {
		return noDocs{}
	}
	m := &constantTerm{weight: weight}
	m.Open(b.segment, e, b.budget)
	return m
}

func (b *matcherBuilder) bm25Term(text string, weight float64, watch *segment.Budget) matcher {
	i := b.plan.terms[text]
	e := b.entries[i]
	if e.DocFreq == 0 {
		return noDocs{}
	}
	if !e.HasPositions {
		return b.constantTerm(text, 0)
	}
	m := &bm25Term{bm25: newBM25(weight, b.plan.docFreqs[i], b.plan.totals, b.lengths)}
	m.Open(b.segment, e, watch)
	return m
}

func (b *matcherBuilder) phraseMatcher(n Phrase) matcher {
	watch := b.budget
	if b.optional {
		watch = b.optionalBudget
	}
	m := &phraseMatcher{budget: watch}
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
		w, ok := b.bm25Term(t, n.Weight*float64(len(stand[t])), watch).(*bm25Term)
		if !ok {
			return noDocs{}
		}
		p := &phraseWord{cursor: &w.Cursor, offsets: stand[t]}
		p.Open(b.segment, &w.Cursor)
		m.words, words = append(m.words, p), append(words, w)
	}
	if len(words) == 0 {
		return noDocs{}
	}
	m.matcher = newConjunction(words, nil)
	return m
}
