package records

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/spreadsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// tableList is the state of a list page that shows its records as a table.
type tableList struct {
	listing
	Columns []sortColumn
	Rows    []tableRow
	Record  string         // name of the list, such as orders
	Choices []columnChoice // columns to choose from
	Shown   string         // names of the columns that the user or the view chose; "" for the default
	Open    string         // the disclosure that is open
	Views   []viewTab
	Chips   []filterChip
	View    *viewForm  // form that changes the current view; nil if there is none, or the user can't change it
	Start   *startForm // nil if there is no current view
	Sized   bool       // the user chose the width of a column

	widths map[string]int // of columns that the user chose, in CSS pixels, by name

	sort func(*vault.Query, string) bool // lists.Table.Sort
}

// newTable parses the query of a list page. filters are the names of the list's filters.
func newTable(r *page.Request, filters ...string) tableList {
	l := tableList{listing: newListing(r, "-created_at", filters...), Open: r.URL.Query().Get(openParam)}
	l.Record = strings.TrimPrefix(l.path, "/")
	return l
}

// sortColumn is a column heading with a link that sorts the list.
type sortColumn struct {
	Name, Label, Class, Address, Aria string
	Width                             int // in CSS pixels; 0: as wide as the contents need

	sort  string // name of the sort order
	times bool   // sorted with the newest first
}

// tableRow is a row of a list.
type tableRow struct {
	Path, Name string // of the record
	Cells      []tableCell
}

// tableCell is a cell of a row besides the name of the record.
type tableCell struct {
	Label, Class string // of the column
	Kind         string // status, due, time, or "" for Text
	Text         string
	At           time.Time
	Record       any
}

// maxCell is the maximum number of characters of a cell. Files have the complete text.
const maxCell = 200

// useTable sets the column headings and the sort orders of a list, and returns its columns. names are those of the columns
// to show. The one that names the record is always the first.
func useTable[T any](l *tableList, t lists.Table[T], names []string) []lists.Column[T] {
	l.sort = t.Sort
	choices := t.OnPage()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == t.Page[0] || !slices.ContainsFunc(choices, func(c lists.Column[T]) bool { return c.Name == name })
	})
	if len(names) == 0 {
		names, t.Aside = t.Page[1:], slices.Clone(t.Aside)
	} else {
		l.Shown, t.Aside = strings.Join(names, ","), nil
	}
	columns, _ := t.Find(append([]string{t.Page[0]}, names...))
	for n, c := range columns {
		l.Columns = append(l.Columns, sortColumn{Name: c.Name, Label: c.Label, Class: columnClass(t, c), Width: l.widths[c.Name],
			sort: c.Sort, times: c.At != nil})
		l.Sized = l.Sized || l.widths[c.Name] > 0
		l.Choices = append(l.Choices, columnChoice{c.Name, c.Label, true, n == 1, n == len(names), n == 0, l.widths[c.Name]})
	}
	for _, c := range choices {
		if c.Name != t.Page[0] && !slices.Contains(names, c.Name) {
			l.Choices = append(l.Choices, columnChoice{Name: c.Name, Label: c.Label})
		}
	}
	return columns
}

// columnClass returns the style of a column.
func columnClass[T any](t lists.Table[T], c lists.Column[T]) string {
	switch {
	case c.Type == model.Number, c.Type == model.Money:
		return "num"
	case slices.Contains(t.Aside, c.Name):
		return "aside"
	}
	return ""
}

// addRows adds the rows of records. The first column names the record.
func addRows[T any](l *tableList, columns []lists.Column[T], records []T, path func(*T) string) {
	for n := range records {
		record := &records[n]
		row := tableRow{Path: path(record), Name: page.FormatValues(columns[0].Type, columns[0].Values(record))}
		for at, c := range columns[1:] {
			heading := l.Columns[at+1]
			cell := tableCell{Label: heading.Label, Class: heading.Class, Record: record}
			switch {
			case c.At != nil:
				cell.Kind, cell.At = "time", c.At(record)
			case c.Name == "status" && c.Type == model.Choice:
				cell.Kind, cell.Text = "status", c.Text(record)
			case c.Name == "due_date":
				cell.Kind = "due"
			default:
				cell.Text = page.Truncate(page.FormatValues(c.Type, c.Values(record)), maxCell)
			}
			row.Cells = append(row.Cells, cell)
		}
		l.Rows = append(l.Rows, row)
	}
}

// applySort applies the requested sort order. If it is unknown, the default is used. A list without columns, of which
// records are only counted or changed, isn't sorted.
func (l *tableList) applySort(q *vault.Query) {
	if l.sort != nil && !l.sort(q, l.Asked.Get("sort")) {
		l.Asked.Del("sort")
		l.sort(q, l.defaultSort)
	}
}

// linkColumns adds links to the column headings. Clicking the heading of the current sort column reverses the
// sort order. Search results can't be sorted.
func (l *tableList) linkColumns() {
	now, down := strings.CutPrefix(cmp.Or(l.Asked.Get("sort"), l.defaultSort), "-")
	for n := range l.Columns {
		column := &l.Columns[n]
		if l.Asked.Get("q") != "" {
			continue
		}
		to := column.sort
		switch {
		case to == now && down:
			column.Aria = "descending"
		case to == now:
			column.Aria, to = "ascending", "-"+to
		case column.times:
			to = "-" + to
		}
		if to == l.defaultSort {
			to = ""
		}
		column.Address = l.addressWith("sort", to)
	}
}

// File returns the address of the list as a file.
func (l tableList) File(extension string) string { return page.WithQuery(l.path+extension, l.Asked) }

// Cleared returns the address of the list without the filters that have chips.
func (l tableList) Cleared() string {
	var pairs []string
	for _, c := range chipTexts {
		pairs = append(pairs, c.name, "")
	}
	return l.addressWith(pairs...)
}

