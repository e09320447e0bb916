package postings

import (
	"cmp"
	"slices"
)

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

func (m *all) doc() uint32   { return m.parts[0].doc() }
func (m *all) most() float64 { return m.top }
func (m *all) cost() int     { return m.parts[0].cost() }

func (m *all) next() uint32 { return m.meet(m.parts[0].next()) }

func (m *all) advance(d uint32) uint32 { return m.meet(m.parts[0].advance(d)) }

// meet moves all to the first document from d on that all are in.
func (m *all) meet(d uint32) uint32 {
	lead, others := m.parts[0], m.parts[1:]
	for i := 0; i < len(others) && d != none; {
		if at := others[i].advance(d); at != d {
			d, i = lead.advance(at), 0
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
