package records

import (
	"net/url"
	"strings"
	"unicode"

	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
)

// searchRows looks for the text of a list in two ways, the second where the first finds
// nothing: a number by what is called so or begins with it, then words; what has no
// digit the other way around. While words cannot be looked for, Wordless says so.
func searchRows[T any](l *listing, text string, called, worded func() ([]T, bool, error)) (rows []T, err error) {
	number := strings.ContainsFunc(text, unicode.IsDigit)
	for _, byWords := range []bool{!number, number} {
		look := called
		if byWords {
			look = worded
		}
		rows, l.More, err = look()
		if kind := errs.KindOf(err); byWords && (kind == errs.Invalid || kind == errs.Unavailable) {
			if kind == errs.Unavailable {
				l.Wordless = page.ErrorSentence(err)
			}
			err = nil // what is no text for a search may be the beginning of a number
			continue
		}
		if l.ByWords = byWords; err != nil || len(rows) > 0 {
			return rows, err
		}
	}
	return nil, err
}

// Empty is the sentence for no rows, without its full stop; fits says that there is none.
func (l listing) Empty(fits string) string {
	if l.Wordless != "" {
		return "No number, parcel or address begins so"
	}
	return fits
}

// Everything is where all records are looked at for the text; "" where there is none.
func (l listing) Everything() string {
	if page.TooShortToSearch(l.Asked.Get("q")) {
		return ""
	}
	return page.WithQuery("/find", url.Values{"q": l.Asked["q"], "all": {"1"}})
}
