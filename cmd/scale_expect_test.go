//go:build scale && linux

package cmd

import "deedkeep/app/vaulttest"

// expectation goes through a whole mix once and notes what every search is to find.
type expectation struct {
	*oracle
	searches []*searchCase
	words    map[string][]wordOf // of fields, by the word
	ranks    [][]wordOf          // of texts, by the rank
	phrases  [][]*searchCase     // by the rank of their first word

	seen    []uint8 // bit i: the i-th word of the search of this place was seen in the record
	touched []int
}

// wordOf is the i-th word of a search.
type wordOf struct{ search, i int }

// expect fills count and want of the searches.
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

func (e *expectation) addRecord(r record, names []string, ranks []uint16) {
	for _, name := range names {
		e.markWords(e.words[name])
	}
	for at, rank := range ranks {
		e.markWords(e.ranks[rank])
		for _, a := range e.phrases[rank] {
			if len(e.phrasePositions(a, ranks[at:min(at+len(a.words), len(ranks))], 0)) > 0 && e.onOnePage(a, at) && !a.lastIs(r) &&
				a.matchesFilters(e.oracle, r) {
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

// onOnePage says whether a phrase at a place ends on the page on which it begins.
func (*expectation) onOnePage(a *searchCase, at int) bool {
	return vaulttest.PageOf(at) == vaulttest.PageOf(at+len(a.words)-1)
}

func (e *expectation) markWords(words []wordOf) {
	for _, w := range words {
		if e.seen[w.search] == 0 {
			e.touched = append(e.touched, w.search)
		}
		e.seen[w.search] |= 1 << w.i
	}
}

// add notes a record, of which the last one added may be the same.
func (a *searchCase) add(r record) {
	if a.count++; len(a.want) <= maxWanted {
		a.want = append(a.want, r)
	}
	a.latest = r
}

func (a *searchCase) lastIs(r record) bool { return a.count > 0 && a.latest == r }
