package records

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
)

// Patterns for line breaks, paragraph breaks, and cell separators.
var (
	lineBreak      = regexp.MustCompile(`[ \t\r]*[\n\f\v]\s*`)
	paragraphBreak = regexp.MustCompile(`[ \t\r]*\n[ \t\r]*\n\s*|[ \t\r]*[\f\v]\s*`)
	cellBreak      = regexp.MustCompile(` *\t[ \t]*`)
)

// singleLine returns the snippet of a hit in one line and makes its breaks visible. Otherwise adjacent names
// of a list would look like one name. In most document types, line breaks depend only on the paper
// width, so only paragraph breaks are shown.
func singleLine(hit search.Hit) []search.SnippetPiece {
	at, cells := lineBreak, false
	if hit.File != nil {
		cells = hit.File.IsSpreadsheet()
		if !cells && !strings.Contains(hit.File.MIME, "word") {
			at = paragraphBreak
		}
	}
	shown := slices.Clone(hit.Snippet)
	for i := range shown {
		text := at.ReplaceAllString(shown[i].Text, " / ")
		if cells {
			text = cellBreak.ReplaceAllString(text, search.SnippetSeparator)
		}
		shown[i].Text = text
	}
	return shown
}

// isMarked reports whether a part of a line is highlighted.
func isMarked(line []query.Piece) bool {
	return slices.ContainsFunc(line, func(piece query.Piece) bool { return piece.Marked })
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
		return "Includes results without “" + last + "”. Keep typing to narrow the list."
	case quotes%2 == 1:
		return "Includes results with these words, but not as an exact phrase."
	}
	return "Includes results with the number but without the word before it."
}

// isSingleLetter reports whether word is a single character but not a digit.
func isSingleLetter(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return word != "" && size == len(word) && !unicode.IsDigit(r)
}
