package query

import (
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/search/index"
)

const (
	maxCountyWords = 3 // maximum number of words in a county or state name
	weightState    = 5 // low, because the abbreviation of a state may mean something else
)

// placeNames holds the counties and states that a word of the query may refer to.
type placeNames struct {
	counties []string // for the word County in Wexcombe County: the normalized name, wexcombe
	states   []string // for the full name of a state: the normalized state
}

// findPlaces finds the counties and states in a query.
func (q *parsedQuery) findPlaces() {
	var list []*clause
	for g := range q.groups {
		for c := range q.groups[g].clauses {
			list = append(list, &q.groups[g].clauses[c])
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

// addCounty adds the county named by the clauses from..to (exclusive) to each clause in named.
func addCounty(list []*clause, from, to int, named []*clause) {
	if county := model.FoldCounty(typedText(list, from, to)); county != "" {
		for _, c := range named {
			c.place.counties = append(c.place.counties, county)
		}
	}
}

// stateOf returns the state whose full name is in the clauses from..to (exclusive), or "". States
// that are also personal names are excluded.
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

// typedText returns the text of the clauses from..to (exclusive). It returns "" if a clause is
// quoted or the range is invalid.
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

// nodes returns the nodes that match a record by its county or state even if the record does not
// contain the word. A state also has to appear as an abbreviation in a field, which excludes
// documents.
func (p placeNames) nodes() []index.Node {
	var nodes []index.Node
	for _, county := range p.counties {
		nodes = append(nodes, constantTerm(nsCounty, boundedValue(county), weightField))
	}
	for _, state := range p.states {
		nodes = append(nodes, index.All{constantTerm(nsState, boundedValue(state), 0), constantTerm(nsFieldWord, state, weightState)})
	}
	return nodes
}
