package records

import (
	"net/url"
	"strings"
	"unicode"

	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
)

// searchRows finds list rows by number and by full-text search. If text contains a digit, it looks
// text up as the start of a number first, otherwise it searches the full text first. If the first
// method finds nothing, it tries the other one. If full-text search is unavailable, it sets
// Wordless.
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
			err = nil // text that isn't a valid search may still be the start of a number
			continue
		}
		if l.ByWords = byWords; err != nil || len(rows) > 0 {
			return rows, err
		}
	}
	return nil, err
}

// Empty returns the sentence for a list without rows. The period is omitted. fits is the sentence
// to use if the search was complete.
func (l listing) Empty(fits string) string {
	if l.Wordless != "" {
		return "No matching number, Parcel ID, or address"
	}
	return fits
}

// Everything returns the address of a search for the same text in all records. It returns "" if the
// text is too short.
func (l listing) Everything() string {
	if page.TooShortToSearch(l.Asked.Get("q")) {
		return ""
	}
	return page.WithQuery("/find", url.Values{"q": l.Asked["q"], "all": {"1"}})
}
