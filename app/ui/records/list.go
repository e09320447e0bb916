package records

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// listing is the state of a list page. The page's address contains the complete state.
type listing struct {
	Asked      url.Values
	Problems   map[string]string // problems with the parameters in Asked, by parameter name
	Statuses   []string          // statuses that the user can filter by
	Filtered   bool              // there are filters, not only a sort order
	More       bool              // there are more matches than are shown
	ByWords    bool              // found by full-text search, not by the start of a number or address
	Wordless   string            // why full-text search was not available; "" if it was
	Prev, Next string
	Used       map[string][]string // values that filters offer while users type, by the name of the filter
	Here       string              // address of this page of the list

	path        string // of the page
	defaultSort string // the default sort order
}

// newListing parses the query of a list page. names are the names of the list's filters.
func newListing(r *page.Request, initial string, names ...string) listing {
	asked := page.ListParams(r, slices.Concat(names, []string{"sort", columnsParam, viewParam})...)
	l := askedListing(asked, initial)
	l.Filtered, l.Here = slices.ContainsFunc(names, asked.Has), r.URL.RequestURI()
	l.path = strings.TrimSuffix(r.URL.Path, path.Ext(r.URL.Path))
	return l
}

// askedListing returns the state of a list with filters.
func askedListing(asked url.Values, initial string) listing {
	return listing{Asked: asked, Problems: map[string]string{}, defaultSort: initial}
}

// addFilters adds the requested filters by model.RecordColumns to q.
func (l *listing) addFilters(q *vault.Query) {
	for _, column := range model.RecordColumns() {
		if v := strings.TrimSpace(strings.ToValidUTF8(l.Asked.Get(string(column)), "")); v != "" {
			q.Filters = append(q.Filters, vault.Filter{Column: column, Value: v})
		}
	}
}

// setStatuses sets the statuses that the user can filter by. It also changes the requested status
// to the spelling in the list if they differ only in case.
func (l *listing) setStatuses(statuses []string) {
	l.Statuses = slices.Clone(statuses)
	asked := l.Asked.Get("status")
	if asked == "" {
		return
	}
	at := slices.IndexFunc(statuses, func(have string) bool { return model.Fold(have) == model.Fold(asked) })
	if at < 0 {
		l.Statuses = append(l.Statuses, asked)
	} else {
		l.Asked.Set("status", statuses[at])
	}
}

// addressWith returns the address of the list with some parameters replaced. pairs contains
// alternating names and values.
func (l *listing) addressWith(pairs ...string) string {
	values := url.Values{}
	for name, v := range l.Asked {
		values[name] = v
	}
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		if values.Set(pairs[0], pairs[1]); pairs[1] == "" {
			values.Del(pairs[0])
		}
	}
	return page.WithQuery(l.path, values)
}

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
