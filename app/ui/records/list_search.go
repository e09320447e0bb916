package records

import (
	"net/url"
	"strings"
	"unicode"

	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
)

// searchRows finds the rows for a text in two ways, the second only if the first finds nothing. A
// text with a digit is looked up as the start of a number first, then searched as words; other text
// the other way around. If full-text search is unavailable, it sets Wordless.
func searchRows[T any](l *listing, text string, byNumber, bySearch func() ([]T, bool, error)) (rows []T, err error) {
	number := strings.ContainsFunc(text, unicode.IsDigit)
	for _, byWords := range []bool{!number, number} {
		search := byNumber
		if byWords {
			search = bySearch
		}
		rows, l.More, err = search()
		if kind := errs.KindOf(err); byWords && (kind == errs.Invalid || kind == errs.Unavailable) {
			if kind == errs.Unavailable {
				l.Wordless = page.ErrorSentence(err)
			}
			err = nil // text that can't be searched may be the start of a number
			continue
		}
		if l.ByWords = byWords; err != nil || len(rows) > 0 {
			return rows, err
		}
	}
	return nil, err
}

// Empty returns the sentence for no rows, without its period. fits is the sentence for a complete
// search.
func (l listing) Empty(fits string) string {
	if l.Wordless != "" {
		return "No number, parcel or address begins so"
	}
	return fits
}

// Everything returns the address of a search in all records, "" if the text is too short.
func (l listing) Everything() string {
	if page.TooShortToSearch(l.Asked.Get("q")) {
		return ""
	}
	return page.WithQuery("/find", url.Values{"q": l.Asked["q"], "all": {"1"}})
}
