package index

import (
	"context"
	"fmt"
	"slices"

	"deedkeep/app/search/index/segment"
)

// plan is a query with the dictionary entries of its terms in all segments.
type plan struct {
	query    Query
	views    []view
	terms    map[string]int // maps each term to its index in texts, docFreqs, and entries
	texts    []string
	entries  [][]segment.Entry // by segment and term; DocFreq is 0 if the segment lacks the term
	docFreqs []int             // total of all segments for each term
	totals   collectionStats
	nodes    int
	maxNodes int
}

func newPlan(q Query, s *snapshot, maxNodes int) (*plan, error) {
	p := &plan{query: q, views: s.views, terms: make(map[string]int), maxNodes: maxNodes}
	for _, w := range q.Filters {
		p.addTerm(w)
	}
	p.addNode(q.Node)
	if p.nodes > maxNodes {
		return nil, fmt.Errorf("%w: more than %d nodes", ErrQuery, maxNodes)
	}
	if q.Limit < 0 || q.Limit > MaxHits {
		return nil, fmt.Errorf("%w: limit of %d hits", ErrQuery, q.Limit)
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

// addNode collects the terms of a node and its children. It stops if there are too many nodes.
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
	case Together:
		for _, t := range n {
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
	default:
		p.nodes++
	}
}

func (p *plan) addNodes(parts []Node) {
	p.nodes++
	for _, n := range parts {
		p.addNode(n)
	}
}

// lookUp looks up the terms in the dictionaries of all segments.
func (p *plan) lookUp(ctx context.Context) error {
	p.docFreqs = make([]int, len(p.texts))
	for _, v := range p.views {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, l := make([]segment.Entry, len(p.texts)), v.segment.Lookup()
		for i, t := range p.texts {
			e, found, err := l.Find([]byte(t))
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

// matcherBuilder builds the matchers for one segment.
type matcherBuilder struct {
	plan           *plan
	segment        *segment.Segment
	entries        []segment.Entry
	budget         *segment.Budget
	optionalBudget *segment.Budget // budget for phrases that only affect the score
	optional       bool            // the node being built only affects the score
	lengths        *segment.Column
}

// root builds the matcher for the query, excluding the group and date filters.
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
	case Together:
		return b.togetherMatcher(n)
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
	return noDocs()
}

// nodes builds the matchers for a list of nodes. It omits those that match nothing in the segment.
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
		return noDocs()
	}
	return newConjunction(parts, nil)
}

func (b *matcherBuilder) constantTerm(text string, weight float64) matcher {
	e := b.entries[b.plan.terms[text]]
	if e.DocFreq == 0 {
		return noDocs()
	}
	m := &constantTerm{weight: weight}
	m.Open(b.segment, e, b.budget)
	return m
}

func (b *matcherBuilder) bm25Term(text string, weight float64, budget *segment.Budget) matcher {
	i := b.plan.terms[text]
	e := b.entries[i]
	if e.DocFreq == 0 {
		return noDocs()
	}
	if !e.HasPositions {
		return b.constantTerm(text, 0)
	}
	m := &bm25Term{bm25: newBM25(weight, b.plan.docFreqs[i], b.plan.totals, b.lengths)}
	m.Open(b.segment, e, budget)
	return m
}

func (b *matcherBuilder) phraseMatcher(n Phrase) matcher {
	budget := b.budget
	if b.optional {
		budget = b.optionalBudget
	}
	m := &phraseMatcher{budget: budget}
	places := make(map[string][]uint32)
	for i, t := range n.Terms {
		places[t] = append(places[t], uint32(i))
	}
	var words []matcher
	for i, t := range n.Terms {
		if places[t][0] != uint32(i) {
			continue // the word is a repetition
		}
		// The score of a word that occurs twice in the phrase is counted twice.
		w, ok := b.bm25Term(t, n.Weight*float64(len(places[t])), budget).(*bm25Term)
		if !ok {
			return noDocs()
		}
		m.addWord(b.segment, &w.Cursor, places[t])
		words = append(words, w)
	}
	if len(words) == 0 {
		return noDocs()
	}
	m.matcher = newConjunction(words, nil)
	return m
}

// togetherMatcher returns a matcher for terms at the same position. It is a phrase in which every
// word has the offset 0.
func (b *matcherBuilder) togetherMatcher(n Together) matcher {
	distinct := slices.Compact(slices.Sorted(slices.Values(n)))
	if len(distinct) == 1 {
		return b.constantTerm(distinct[0], 0)
	}
	m := &phraseMatcher{budget: b.budget, together: true}
	var words []matcher
	for _, t := range distinct {
		e := b.entries[b.plan.terms[t]]
		if e.DocFreq == 0 || !e.HasPositions {
			return noDocs()
		}
		w := &constantTerm{}
		w.Open(b.segment, e, b.budget)
		m.addWord(b.segment, &w.Cursor, []uint32{0})
		words = append(words, w)
	}
	if len(words) == 0 {
		return noDocs()
	}
	m.matcher = newConjunction(words, nil)
	return m
}
