package records

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// listing is what a page of a list was asked for, and the ways on from it. All of it
// stands in the page's address.
type listing struct {
	Asked      url.Values
	Problems   map[string]string // with what was asked, by its name
	Columns    []sortColumn
	Statuses   []string // to choose from
	Filtered   bool     // by more than the sort
	More       bool     // of what has the text, not all is shown
	ByWords    bool     // the text was found by its words, not by how a number or an address begins
	Wordless   string   // why the text was not looked for by its words; "" where it was
	Prev, Next string

	path        string
	sorts       []listSort
	defaultSort string // the sort of a list that was asked for none
}

// listSort is a column of a list's table; one without a name has no sort.
type listSort struct {
	label, class, name string
	by                 vault.Sort
}

// sortColumn is a heading of the table by which it may be sorted.
type sortColumn struct{ Label, Class, Address, Aria string }

// newListing reads an address; names are those of its filters.
func newListing(r *http.Request, sorts []listSort, initial string, names ...string) listing {
	asked := page.ListParams(r, append(names, "sort")...)
	return listing{
		Asked: asked, Problems: map[string]string{}, Filtered: len(asked) > 1 || len(asked) == 1 && !asked.Has("sort"),
		path: r.URL.Path, sorts: sorts, defaultSort: initial,
	}
}

// addFilters takes those of the columns that something was asked of.
func (l *listing) addFilters(q *vault.Query, columns ...vault.Column) {
	for _, column := range columns {
		if v := strings.TrimSpace(strings.ToValidUTF8(l.Asked.Get(string(column)), "")); v != "" {
			q.Filters = append(q.Filters, vault.Filter{Column: column, Value: v})
		}
	}
}

// setStatuses offers statuses, and the one that was asked for, spelled as it is offered.
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

// applySort takes the sort that was asked for; one that is none is forgotten.
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

// setColumns are the headings of the table: a click on the one it is sorted by turns it
// around. What was found by a text is not sorted.
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
			case s.by == vault.SortCreated:
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

// addressWith is the address of the list with other values of parameters, in pairs.
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
