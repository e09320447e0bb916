package query

import (
	"slices"

	"deedkeep/app/search/index"
)

// onlyGroup is the group of a query that has no other.
func (b *builder) onlyGroup(groups []group, dates []date) index.Node {
	if len(dates) > 0 {
		return b.dateGroups(groups, dates[0])
	}
	return b.group(groups[0], true)
}

// dateOfGroup is the date that a group is part of.
func dateOfGroup(dates []date, group int) (d date, is bool) {
	for _, d := range dates {
		if d.groupFrom <= group && group < d.groupTo {
			return d, true
		}
	}
	return d, false
}

// dateGroups is groups that a date stands in: as they are typed, or the date in any notation.
func (b *builder) dateGroups(groups []group, d date) index.Node {
	var parts, rest index.All
	for _, g := range groups[d.groupFrom:d.groupTo] {
		parts = append(parts, b.group(g, len(groups) == 1))
	}
	for _, c := range d.adjoining {
		rest = append(rest, b.clause(c, false))
	}
	return index.Any{allOf(parts), allOf(append(index.All{b.dateNotations(d)}, rest...))}
}

// dateNotations are a date in any notation. It stands together, which is worth more in a text
// than its words apart, and most as it is typed.
func (b *builder) dateNotations(d date) index.Node {
	var either index.Any
	for _, w := range d.digitWords {
		near := d.proximityWeight(w == d.joined)
		either = append(either, constantTerm(nsFieldWord, w, weightDate), index.Prefer{
			Must:   index.Term{Text: term(nsTextWord, w), Weight: weightText},
			Should: []index.Node{constantTerm(nsTextWord, w, near)},
		})
	}
	for _, p := range slices.Concat(d.digitPhrases, d.wordPhrases) {
		if !d.isAsTyped(p) { // it is in the query as it is
			either = append(either, fieldPhrase(p, weightDate))
		}
	}
	many := b.minDocFreq(nsTextWord, d.wordPhrases[0]) > maxDateDocs
	for i, p := range d.wordPhrases {
		if many && i > 0 && !d.isAsTyped(p) {
			continue
		}
		either = append(either, index.Prefer{
			Must:   index.Phrase{Terms: termsOf(nsTextWord, p), Weight: weightText},
			Should: []index.Node{constantTerm(nsTextWord, p[0], d.proximityWeight(d.isAsTyped(p)))},
		})
	}
	return either
}

// proximityWeight is what it is worth that a date stands together.
func (d *date) proximityWeight(typed bool) float64 {
	if typed {
		return 2 * weightProximity
	}
	return weightProximity
}

// addDates adds what the days of a query may be written as.
func (m *Highlighter) addDates(found []date) {
	for _, d := range found {
		var of uint64
		for i := d.clauseFrom; i < d.clauseTo; i++ {
			of |= 1 << min(i, maxClauses-1)
		}
		for _, p := range slices.Concat(d.digitPhrases, d.wordPhrases) {
			m.addPhrase(p, false, of)
		}
		m.addJoined(d.digitWords, false, of)
	}
}
