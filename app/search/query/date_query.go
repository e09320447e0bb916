package query

import (
	"slices"

	"deedkeep/app/search/index"
)

// onlyGroup returns the node for a query that consists only of one group or one date.
func (b *builder) onlyGroup(groups []group, dates []date) index.Node {
	if len(dates) > 0 {
		return b.dateGroups(groups, dates[0])
	}
	return b.group(groups[0], true)
}

// dateOfGroup returns the date that contains a group. ok reports whether there is one.
func dateOfGroup(dates []date, group int) (d date, ok bool) {
	for _, d := range dates {
		if d.groupFrom <= group && group < d.groupTo {
			return d, true
		}
	}
	return d, false
}

// dateGroups returns the node for the groups that contain a date. The node matches the words as
// typed or the date in any notation.
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

// dateNotations returns the node for a date in any notation. In texts, a date whose parts are
// adjacent scores higher than its separate words. The typed notation scores highest.
func (b *builder) dateNotations(d date) index.Node {
	var nodes index.Any
	for _, w := range d.digitWords {
		near := d.proximityWeight(w == d.joined)
		nodes = append(nodes, constantTerm(nsFieldWord, w, weightDate), index.Prefer{
			Must:   index.Term{Text: term(nsTextWord, w), Weight: weightText},
			Should: []index.Node{constantTerm(nsTextWord, w, near)},
		})
	}
	for _, p := range slices.Concat(d.digitPhrases, d.wordPhrases) {
		if !d.isAsTyped(p) { // the node for the words as typed covers the typed notation
			nodes = append(nodes, fieldPhrase(p, weightDate))
		}
	}
	tooMany := b.minDocFreq(nsTextWord, d.wordPhrases[0]) > maxDateDocs
	for i, p := range d.wordPhrases {
		if tooMany && i > 0 && !d.isAsTyped(p) {
			continue
		}
		nodes = append(nodes, index.Prefer{
			Must:   index.Phrase{Terms: termsOf(nsTextWord, p), Weight: weightText},
			Should: []index.Node{constantTerm(nsTextWord, p[0], d.proximityWeight(d.isAsTyped(p)))},
		})
	}
	return nodes
}

// proximityWeight returns the weight added if the parts of a date are adjacent. typed says whether
// the notation is the typed one.
func (d *date) proximityWeight(typed bool) float64 {
	if typed {
		return 2 * weightProximity
	}
	return weightProximity
}

// addDates adds targets for all notations of the dates in a query.
func (h *Highlighter) addDates(found []date) {
	for _, d := range found {
		var clauses uint64
		for i := d.clauseFrom; i < d.clauseTo; i++ {
			clauses |= 1 << min(i, maxClauses-1)
		}
		for _, p := range slices.Concat(d.digitPhrases, d.wordPhrases) {
			h.addPhrase(p, false, clauses)
		}
		h.addJoined(d.digitWords, false, clauses)
	}
}
