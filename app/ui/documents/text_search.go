package documents

import (
	"slices"
	"strings"

	"deedkeep/app/document/phrase"
)

// findVariant is a phrase to search for, and what must be found for it to count.
type findVariant struct {
	phrase    string
	required  []string
	pageWords []string // words that a page must contain, if any page contains all
}

// findVariants returns the variants of a text, to be tried until one has matches: first the text as
// typed, then its words, all of which must be found. Text from a search result is searched word by
// word only.
func findVariants(text string, words bool) []findVariant {
	each := phrase.Split(text)
	apart := findVariant{phrase: strings.Join(each, " "), required: each, pageWords: each}
	switch {
	case len(each) == 0:
		return []findVariant{{phrase: text}}
	case words:
		apart.required = nil // the search index knows more spellings
		return []findVariant{apart}
	}
	return []findVariant{{phrase: text}, apart}
}

// matches reports whether all required words were found.
func (w findVariant) matches(texts []string) bool {
	for _, word := range w.required {
		required := phrase.New(word)
		if !slices.ContainsFunc(texts, func(text string) bool { return len(required.Find([]rune(text), 1)) > 0 }) {
			return false
		}
	}
	return true
}

// highlighter highlights the matches of a phrase and counts them.
type highlighter struct {
	phrase phrase.Phrase
	hits   int
}

// maxHighlights is the maximum number of highlighted matches.
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

// rows splits text into rows of cells. A phrase must be within a cell.
func (m *highlighter) rows(text string) [][]textCell {
	const maxSpan = 1000 // the maximum column span of HTML
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
			row[len(row)-1].Span = min(missing+1, maxSpan)
		} else {
			rows[i] = append(row, make([]textCell, missing)...)
		}
	}
	return rows
}
