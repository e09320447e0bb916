package query

import (
	"slices"

	"deedkeep/app/search/index"
)

// only is the group of a query that has no other.
func (b *builder) only(groups []group, dates []date) index.Node {
	if len(dates) > 0 {
		return b.dated(groups, dates[0])
	}
	return b.group(groups[0], true)
}

// dateOver is the date that a group is part of.
func dateOver(dates []date, group int) (d date, is bool) {
	for _, d := range dates {
		if d.from <= group && group < d.to {
			return d, true
		}
	}
	return d, false
}

// dated is groups that a date stands in: as they are typed, or the date in any notation.
func (b *builder) dated(groups []group, d date) index.Node {
	var parts, rest index.All
	for _, g := range groups[d.from:d.to] {
		parts = append(parts, b.group(g, len(groups) == 1))
	}
	for _, c := range d.rest {
		rest = append(rest, b.clause(c, false))
	}
	return index.Any{all(parts), all(append(index.All{b.notations(d)}, rest...))}
}

// notations are a date in any notation. It stands together, which is worth more in a text
// than its words apart, and most as it is typed.
func (b *builder) notations(d date) index.Node {
	var either index.Any
	for _, w := range d.words {
		near := d.near(w == d.joined)
		either = append(either, flat(fieldWord, w, worthDate), index.Prefer{
			Must:   index.Term{Text: term(textWord, w), Weight: worthText},
			Should: []index.Node{flat(textWord, w, near)},
		})
	}
	for _, p := range slices.Concat(d.digits, d.spoken) {
		if !d.isTyped(p) { // it is in the query as it is
			either = append(either, fieldPhrase(p, worthDate))
		}
	}
	many := b.fewest(textWord, d.spoken[0]) > mostDated
	for i, p := range d.spoken {
		if many && i > 0 && !d.isTyped(p) {
			continue
		}
		either = append(either, index.Prefer{
			Must:   index.Phrase{Terms: terms(textWord, p), Weight: worthText},
			Should: []index.Node{flat(textWord, p[0], d.near(d.isTyped(p)))},
		})
	}
	return either
}

// near is what it is worth that a date stands together.
func (d *date) near(typed bool) float64 {
	if typed {
		return 2 * worthNear
	}
	return worthNear
}

// dates adds what the days of a query may be written as.
func (m *Marker) dates(found []date) {
	for _, d := range found {
		var of uint64
		for i := d.first; i < d.last; i++ {
			of |= 1 << min(i, mostClauses-1)
		}
		for _, p := range slices.Concat(d.digits, d.spoken) {
			m.phrase(p, false, of)
		}
		m.joined(d.words, false, of)
	}
}
