package index

import (
	"cmp"
	"slices"

	"deedkeep/app/search/index/segment"
)

// matcher iterates over the documents of a segment that match a node, in ascending order. Before
// the first Next or Advance, it has no current document. After the last document, it stays at
// NoMoreDocs.
type matcher interface {
	Doc() uint32             // returns the current document
	Next() uint32            // moves to the next document
	Advance(d uint32) uint32 // moves to the first document >= d; does nothing if the current document is already >= d
	score() float64          // returns the score of the current document
	maxScore() float64       // returns an upper bound of all scores
	cost() int               // returns the approximate number of documents to iterate over
}

// prune makes a matcher skip documents whose scores are hopeless if it can. A matcher that was pruned has
// no current document until the next call of Next or Advance.
func prune(m matcher, hopeless func(maxScore float64) bool) {
	if p, ok := m.(interface{ prune(func(float64) bool) }); ok {
		p.prune(hopeless)
	}
}

// everyDoc matches every document.
type everyDoc struct {
	doc, docs uint32
	started   bool
}

func (e *everyDoc) Doc() uint32       { return e.doc }
func (e *everyDoc) score() float64    { return 0 }
func (e *everyDoc) maxScore() float64 { return 0 }
func (e *everyDoc) cost() int         { return int(e.docs) }

func (e *everyDoc) Next() uint32 {
	switch {
	case !e.started:
		return e.moveTo(0)
	case e.doc == segment.NoMoreDocs:
		return segment.NoMoreDocs
	}
	return e.moveTo(e.doc + 1)
}

func (e *everyDoc) Advance(d uint32) uint32 {
	if e.started && e.doc >= d {
		return e.doc
	}
	return e.moveTo(d)
}

func (e *everyDoc) moveTo(d uint32) uint32 {
	if d >= e.docs {
		d = segment.NoMoreDocs
	}
	e.doc, e.started = d, true
	return d
}

// noDocs returns a matcher that matches no document.
func noDocs() matcher { return &everyDoc{doc: segment.NoMoreDocs, started: true} }

// constantTerm matches a term with the same score for every document.
type constantTerm struct {
	segment.Cursor
	weight float64
}

func (c *constantTerm) score() float64    { return c.weight }
func (c *constantTerm) maxScore() float64 { return c.weight }
func (c *constantTerm) cost() int         { return c.DocFreq() }

// bm25Term matches a term and scores it with BM25.
type bm25Term struct {
	segment.Cursor
	bm25 bm25
}

func (b *bm25Term) score() float64    { return b.bm25.score(b.Freq(), b.Doc()) }
func (b *bm25Term) maxScore() float64 { return b.bm25.maxScore() }
func (b *bm25Term) cost() int         { return b.DocFreq() }

// conjunction matches the documents that match all parts. The part with the fewest documents
// selects candidates, which are then checked against the other parts.
type conjunction struct {
	parts  []matcher // the part with the fewest documents is first
	scored []matcher // the parts that contribute to the score
	bound  float64
}

// newConjunction returns a matcher for documents that match all scored parts and all filters.
// Filters do not contribute to the score.
func newConjunction(scored, filters []matcher) matcher {
	if len(scored) == 1 && len(filters) == 0 {
		return scored[0]
	}
	m := &conjunction{parts: slices.Concat(scored, filters), scored: scored}
	slices.SortStableFunc(m.parts, func(a, b matcher) int { return cmp.Compare(a.cost(), b.cost()) })
	for _, p := range scored {
		m.bound += p.maxScore()
	}
	return m
}

func (c *conjunction) Doc() uint32       { return c.parts[0].Doc() }
func (c *conjunction) maxScore() float64 { return c.bound }
func (c *conjunction) cost() int         { return c.parts[0].cost() }

func (c *conjunction) Next() uint32 { return c.align(c.parts[0].Next()) }

func (c *conjunction) Advance(d uint32) uint32 { return c.align(c.parts[0].Advance(d)) }

// align moves all parts to the first common document that is not less than d. It returns that
// document, or NoMoreDocs.
func (c *conjunction) align(d uint32) uint32 {
	lead, others := c.parts[0], c.parts[1:]
	for i := 0; i < len(others) && d != segment.NoMoreDocs; {
		if at := others[i].Advance(d); at != d {
			d, i = lead.Advance(at), 0
			continue
		}
		i++
	}
	return d
}

// prune prunes the only part with a score.
func (c *conjunction) prune(hopeless func(maxScore float64) bool) {
	if len(c.scored) == 1 {
		prune(c.scored[0], hopeless)
	}
}

