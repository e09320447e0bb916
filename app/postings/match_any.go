package postings

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

func (m *union) doc() uint32   { return m.parts[0].doc }
func (m *union) most() float64 { return m.top }
func (m *union) cost() int     { return m.sum }

func (m *union) next() uint32 {
	if !m.begun {
		return m.begin(0)
	}
	now := m.parts[0].doc
	if now == none {
		return none
	}
	for m.parts[0].doc == now {
		m.parts[0].doc = m.parts[0].m.next()
		m.down(0)
	}
	return m.parts[0].doc
}

func (m *union) advance(d uint32) uint32 {
	if !m.begun {
		return m.begin(d)
	}
	for m.parts[0].doc < d {
		m.parts[0].doc = m.parts[0].m.advance(d)
		m.down(0)
	}
	return m.parts[0].doc
}

func (m *union) begin(d uint32) uint32 {
	m.begun = true
	for i := range m.parts {
		m.parts[i].doc = m.parts[i].m.advance(d)
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
