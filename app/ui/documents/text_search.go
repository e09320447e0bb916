package documents

import (
	"context"
	"strings"

	"deedkeep/app/search/query"
)

// findModes returns the ways to look for a text, in the order in which to try them: as typed (false)
// and for all of its words (true). If words is set because the text comes from a search result, only
// the words are looked for, unless the text has none.
func findModes(text string, words bool) []bool {
	switch {
	case query.NewFinder(text, true).Empty():
		return []bool{false}
	case words:
		return []bool{true}
	}
	return []bool{false, true}
}

// highlighter highlights matches and counts them.
type highlighter struct {
	finder  *query.Finder // nil: highlight nothing
	hits    int
	matched query.WordSet // words found so far
}

// maxHighlights is the maximum number of highlighted matches per document.
const maxHighlights = 1000

func (h *highlighter) highlight(ctx context.Context, text string) (parts []textPart) {
	if h.finder == nil || h.hits >= maxHighlights {
		return []textPart{{Text: text}}
	}
	spans, matched := h.finder.Find(ctx, text, maxHighlights-h.hits)
	h.matched |= matched
	last := 0
	for _, s := range spans {
		if s.Start > last {
			parts = append(parts, textPart{Text: text[last:s.Start]})
		}
		h.hits++
		parts = append(parts, textPart{Text: text[s.Start:s.End], Hit: h.hits})
		last = s.End
	}
	if last < len(text) {
		parts = append(parts, textPart{Text: text[last:]})
	}
	return parts
}

// rows splits text into rows and cells. A phrase matches only within a cell.
func (h *highlighter) rows(ctx context.Context, text string) [][]textCell {
	const maxSpan = 1000 // the maximum column span in HTML
	var rows [][]textCell
	columns := 0
	for line := range strings.Lines(text) {
		var row []textCell
		for cell := range strings.SplitSeq(strings.TrimRight(line, "\n"), "\t") {
			row = append(row, textCell{Parts: h.highlight(ctx, cell), Span: 1})
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