// First returns the address of the first page of the list.
func (l tableList) First() string { return l.addressWith() }

// readUsed reads the values that filters offer. The part of a page that a script requests has no filters.
func (p *Pages) readUsed(r *page.Request, l *listing) (err error) {
	if !r.IsPart() {
		l.Used, err = p.App.Lists.Used(r.Context(), string(model.ColumnCounty), string(model.ColumnState))
	}
	return err
}

// showList renders a list or, for a script, only its results. A submitted form is redirected to an
// address without empty parameters or, if a number or name was searched for, to the only match.
func (p *Pages) showList(r *page.Request, l *tableList, name, block string, content page.Page) error {
	if !r.IsPart() && r.URL.Query().Has("go") {
		if len(l.Rows) == 1 && l.Asked.Has("q") && !l.ByWords {
			return r.Redirect(l.Rows[0].Path)
		}
		return r.Redirect(l.addressWith())
	}
	l.linkColumns()
	if r.IsPart() {
		r.W.Header().Set("HX-Push-Url", l.addressWith())
		return p.RenderPart(r, http.StatusOK, name, block, content.Data)
	}
	content.Styles, content.Scripts = []string{"record.css"}, []string{"choose.js", "bulk.js", "widths.js"}
	content.Follows = []string{strings.TrimSuffix(l.Record, "s")}
	return p.RenderPage(r, http.StatusOK, name, content)
}

// recordsPerPage is the number of rows of a list page.
const recordsPerPage = 50

// listReader reads the rows of a list.
type listReader interface {
	show(p *Pages, r *page.Request, l *tableList) error                // adds the rows of the requested page
	file(ctx context.Context, l *tableList) (spreadsheet.Table, error) // has the rows of all pages
}

// listSource reads the records of a list and shows them as rows of a table.
type listSource[T any] struct {
	table   lists.Table[T]
	columns []lists.Column[T]
	query   vault.Query
	pages   func(context.Context, vault.Query) (vault.Page[T], error)
	path    func(*T) string

	// These find at most Query.Limit records for the text of the filter q. more says that there are others.
	byNumber, bySearch func(ctx context.Context, text string, q vault.Query) (found []T, more bool, err error)
}

func (s listSource[T]) find(ctx context.Context, l *tableList, limit int) ([]T, error) {
	text, q := l.Asked.Get("q"), s.query
	q.Limit = limit
	return searchRows(&l.listing, text, func() ([]T, bool, error) { return s.byNumber(ctx, text, q) },
		func() ([]T, bool, error) { return s.bySearch(ctx, text, q) })
}

func (s listSource[T]) show(p *Pages, r *page.Request, l *tableList) error {
	if len(l.Problems) > 0 {
		return nil
	}
	if l.Asked.Get("q") != "" {
		records, err := s.find(r.Context(), l, recordsPerPage)
		addRows(l, s.columns, records, s.path)
		return err
	}
	q := s.query
	q.Limit = recordsPerPage
	p.ApplyCursor(r, l.Asked, &q)
	found, err := page.ReadNonEmpty(r.Context(), q, s.pages)
	if q.Keys != nil && errs.KindOf(err) == errs.Invalid { // too many to sort them
		l.Problems["sort"] = page.ErrorSentence(err)
		l.Asked.Del("sort")
		l.applySort(&q)
		q.Position, q.Backward = nil, false
		found, err = page.ReadNonEmpty(r.Context(), q, s.pages)
	}
	addRows(l, s.columns, found.Items, s.path)
	l.Prev, l.Next = p.PageLinks(r, l.Asked, found.Prev, found.Next)
	return err
}

func (s listSource[T]) file(ctx context.Context, l *tableList) (spreadsheet.Table, error) {
	if l.Asked.Get("q") == "" {
		rows, err := lists.Rows(ctx, s.query, s.pages)
		return s.table.File(s.columns, rows), err
	}
	found, err := s.find(ctx, l, search.MaxHits)
	return s.table.File(s.columns, func(yield func(T, error) bool) {
		for _, record := range found {
			if !yield(record, nil) {
				return
			}
		}
	}), err
}

// allHits returns up to q.Limit results of a search. Filters that the search index doesn't support can leave few of a page,
// so later pages are as large as a search allows.
func allHits[T any](q search.Query, find func(search.Query) (search.Page[T], error)) (items []T, more bool, err error) {
	for limit := q.Limit; ; q.Limit = search.MaxHits {
		found, err := find(q)
		items = append(items, found.Items...)
		if more = found.Next > 0 || found.Capped; err != nil || found.Next == 0 || len(items) >= limit {
			return items[:min(len(items), limit)], more || len(items) > limit, err
		}
		q.Offset = found.Next
	}
}

// listFiles returns the routes that send a list as a file. list reads the request.
func (p *Pages) listFiles(address string, list func(*page.Request) (*tableList, listReader, error)) (routes []page.Route) {
	for _, f := range spreadsheet.Formats() {
		routes = append(routes, page.NewRoute("GET "+address+f.Extension, page.MayRead, func(r *page.Request) error {
			l, reader, err := list(r)
			if err != nil {
				return err
			}
			if len(l.Problems) > 0 {
				return r.Redirect(l.addressWith()) // the page shows the problems
			}
			table, err := reader.file(r.Context(), l)
			if l.Asked.Has("sort") && errs.KindOf(err) == errs.Invalid {
				return r.Redirect(l.addressWith())
			}
			if err != nil {
				return err
			}
			if r.Method != http.MethodHead {
				p.App.Events.ListDownloaded(r.Actor, l.Record, f.Extension)
			}
			return p.SendTable(r, table.Name, f, table)
		}))
	}
	return routes
}
