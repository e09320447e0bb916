package vault

import (
	"math/bits"
	"strings"

	"deedkeep/app/extract"
	"deedkeep/app/search"
)

// mostApart is how many words of a query are told apart in a field.
const mostApart = 16

// marking marks what a query looks for, and tells which of its words a text has.
type marking struct {
	*search.Marker
	all  *search.Marker   // the words as they are typed, together
	each []*search.Marker // the words, those that mean something
}

func newMarking(text string, tolerant bool) marking {
	marker := func(text string) *search.Marker {
		m := search.NewMarker(text)
		if tolerant {
			return m.Tolerant()
		}
		return m
	}
	m := marking{Marker: marker(text)}
	words := extract.Each(text)
	if len(words) < 2 {
		return m
	}
	m.all = marker(`"` + strings.Map(unquoted, text))
	for _, word := range words[:min(len(words), mostApart)] {
		word, open := strings.CutSuffix(word, "*")
		if word = strings.Trim(word, `"`); strings.Contains(word, " ") {
			word = `"` + word
		}
		if !open {
			word += " "
		}
		m.each = append(m.each, marker(word))
	}
	return m
}

func unquoted(r rune) rune {
	if strings.ContainsRune(`"“”„«»`, r) {
		return -1
	}
	return r
}

// holds are the words of the query that a text has, a bit each.
func (m marking) holds(text string) (which uint64) {
	if len(m.each) == 0 {
		return 1
	}
	var found strings.Builder
	for _, piece := range m.Mark(text) {
		if piece.Marked {
			found.WriteString(piece.Text + "\n")
		}
	}
	marks := func(m *search.Marker) bool {
		_, worth := m.Snippet(found.String())
		return worth > 0
	}
	if marks(m.all) {
		return 1<<len(m.each) - 1
	}
	for i, word := range m.each {
		if marks(word) {
			which |= 1 << i
		}
	}
	return which
}

// less reports whether one text has only some of the words that another has.
func less(one, other uint64) bool { return one&other == one && one != other }

// more orders texts by how many of the words they have, most first.
func more(one, other uint64) int { return bits.OnesCount64(other) - bits.OnesCount64(one) }
