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

func (m *everyDoc) Doc() uint32       { return m.doc }
func (m *everyDoc) score() float64    { return 0 }
func (m *everyDoc) maxScore() float64 { return 0 }
func (m *everyDoc) cost() int         { return int(m.docs) }

func (m *everyDoc) Next() uint32 {
	switch {
	case !m.started:
		return m.moveTo(0)
	case m.doc == segment.NoMoreDocs:
		return segment.NoMoreDocs
	}
	return m.moveTo(m.doc + 1)
}

func (m *everyDoc) Advance(d uint32) uint32 {
	if m.started && m.doc >= d {
		return m.doc
	}
	return m.moveTo(d)
}

func (m *everyDoc) moveTo(d uint32) uint32 {
	if d >= m.docs {
		d = segment.NoMoreDocs
	}
	m.doc, m.started = d, true
	return d
}

// noDocs returns a matcher that matches no document.
func noDocs() matcher { return &everyDoc{doc: segment.NoMoreDocs, started: true} }

// constantTerm matches a term with the same score for every document.
type constantTerm struct {
	segment.Cursor
	weight float64
}

func (m *constantTerm) score() float64    { return m.weight }
func (m *constantTerm) maxScore() float64 { return m.weight }
func (m *constantTerm) cost() int         { return m.DocFreq() }

// bm25Term matches a term and scores it with BM25.
type bm25Term struct {
	segment.Cursor
	bm25 bm25
}

func (m *bm25Term) score() float64    { return m.bm25.score(m.Freq(), m.Doc()) }
func (m *bm25Term) maxScore() float64 { return m.bm25.maxScore() }
func (m *bm25Term) cost() int         { return m.DocFreq() }

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

func (m *conjunction) Doc() uint32       { return m.parts[0].Doc() }
func (m *conjunction) maxScore() float64 { return m.bound }
func (m *conjunction) cost() int         { return m.parts[0].cost() }

func (m *conjunction) Next() uint32 { return m.align(m.parts[0].Next()) }

func (m *conjunction) Advance(d uint32) uint32 { return m.align(m.parts[0].Advance(d)) }

// align moves all parts to the first common document that is not less than d. It returns that
// document, or NoMoreDocs.
func (m *conjunction) align(d uint32) uint32 {
	lead, others := m.parts[0], m.parts[1:]
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
func (m *conjunction) prune(hopeless func(maxScore float64) bool) {
	if len(m.scored) == 1 {
		prune(m.scored[0], hopeless)
	}
}

func (m *conjunction) score() float64 {
	sum := 0.0
	for _, p := range m.scored {
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

func (m *disjunction) Doc() uint32       { return m.doc }
func (m *disjunction) maxScore() float64 { return m.bound }
func (m *disjunction) cost() int         { return m.totalCost }

func (m *disjunction) Next() uint32 {
	if !m.started {
		return m.start(0)
	}
	for m.doc != segment.NoMoreDocs && m.parts[0].doc <= m.doc {
		m.parts[0].doc = m.parts[0].matcher.Next()
		m.siftDown(0)
	}
	m.doc = m.parts[0].doc
	return m.doc
}

func (m *disjunction) Advance(d uint32) uint32 {
	if !m.started {
		return m.start(d)
	}
	for m.parts[0].doc < d {
		m.parts[0].doc = m.parts[0].matcher.Advance(d)
		m.siftDown(0)
	}
	m.doc = m.parts[0].doc
	return m.doc
}

func (m *disjunction) start(d uint32) uint32 {
	m.started = true
	for i := range m.parts {
		m.parts[i].doc = m.parts[i].matcher.Advance(d)
	}
	m.heapify()
	m.doc = m.parts[0].doc
	return m.doc
}

func (m *disjunction) heapify() {
	for i := len(m.parts)/2 - 1; i >= 0; i-- {
		m.siftDown(i)
	}
}

// prune removes the parts with hopeless scores, but not all of them. From then on, m skips the
// documents that only they match. There is no current document until the next call of Next or Advance.
func (m *disjunction) prune(hopeless func(maxScore float64) bool) {
	kept := slices.DeleteFunc(m.parts, func(p heapPart) bool { return hopeless(p.matcher.maxScore()) && p.matcher.maxScore() < m.bound })
	if len(kept) < len(m.parts) {
		m.parts = kept
		m.heapify()
	}
}

// siftDown restores the heap after the part at index i has changed.
func (m *disjunction) siftDown(i int) {
	p := m.parts[i]
	for {
		child := 2*i + 1
		if child >= len(m.parts) {
			break
		}
		if child+1 < len(m.parts) && m.parts[child+1].doc < m.parts[child].doc {
			child++
		}
		if m.parts[child].doc >= p.doc {
			break
		}
		m.parts[i] = m.parts[child]
		i = child
	}
	m.parts[i] = p
}

func (m *disjunction) score() float64 { return m.bestScore(0, m.doc) }

// bestScore returns the highest score of the parts that are at document d. These parts form a
// connected subtree at the top of the heap, and i is its root.
func (m *disjunction) bestScore(i int, d uint32) float64 {
	best := m.parts[i].matcher.score()
	for child := 2*i + 1; child <= 2*i+2 && child < len(m.parts); child++ {
		if m.parts[child].doc == d {
			best = max(best, m.bestScore(child, d))
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
