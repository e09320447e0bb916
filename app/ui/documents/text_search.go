package documents

import (
	"deedkeep/app/document/phrase"
	"slices"
	"strings"
)

// findVariant is a phrase that a text is looked for by, and what must be there for it to count.
type findVariant struct {
	phrase    string
	required  []string
	pageWords []string // what a page has all of where any page has
}

// findVariants are the ways to a text, one after another until one leads somewhere: as it was
// typed, then its words, if all of them are there. What a search led to was found by
// its words.
func findVariants(text string, words bool) []findVariant {
	each := phrase.Split(text)
	apart := findVariant{phrase: strings.Join(each, " "), required: each, pageWords: each}
	switch {
	case len(each) == 0:
		return []findVariant{{phrase: text}}
	case words:
		apart.required = nil // the search knows more spellings
		return []findVariant{apart}
	}
	return []findVariant{{phrase: text}, apart}
}

// matches reports whether everything is there that must be.
func (w findVariant) matches(there []string) bool {
	for _, one := range w.required {
		phrase := phrase.New(one)
		if !slices.ContainsFunc(there, func(text string) bool { return len(phrase.Find([]rune(text), 1)) > 0 }) {
			return false
		}
	}
	return true
}

// highlighter counts what it finds on the way.
type highlighter struct {
	phrase phrase.Phrase
	hits   int
}

// maxHighlights is how many places are marked.
const maxHighlights = 1000

func (m *highlighter) highlight(text string) []textPart {
	if m.phrase.Empty() || m.hits >= maxHighlights {
		return []textPart{{Text: text}}
	}
	runes, last := []rune(text), 0
	var parts []textPart
	for _, s := range m.phrase.Find(runes, maxHighlights-m.hits) {
		if s.Start > last {
			parts = append(parts, textPart{Text: string(runes[last:s.Start])})
		}
		m.hits++
		parts = append(parts, textPart{Text: string(runes[s.Start:s.End]), Hit: m.hits})
		last = s.End
	}
	if last < len(runes) {
		parts = append(parts, textPart{Text: string(runes[last:])})
	}
	return parts
}

// rows makes a table of lines; a phrase is found within a cell.
func (m *highlighter) rows(text string) [][]textCell {
	const most = 1000 // columns that HTML lets a cell span
	var rows [][]textCell
	columns := 0
	for line := range strings.Lines(text) {
		var row []textCell
		for cell := range strings.SplitSeq(strings.TrimRight(line, "\n"), "\t") {
			row = append(row, textCell{Parts: m.highlight(cell), Span: 1})
		}
		rows, columns = append(rows, row), max(columns, len(row))
	}
	for i, row := range rows {
		if missing := columns - len(row); 2*missing > columns {
			row[len(row)-1].Span = min(missing+1, most)
		} else {
			rows[i] = append(row, make([]textCell, missing)...)
		}
	}
	return rows
}
