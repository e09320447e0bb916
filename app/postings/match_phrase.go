package postings

// phrase is in the documents in which words stand one behind the other. Positions are
// read only where all of the words are.
type phrase struct {
	matcher // all of the words
	places  []*places
	starts  []uint32
	begun   bool
}

func (m *phrase) next() uint32 { return m.stand(m.matcher.next()) }

func (m *phrase) advance(d uint32) uint32 {
	if m.begun && m.doc() >= d {
		return m.doc()
	}
	return m.stand(m.matcher.advance(d))
}

// stand goes on from d to where the words stand in order.
func (m *phrase) stand(d uint32) uint32 {
	m.begun = true
	for d != none && !m.stands() {
		d = m.matcher.next()
	}
	return d
}

func (m *phrase) stands() bool {
	m.starts = append(m.starts[:0], m.places[0].read()...)
	if len(m.starts) == 0 {
		return false // as a flat term only
	}
	for i, p := range m.places[1:] {
		m.starts = follow(m.starts, p.read(), uint32(i)+1, i+2 == len(m.places))
		if len(m.starts) == 0 {
			return false
		}
	}
	return true
}

// follow keeps those starts that have a position so far behind them; the first is
// enough where one is.
func follow(starts, positions []uint32, behind uint32, one bool) []uint32 {
	kept, at := starts[:0], 0
	for _, s := range starts {
		want := s + behind
		for at < len(positions) && positions[at] < want {
			at++
		}
		if at == len(positions) {
			break
		}
		if positions[at] == want {
			if kept = append(kept, s); one {
				break
			}
		}
	}
	return kept
}
