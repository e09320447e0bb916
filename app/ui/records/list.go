package records

import (
	"cmp"
	"net/http"
	"net/url"
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
	Columns    []sortColumn
	Statuses   []string // statuses that the user can filter by
	Filtered   bool     // there are filters, not only a sort order
	More       bool     // there are more matches than are shown
	ByWords    bool     // found by full-text search, not by the start of a number or address
	Wordless   string   // why full-text search was not available; "" if it was
	Prev, Next string
	Here       string // address of this page of the list

	path        string
	sorts       []listSort
	defaultSort string // the default sort order
}

// listSort defines a list column. If name is "", the list can't be sorted by this column.
type listSort struct {
	label, class, name string
	by                 model.Sort
}

// sortColumn is a column heading with a link that sorts the list.
type sortColumn struct{ Label, Class, Address, Aria string }

// newListing parses the query of a list page. names are the names of the list's filters.
func newListing(r *page.Request, sorts []listSort, initial string, names ...string) listing {
	asked := page.ListParams(r, append(names, "sort")...)
	l := askedListing(asked, sorts, initial)
	l.Filtered, l.path, l.Here = len(asked) > 1 || len(asked) == 1 && !asked.Has("sort"), r.URL.Path, r.URL.RequestURI()
	return l
}

// askedListing returns the state of a list with filters.
func askedListing(asked url.Values, sorts []listSort, initial string) listing {
	return listing{Asked: asked, Problems: map[string]string{}, sorts: sorts, defaultSort: initial}
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

// applySort applies the requested sort order. If it is unknown, the default is used.
func (l *listing) applySort(q *vault.Query) {
	if !l.sortBy(q, l.Asked.Get("sort")) {
		l.Asked.Del("sort")
		l.sortBy(q, l.defaultSort)
	}
}

func (l *listing) sortBy(q *vault.Query, asked string) bool {
	name, down := strings.CutPrefix(asked, "-")
	at := slices.IndexFunc(l.sorts, func(s listSort) bool { return s.by != "" && s.name == name })
	if at >= 0 {
		q.Sort, q.Descending = l.sorts[at].by, down
	}
	return at >= 0
}

// setColumns sets the column headings. Clicking the heading of the current sort column reverses the
// sort order. Search results can't be sorted.
func (l *listing) setColumns() {
	now, down := strings.CutPrefix(cmp.Or(l.Asked.Get("sort"), l.defaultSort), "-")
	for _, s := range l.sorts {
		column := sortColumn{Label: s.label, Class: s.class}
		if s.name != "" && l.Asked.Get("q") == "" {
			to := s.name
			switch {
			case s.name == now && down:
				column.Aria = "descending"
			case s.name == now:
				column.Aria, to = "ascending", "-"+to
			case s.by == model.SortCreated:
				to = "-" + to
			}
			if to == l.defaultSort {
				to = ""
			}
			column.Address = l.addressWith("sort", to)
		}
		l.Columns = append(l.Columns, column)
	}
}

// showList renders a list or, for a script, only its results. A submitted form is redirected to an
// address without empty parameters or, if a number or name was searched for, to the only match.
func (p *Pages) showList(r *page.Request, l *listing, onlyMatch, name, block string, content page.Page) error {
	if !r.IsPart() && r.URL.Query().Has("go") {
		if onlyMatch != "" && l.Asked.Has("q") && !l.ByWords {
			return r.Redirect(onlyMatch)
		}
		return r.Redirect(l.addressWith())
	}
	l.setColumns()
	if r.IsPart() {
		r.W.Header().Set("HX-Push-Url", l.addressWith())
		return p.RenderPart(r, http.StatusOK, name, block, content.Data)
	}
	content.Styles, content.Scripts = []string{"record.css"}, []string{"choose.js", "bulk.js"}
	return p.RenderPage(r, http.StatusOK, name, content)
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
