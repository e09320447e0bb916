package records

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/ui/page"
)

// matchingValues returns the snippet of a hit. If the hit isn't a document, values without a match
// are omitted.
func matchingValues(hit search.Hit) []search.SnippetPiece {
	if hit.Kind == "file" {
		return hit.Snippet
	}
	var kept, value []search.SnippetPiece
	has := false
	end := func() {
		if has {
			if len(kept) > 0 {
				kept = append(kept, search.SnippetPiece{Text: search.SnippetSeparator})
			}
			kept = append(kept, value...)
		}
		value, has = nil, false
	}
	for _, piece := range hit.Snippet {
		for i, text := range strings.Split(piece.Text, search.SnippetSeparator) {
			if i > 0 {
				end()
			}
			if text != "" {
				value = append(value, search.SnippetPiece{Text: text, Marked: piece.Marked})
				has = has || piece.Marked
			}
		}
	}
	end()
	return kept
}

// Patterns for line breaks, paragraph breaks, and cell separators.
var (
	lineBreak      = regexp.MustCompile(`[ \t\r]*[\n\f\v]\s*`)
	paragraphBreak = regexp.MustCompile(`[ \t\r]*\n[ \t\r]*\n\s*|[ \t\r]*[\f\v]\s*`)
	cellBreak      = regexp.MustCompile(` *\t[ \t]*`)
)

// singleLine converts a snippet to one line and makes its breaks visible. Otherwise adjacent names
// of a list would look like one name. In most document types, line breaks depend only on the paper
// width, so only paragraph breaks are shown.
func singleLine(hit search.Hit, snippet []search.SnippetPiece) []search.SnippetPiece {
	at, cells := lineBreak, false
	if hit.File != nil {
		cells = page.IsSpreadsheet(hit.File.MIME)
		if !cells && !strings.Contains(hit.File.MIME, "word") {
			at = paragraphBreak
		}
	}
	shown := slices.Clone(snippet)
	for i := range shown {
		text := at.ReplaceAllString(shown[i].Text, " / ")
		if cells {
			text = cellBreak.ReplaceAllString(text, search.SnippetSeparator)
		}
		shown[i].Text = text
	}
	return shown
}

// isFuzzy reports whether a row matches the search text only in a different spelling.
func (f *findResults) isFuzzy(row resultRow) bool {
	some := false
	for _, line := range [][]query.Piece{row.Name, row.Below, row.Hit.Snippet} {
		var whole strings.Builder
		for _, piece := range line {
			whole.WriteString(piece.Text)
		}
		loose, strict := markedText(line), markedText(f.exactMarker.Highlight(whole.String()))
		if len(loose) > len(strict) {
			return true
		}
		some = some || loose != ""
	}
	return !some // without highlighted text, the match must be fuzzy
}

// markedText returns the highlighted text of a line. Each highlighted piece is reduced to its
// letters and digits if it has any.
func markedText(line []query.Piece) string {
	var b strings.Builder
	for _, piece := range line {
		if piece.Marked {
			b.WriteString(cmp.Or(model.NormalizeNumber(piece.Text), piece.Text))
		}
	}
	return b.String()
}

// looseNotice returns a sentence that says which part of the search text is missing in the looser
// results.
func looseNotice(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) })
	quotes := 0
	for _, r := range text {
		if strings.ContainsRune(model.QuoteMarks, r) {
			quotes++
		}
	}
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	letter := isSingleLetter(last) && strings.HasSuffix(text, last)
	switch {
	case letter:
		return "Also shown: what has no word “" + last + "”. Type on to narrow it."
	case quotes%2 == 1:
		return "Also shown: what has the words, but not one behind the other."
	}
	return "Also shown: what has the number without the word before it."
}

// isSingleLetter reports whether word is a single character but not a digit.
func isSingleLetter(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return word != "" && size == len(word) && !unicode.IsDigit(r)
}
