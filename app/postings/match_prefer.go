package postings

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
	d := m.doc()
	sum := m.matcher.score()
	for _, s := range m.should {
		if s.advance(d) == d {
			sum += s.score()
		}
	}
	return sum
}