func (c *conjunction) score() float64 {
	sum := 0.0
	for _, p := range c.scored {
		sum += p.score()
	}
	return sum
}

// disjunction matches the documents that match at least one part. The parts form a heap with the
// smallest document on top.
type disjunction struct {
	doc       uint32
	parts     []heapPart
	started   bool
	bound     float64
	totalCost int
}

type heapPart struct {
	doc     uint32
	matcher matcher
}

func newDisjunction(parts []matcher) matcher {
	switch len(parts) {
	case 0:
		return noDocs()
	case 1:
		return parts[0]
	}
	m := &disjunction{}
	for _, p := range parts {
		m.parts = append(m.parts, heapPart{matcher: p})
		m.bound = max(m.bound, p.maxScore())
		m.totalCost += p.cost()
	}
	return m
}

func (di *disjunction) Doc() uint32       { return di.doc }
func (di *disjunction) maxScore() float64 { return di.bound }
func (di *disjunction) cost() int         { return di.totalCost }

func (di *disjunction) Next() uint32 {
	if !di.started {
		return di.start(0)
	}
	for di.doc != segment.NoMoreDocs && di.parts[0].doc <= di.doc {
		di.parts[0].doc = di.parts[0].matcher.Next()
		di.siftDown(0)
	}
	di.doc = di.parts[0].doc
	return di.doc
}

func (di *disjunction) Advance(d uint32) uint32 {
	if !di.started {
		return di.start(d)
	}
	for di.parts[0].doc < d {
		di.parts[0].doc = di.parts[0].matcher.Advance(d)
		di.siftDown(0)
	}
	di.doc = di.parts[0].doc
	return di.doc
}

func (di *disjunction) start(d uint32) uint32 {
	di.started = true
	for i := range di.parts {
		di.parts[i].doc = di.parts[i].matcher.Advance(d)
	}
	di.heapify()
	di.doc = di.parts[0].doc
	return di.doc
}

func (di *disjunction) heapify() {
	for i := len(di.parts)/2 - 1; i >= 0; i-- {
		di.siftDown(i)
	}
}

// prune removes the parts with hopeless scores, but not all of them. From then on, di skips the
// documents that only they match. There is no current document until the next call of Next or Advance.
func (di *disjunction) prune(hopeless func(maxScore float64) bool) {
	kept := slices.DeleteFunc(di.parts, func(p heapPart) bool { return hopeless(p.matcher.maxScore()) && p.matcher.maxScore() < di.bound })
	if len(kept) < len(di.parts) {
		di.parts = kept
		di.heapify()
	}
}

// siftDown restores the heap after the part at index i has changed.
func (di *disjunction) siftDown(i int) {
	p := di.parts[i]
	for {
		child := 2*i + 1
		if child >= len(di.parts) {
			break
		}
		if child+1 < len(di.parts) && di.parts[child+1].doc < di.parts[child].doc {
			child++
		}
		if di.parts[child].doc >= p.doc {
			break
		}
		di.parts[i] = di.parts[child]
		i = child
	}
	di.parts[i] = p
}

func (di *disjunction) score() float64 { return di.bestScore(0, di.doc) }

// bestScore returns the highest score of the parts that are at document d. These parts form a
// connected subtree at the top of the heap, and i is its root.
func (di *disjunction) bestScore(i int, d uint32) float64 {
	best := di.parts[i].matcher.score()
	for child := 2*i + 1; child <= 2*i+2 && child < len(di.parts); child++ {
		if di.parts[child].doc == d {
			best = max(best, di.bestScore(child, d))
		}
	}
	return best
}

// preferMatcher matches the documents that must matches. It adds the scores of the should matchers
// that match the same document. The should matchers are advanced only when a score is needed.
type preferMatcher struct {
	matcher
	should []matcher
	bound  float64
}

func newPreferMatcher(must matcher, should []matcher) matcher {
	if len(should) == 0 {
		return must
	}
	m := &preferMatcher{matcher: must, should: should, bound: must.maxScore()}
	for _, s := range should {
		m.bound += max(0, s.maxScore())
	}
	return m
}

func (m *preferMatcher) maxScore() float64 { return m.bound }

func (m *preferMatcher) score() float64 {
	d := m.Doc()
	sum := m.matcher.score()
	for _, s := range m.should {
		if s.Advance(d) == d {
			sum += s.score()
		}
	}
	return sum
}
