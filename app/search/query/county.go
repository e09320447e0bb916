package query

import (
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
)

const (
	maxCountyWords = 3 // that a county is called by, as far as a query is read
	weightState    = 5 // a state that is written out; its letters may mean something else
)

// placeNames is what a word stands for in the names of counties and states.
type placeNames struct {
	counties []string // where the word is the county of Wexcombe County: what they are called, as filters have them
	states   []string // where it is written out: as filters have them
}

// findPlaces finds the counties and states that a query names.
func (a *parsedQuery) findPlaces() {
	var list []*clause
	for g := range a.groups {
		for c := range a.groups[g].clauses {
			list = append(list, &a.groups[g].clauses[c])
		}
	}
	for i := range list {
		for n := 1; n <= maxCountyWords; n++ {
			if state := stateOf(list, i, i+n); state != "" {
				for _, c := range list[i : i+n] {
					c.place.states = append(c.place.states, state)
				}
			}
		}
		if len(list[i].parts) != 1 || list[i].quoted || !model.IsCountyWord(list[i].parts[0], list[i].open) {
			continue
		}
		named := list[i : i+1]
		for n := 1; n <= maxCountyWords; n++ {
			addCounty(list, i-n, i, named)
		}
		if i+1 < len(list) && list[i+1].number.typed == "of" {
			named = list[i : i+2]
			for n := 1; n <= maxCountyWords; n++ {
				addCounty(list, i+2, i+2+n, named)
			}
		}
	}
}

// addCounty tells clauses what the county is called that they name.
func addCounty(list []*clause, from, to int, named []*clause) {
	if county := model.FoldCounty(typedText(list, from, to)); county != "" {
		for _, c := range named {
			c.place.counties = append(c.place.counties, county)
		}
	}
}

// stateOf is the state that is written out in clauses, "" for none. What people are
// called too is none.
func stateOf(list []*clause, from, to int) string {
	switch typed := typedText(list, from, to); typed {
	case "virginia", "georgia", "washington":
		return ""
	default:
		if state := model.FoldState(typed); len(state) == 2 && len(typed) > 3 {
			return state
		}
		return ""
	}
}

// typedText is what was typed from one clause to another, "" where one is quoted or there
// are not as many.
func typedText(list []*clause, from, to int) string {
	if from < 0 || to > len(list) {
		return ""
	}
	var typed []string
	for _, c := range list[from:to] {
		if c.quoted {
			return ""
		}
		typed = append(typed, c.number.typed)
	}
	return strings.Join(typed, " ")
}

// nodes are what records of these places have in the place of the word. Records of a
// state have its letters in a field: documents do not.
func (p placeNames) nodes() []index.Node {
	var either []index.Node
	for _, county := range p.counties {
		either = append(either, constantTerm(nsCounty, boundedValue(county), weightField))
	}
	for _, state := range p.states {
		either = append(either, index.All{constantTerm(nsState, boundedValue(state), 0), constantTerm(nsFieldWord, state, weightState)})
	}
	return either
}
