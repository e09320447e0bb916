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
	most() float64           // no document is worth more
	cost() int               // about how many documents it has to go over
}

// every is in every document.
type every struct {
	now, docs uint32
	begun     bool
}

func (m *every) Doc() uint32    { return m.now }
func (m *every) score() float64 { return 0 }
func (m *every) most() float64  { return 0 }
func (m *every) cost() int      { return int(m.docs) }

func (m *every) Next() uint32 {
	switch {
	case !m.begun:
		return m.to(0)
	case m.now == segment.None:
		return segment.None
	}
	return m.to(m.now + 1)
}

func (m *every) Advance(d uint32) uint32 {
	if m.begun && m.now >= d {
		return m.now
	}
	return m.to(d)
}

func (m *every) to(d uint32) uint32 {
	if d >= m.docs {
		d = segment.None
	}
	m.now, m.begun = d, true
	return d
}

// nothing is in no document.
type nothing struct{}

func (nothing) Doc() uint32           { return segment.None }
func (nothing) Next() uint32          { return segment.None }
func (nothing) Advance(uint32) uint32 { return segment.None }
func (nothing) score() float64        { return 0 }
func (nothing) most() float64         { return 0 }
func (nothing) cost() int             { return 0 }

// flat is a term that is worth the same everywhere.
type flat struct {
	segment.Cursor
	weight float64
}

func (m *flat) score() float64 { return m.weight }
func (m *flat) most() float64  { return m.weight }
func (m *flat) cost() int      { return m.Documents() }

// word is a term that is worth its weight in BM25.
type word struct {
	segment.Cursor
	bm25 bm25
}

func (m *word) score() float64 { return m.bm25.score(m.Often(), m.Doc()) }
func (m *word) most() float64  { return m.bm25.most() }
func (m *word) cost() int      { return m.Documents() }

// all is in the documents that each of its parts is in. The one that has fewest leads,
// the others follow.
type all struct {
	parts  []matcher // the leader first
	worthy []matcher // those whose worth counts
	top    float64
}

// newAll takes parts that count and parts that do not.
func newAll(worthy, filters []matcher) matcher {
	if len(worthy) == 1 && len(filters) == 0 {
		return worthy[0]
	}
	m := &all{parts: slices.Concat(worthy, filters), worthy: worthy}
	slices.SortStableFunc(m.parts, func(a, b matcher) int { return cmp.Compare(a.cost(), b.cost()) })
	for _, p := range worthy {
		m.top += p.most()
	}
	return m
}

func (m *all) Doc() uint32   { return m.parts[0].Doc() }
func (m *all) most() float64 { return m.top }
func (m *all) cost() int     { return m.parts[0].cost() }

func (m *all) Next() uint32 { return m.meet(m.parts[0].Next()) }

func (m *all) Advance(d uint32) uint32 { return m.meet(m.parts[0].Advance(d)) }

// meet moves all to the first document from d on that all are in.
func (m *all) meet(d uint32) uint32 {
	lead, others := m.parts[0], m.parts[1:]
	for i := 0; i < len(others) && d != segment.None; {
		if at := others[i].Advance(d); at != d {
			d, i = lead.Advance(at), 0
			continue
		}
		i++
	}
	return d
}

func (m *all) score() float64 {
	sum := 0.0
	for _, p := range m.worthy {
		sum += p.score()
	}
	return sum
}

// union is in the documents that some of its parts are in. The parts lie in a heap, the
// one in the earliest number on top.
type union struct {
	parts []anyPart
	begun bool
	top   float64
	sum   int
}

type anyPart struct {
	doc uint32
	m   matcher
}

func newAny(parts []matcher) matcher {
	switch len(parts) {
	case 0:
		return nothing{}
	case 1:
		return parts[0]
	}
	m := &union{}
	for _, p := range parts {
		m.parts = append(m.parts, anyPart{m: p})
		m.top = max(m.top, p.most())
		m.sum += p.cost()
	}
	return m
}

func (m *union) Doc() uint32   { return m.parts[0].doc }
func (m *union) most() float64 { return m.top }
func (m *union) cost() int     { return m.sum }

func (m *union) Next() uint32 {
	if !m.begun {
		return m.begin(0)
	}
	now := m.parts[0].doc
	if now == segment.None {
		return segment.None
	}
	for m.parts[0].doc == now {
		m.parts[0].doc = m.parts[0].m.Next()
		m.down(0)
	}
	return m.parts[0].doc
}

func (m *union) Advance(d uint32) uint32 {
	if !m.begun {
		return m.begin(d)
	}
	for m.parts[0].doc < d {
		m.parts[0].doc = m.parts[0].m.Advance(d)
		m.down(0)
	}
	return m.parts[0].doc
}

func (m *union) begin(d uint32) uint32 {
	m.begun = true
	for i := range m.parts {
		m.parts[i].doc = m.parts[i].m.Advance(d)
	}
	for i := len(m.parts)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m.parts[0].doc
}

// down lets a part sink to where it belongs.
func (m *union) down(i int) {
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

func (m *union) score() float64 { return m.best(0, m.parts[0].doc) }

// best returns the most that the parts in document d are worth: these are the top of
// the heap, and what hangs together with it.
func (m *union) best(i int, d uint32) float64 {
	best := m.parts[i].m.score()
	for child := 2*i + 1; child <= 2*i+2 && child < len(m.parts); child++ {
		if m.parts[child].doc == d {
			best = max(best, m.best(child, d))
		}
	}
	return best
}

// prefer is in the documents that must is in, and worth more where others are too.
// Those are moved only where the worth is asked for.
type prefer struct {
	matcher
	should []matcher
	top    float64
}

func newPrefer(must matcher, should []matcher) matcher {
	if len(should) == 0 {
		return must
	}
	m := &prefer{matcher: must, should: should, top: must.most()}
	for _, s := range should {
		m.top += max(0, s.most())
	}
	return m
}

func (m *prefer) most() float64 { return m.top }

func (m *prefer) score() float64 {
	d := m.Doc()
	sum := m.matcher.score()
	for _, s := range m.should {
		if s.Advance(d) == d {
			sum += s.score()
		}
	}
	return sum
}
