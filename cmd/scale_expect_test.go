//go:build scale && linux

package cmd

import "deedkeep/app/vaulttest"

// expectation determines the expected records of all searches in one pass over the records.
type expectation struct {
	*oracle
	searches []*searchCase
	words    map[string][]wordOf // words of all searches, by text
	ranks    [][]wordOf          // words of all searches, by frequency rank
	phrases  [][]*searchCase     // phrase searches, by the rank of their first word

	seen    []uint8 // by search; bit i is set if the current record contains word i
	touched []int   // indexes of the searches whose value in seen is not 0
}

// wordOf refers to word i of a search.
type wordOf struct{ search, i int }

// expect sets the expected number of hits and the expected records of each search.
func (o *oracle) expect(searches []*searchCase) {
	e := &expectation{oracle: o, searches: searches, words: map[string][]wordOf{},
		ranks: make([][]wordOf, o.words.Size()), phrases: make([][]*searchCase, o.words.Size()), seen: make([]uint8, len(searches))}
	ranks := map[string]int{}
	for rank := range o.words.Size() {
		ranks[o.words.Word(rank)] = rank
	}
	for at, a := range searches {
		rank, known := ranks[a.words[0]]
		if a.phrase && known {
			e.phrases[rank] = append(e.phrases[rank], a)
			continue
		}
		for i, word := range a.words {
			e.words[word] = append(e.words[word], wordOf{at, i})
			if rank, known := ranks[word]; known {
				e.ranks[rank] = append(e.ranks[rank], wordOf{at, i})
			}
		}
	}
	var names []string
	for n := range o.Orders {
		for _, r := range []record{{"abstract", n}, {"order", n}} {
			names = o.names(r, names)
			e.addRecord(r, names, nil)
		}
		for k := n * vaulttest.FilesPerOrder; k < (n+1)*vaulttest.FilesPerOrder; k++ {
			r := record{"file", k}
			names = o.names(r, names)
			e.addRecord(r, names, o.text(r))
		}
	}
}

// addRecord adds a record to the expected records of each search that it matches. names are the
// words of its fields, and ranks are the words of its text.
func (e *expectation) addRecord(r record, names []string, ranks []uint16) {
	for _, name := range names {
		e.markWords(e.words[name])
	}
	for at, rank := range ranks {
		e.markWords(e.ranks[rank])
		for _, a := range e.phrases[rank] {
			window := ranks[at:min(at+len(a.words), len(ranks))]
			if len(e.phrasePositions(a, window, 0)) > 0 && e.onOnePage(a, at) && !a.lastIs(r) && a.matchesFilters(e.oracle, r) {
				a.add(r)
			}
		}
	}
	for _, at := range e.touched {
		if a := e.searches[at]; e.seen[at] == 1<<len(a.words)-1 && a.matchesFilters(e.oracle, r) {
			a.add(r)
		}
		e.seen[at] = 0
	}
	e.touched = e.touched[:0]
}

// onOnePage reports whether a phrase that starts at position at also ends on the same page.
func (*expectation) onOnePage(a *searchCase, at int) bool {
	return vaulttest.PageOf(at) == vaulttest.PageOf(at+len(a.words)-1)
}

// markWords marks search words as found in the current record.
func (e *expectation) markWords(words []wordOf) {
	for _, w := range words {
		if e.seen[w.search] == 0 {
			e.touched = append(e.touched, w.search)
		}
		e.seen[w.search] |= 1 << w.i
	}
}

// add counts a record as expected. It stores at most one record more than fit on a page.
func (sc *searchCase) add(r record) {
	if sc.count++; len(sc.want) <= maxWanted {
		sc.want = append(sc.want, r)
	}
	sc.latest = r
}

// lastIs reports whether r was the last record that was added.
func (sc *searchCase) lastIs(r record) bool { return sc.count > 0 && sc.latest == r }
