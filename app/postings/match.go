package postings

// matcher goes over the documents of a segment that a node holds of, in ascending
// order. It is in none until next or advance; behind the last it is in none for ever.
type matcher interface {
	doc() uint32             // the one it is in
	next() uint32            // goes to the next
	advance(d uint32) uint32 // goes to the first that is d or behind, and stays where it is there
	score() float64          // what the document is worth that it is in
	most() float64           // no document is worth more
	cost() int               // about how many documents it has to go over
}

// every is in every document.
type every struct {
	now, docs uint32
	begun     bool
}

func (m *every) doc() uint32    { return m.now }
func (m *every) score() float64 { return 0 }
func (m *every) most() float64  { return 0 }
func (m *every) cost() int      { return int(m.docs) }

func (m *every) next() uint32 {
	switch {
	case !m.begun:
		return m.to(0)
	case m.now == none:
		return none
	}
	return m.to(m.now + 1)
}

func (m *every) advance(d uint32) uint32 {
	if m.begun && m.now >= d {
		return m.now
	}
	return m.to(d)
}

func (m *every) to(d uint32) uint32 {
	if d >= m.docs {
		d = none
	}
	m.now, m.begun = d, true
	return d
}

// nothing is in no document.
type nothing struct{}

func (nothing) doc() uint32           { return none }
func (nothing) next() uint32          { return none }
func (nothing) advance(uint32) uint32 { return none }
func (nothing) score() float64        { return 0 }
func (nothing) most() float64         { return 0 }
func (nothing) cost() int             { return 0 }

// flat is a term that is worth the same everywhere.
type flat struct {
	cursor
	weight float64
}

func (m *flat) score() float64 { return m.weight }
func (m *flat) most() float64  { return m.weight }
func (m *flat) cost() int      { return int(m.entry.count) }

// word is a term that is worth its weight in BM25.
type word struct {
	cursor
	bm25 bm25
}

func (m *word) score() float64 { return m.bm25.score(m.often(), m.now) }
func (m *word) most() float64  { return m.bm25.most() }
func (m *word) cost() int      { return int(m.entry.count) }
