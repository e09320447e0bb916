package documents

import (
	"slices"
	"strings"

	"deedkeep/app/document/phrase"
)

// findVariant is a phrase to search for. Its matches count only if all required words are among
// them.
type findVariant struct {
	phrase    string
	required  []string
	pageWords []string // words that must all be on a page; ignored if no page contains them all
}

// findVariants returns the variants of a search text in the order in which to try them. The first
// variant is the phrase as typed, the second one all of its words. If words is set because the text
// comes from a search result, it returns only the separate words.
func findVariants(text string, words bool) []findVariant {
	each := phrase.Split(text)
	apart := findVariant{phrase: strings.Join(each, " "), required: each, pageWords: each}
	switch {
	case len(each) == 0:
		return []findVariant{{phrase: text}}
	case words:
		apart.required = nil // don't require them: the search index also finds other spellings
		return []findVariant{apart}
	}
	return []findVariant{{phrase: text}, apart}
}

// matches reports whether the matched texts contain all required words.
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

// maxHighlights is the maximum number of highlighted matches per document.
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

// rows splits text into rows and cells. A phrase matches only within a cell.
func (m *highlighter) rows(text string) [][]textCell {
	const maxSpan = 1000 // the maximum column span in HTML
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
