package index

import (
	"cmp"
	"slices"

	"deedkeep/app/search/index/segment"
)

// matcher goes over the documents of a segment that a node holds of, in ascending
// order. It is in none until Next or Advance; behind the last it is in none for ever.
type matcher interface {
	Doc() uint32             // the one it is in
	Next() uint32            // goes to the next
	Advance(d uint32) uint32 // goes to the first that is d or behind, and stays where it is there
	score() float64          // what the document is worth that it is in
	maxScore() float64       // no document is worth more
	cost() int               // about how many documents it has to go over
}

// everyDoc is in every document.
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

// noDocs is in no document.
type noDocs struct{}

func (noDocs) Doc() uint32           { return segment.NoMoreDocs }
func (noDocs) Next() uint32          { return segment.NoMoreDocs }
func (noDocs) Advance(uint32) uint32 { return segment.NoMoreDocs }
func (noDocs) score() float64        { return 0 }
func (noDocs) maxScore() float64     { return 0 }
func (noDocs) cost() int             { return 0 }

// constantTerm is a term that is worth the same everywhere.
type constantTerm struct {
	segment.Cursor
	weight float64
}

func (m *constantTerm) score() float64    { return m.weight }
func (m *constantTerm) maxScore() float64 { return m.weight }
func (m *constantTerm) cost() int         { return m.DocFreq() }

// bm25Term is a term that is worth its weight in BM25.
type bm25Term struct {
	segment.Cursor
	bm25 bm25
}

func (m *bm25Term) score() float64    { return m.bm25.score(m.Freq(), m.Doc()) }
func (m *bm25Term) maxScore() float64 { return m.bm25.maxScore() }
func (m *bm25Term) cost() int         { return m.DocFreq() }

// conjunction is in the documents that each of its parts is in. The one that has fewest leads,
// the others follow.
type conjunction struct {
	parts  []matcher // the leader first
	scored []matcher // those whose worth counts
	bound  float64
}

// newConjunction takes parts that count and parts that do not.
func newConjunction(worthy, filters []matcher) matcher {
	if len(worthy) == 1 && len(filters) == 0 {
		return worthy[0]
	}
	m := &conjunction{parts: slices.Concat(worthy, filters), scored: worthy}
	slices.SortStableFunc(m.parts, func(a, b matcher) int { return cmp.Compare(a.cost(), b.cost()) })
	for _, p := range worthy {
		m.bound += p.maxScore()
	}
	return m
}

func (m *conjunction) Doc() uint32       { return m.parts[0].Doc() }
func (m *conjunction) maxScore() float64 { return m.bound }
func (m *conjunction) cost() int         { return m.parts[0].cost() }

func (m *conjunction) Next() uint32 { return m.align(m.parts[0].Next()) }

func (m *conjunction) Advance(d uint32) uint32 { return m.align(m.parts[0].Advance(d)) }

// align moves all to the first document from d on that all are in.
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

func (m *conjunction) score() float64 {
	sum := 0.0
	for _, p := range m.scored {
		sum += p.score()
	}
	return sum
}

// disjunction is in the documents that some of its parts are in. The parts lie in a heap, the
// one in the earliest number on top.
type disjunction struct {
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
		return noDocs{}
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

func (m *disjunction) Doc() uint32       { return m.parts[0].doc }
func (m *disjunction) maxScore() float64 { return m.bound }
func (m *disjunction) cost() int         { return m.totalCost }

func (m *disjunction) Next() uint32 {
	if !m.started {
		return m.start(0)
	}
	now := m.parts[0].doc
	if now == segment.NoMoreDocs {
		return segment.NoMoreDocs
	}
	for m.parts[0].doc == now {
		m.parts[0].doc = m.parts[0].matcher.Next()
		m.siftDown(0)
	}
	return m.parts[0].doc
}

func (m *disjunction) Advance(d uint32) uint32 {
	if !m.started {
		return m.start(d)
	}
	for m.parts[0].doc < d {
		m.parts[0].doc = m.parts[0].matcher.Advance(d)
		m.siftDown(0)
	}
	return m.parts[0].doc
}

func (m *disjunction) start(d uint32) uint32 {
	m.started = true
	for i := range m.parts {
		m.parts[i].doc = m.parts[i].matcher.Advance(d)
	}
	for i := len(m.parts)/2 - 1; i >= 0; i-- {
		m.siftDown(i)
	}
	return m.parts[0].doc
}

// siftDown lets a part sink to where it belongs.
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

func (m *disjunction) score() float64 { return m.bestScore(0, m.parts[0].doc) }

// bestScore returns the most that the parts in document d are worth: these are the top of
// the heap, and what hangs together with it.
func (m *disjunction) bestScore(i int, d uint32) float64 {
	best := m.parts[i].matcher.score()
	for child := 2*i + 1; child <= 2*i+2 && child < len(m.parts); child++ {
		if m.parts[child].doc == d {
			best = max(best, m.bestScore(child, d))
		}
	}
	return best
}

// preferMatcher is in the documents that must is in, and worth more where others are too.
// Those are moved only where the worth is asked for.
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
