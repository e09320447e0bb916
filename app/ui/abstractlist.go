package ui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
	"deedkeep/app/vault"
)

const (
	abstractsAPage = 50
	// mostLooks is how often a page that came back empty is looked for again, further
	// on, before the visitor is asked.
	mostLooks = 4
)

// abstractList is the list of abstracts as its page shows it.
type abstractList struct {
	Asked                  url.Values // what the list was asked for
	Rows                   []abstractRow
	Columns                []sortColumn
	Templates              []title.Template
	Statuses               []string
	Filtered               bool // by more than the sort
	Problem                string
	ToProblem, FromProblem string
	More                   bool // of what begins with a text, not all is shown
	Prev, Next             string
}

// abstractRow is one line of it.
type abstractRow struct {
	title.Abstract
	Path, Heading, Template string
	Documents               int
}

// sortColumn is a heading of the table by which it may be sorted.
type sortColumn struct{ Label, Class, Address, Aria string }

// abstractSorts are the columns of the table; those without a sort only have a name.
var abstractSorts = []struct {
	label, class, name string
	by                 store.Sort
}{
	{"File number", "", "file", store.SortFile},
	{"Address", "", "address", store.SortAddress},
	{"County, state", "", "", ""},
	{"Parcel", "", "parcel", store.SortParcel},
	{"Template", "aside", "", ""},
	{"Status", "", "", ""},
	{"Documents", "num", "", ""},
	{"Created", "", "created", store.SortCreated},
	{"Updated", "aside", "", ""},
}

// newestFirst is the sort of a list that was asked for none.
const newestFirst = "-created"

func (p *pages) abstractList(w http.ResponseWriter, r *http.Request, who visitor) error {
	asked := kept(r, "q", "status", "template", "county", "state", "from", "to", "sort")
	list := abstractList{Asked: asked, Filtered: len(asked) > 1 || len(asked) == 1 && asked.Get("sort") == ""}
	if err := p.abstractChoices(r.Context(), &list); err != nil {
		return err
	}
	found, err := p.abstractsAsked(r, &list)
	if err != nil {
		return err
	}
	if !isPart(r) && r.URL.Query().Has("go") { // the form was sent as it is: to a short address, or to the only one
		to := address(r.URL.Path, asked)
		if len(found) == 1 && asked.Has("q") {
			to = p.abstractPath(found[0].ID)
		}
		redirect(w, r, to)
		return nil
	}
	headings, err := p.Vault.Abstracts.Headings(r.Context(), found...)
	if err != nil {
		return err
	}
	for i, a := range found {
		list.Rows = append(list.Rows, abstractRow{
			Abstract: a, Path: p.abstractPath(a.ID), Heading: headings[i],
			Template: nameOf(list.Templates, a.TemplateID), Documents: len(a.Files),
		})
	}
	list.sortColumns(r)
	if isPart(r) {
		w.Header().Set("HX-Push-Url", address(r.URL.Path, asked))
		return p.part(w, r, who, http.StatusOK, "abstracts.html", "results", list)
	}
	return p.show(w, r, who, http.StatusOK, "abstracts.html", page{Heading: "Abstracts", Section: "abstracts", Data: list, Styles: []string{"abstract.css"}})
}

// abstractChoices reads what the filters offer: retired templates too, since their
// abstracts stay.
func (p *pages) abstractChoices(ctx context.Context, list *abstractList) (err error) {
	if list.Templates, err = p.Vault.Templates.All(ctx); err != nil {
		return err
	}
	for _, t := range list.Templates {
		for _, s := range t.Statuses {
			if !slices.Contains(list.Statuses, s) {
				list.Statuses = append(list.Statuses, s)
			}
		}
	}
	if s := list.Asked.Get("status"); s != "" && !slices.ContainsFunc(list.Statuses, func(have string) bool { return title.Fold(have) == title.Fold(s) }) {
		list.Statuses = append(list.Statuses, s)
	}
	return nil
}

// abstractsAsked reads the page that was asked for.
func (p *pages) abstractsAsked(r *http.Request, list *abstractList) ([]title.Abstract, error) {
	q := store.Query{Limit: abstractsAPage}
	list.filter(&q)
	if list.FromProblem != "" || list.ToProblem != "" {
		return nil, nil
	}
	if text := list.Asked.Get("q"); text != "" {
		found, more, err := p.Vault.Abstracts.Called(r.Context(), text, 4*abstractsAPage)
		found = slices.DeleteFunc(found, func(a title.Abstract) bool { return !fits(a, q) })
		list.More = more || len(found) > abstractsAPage
		return found[:min(len(found), abstractsAPage)], err
	}
	p.placed(r, list.Asked, &q)
	var found vault.Page[title.Abstract]
	for range mostLooks {
		var err error
		if found, err = p.Vault.Abstracts.Rows(r.Context(), q); err != nil {
			return nil, err
		}
		onward := found.Next
		if q.Back {
			onward = found.Prev
		}
		if len(found.Items) > 0 || onward == nil {
			break
		}
		q.Position = onward
	}
	list.Prev, list.Next = p.beside(r, list.Asked, found.Prev, found.Next)
	return found.Items, nil
}

// filter makes a query of what was asked.
func (l *abstractList) filter(q *store.Query) {
	for _, f := range []struct {
		name   string
		column store.Column
	}{{"status", store.ColumnStatus}, {"county", store.ColumnCounty}, {"state", store.ColumnState}} {
		if v := strings.TrimSpace(strings.ToValidUTF8(l.Asked.Get(f.name), "")); v != "" {
			q.Where = append(q.Where, store.Where{Column: f.column, Value: v})
		}
	}
	if id, err := strconv.ParseUint(l.Asked.Get("template"), 10, 63); err == nil && id > 0 {
		q.Where = append(q.Where, store.Where{Column: store.ColumnTemplate, Value: strconv.FormatUint(id, 10)})
	} else {
		l.Asked.Del("template")
	}
	q.From, l.FromProblem = dayOf(l.Asked.Get("from"), 0)
	q.To, l.ToProblem = dayOf(l.Asked.Get("to"), 1)
	sort := cmp.Or(l.Asked.Get("sort"), newestFirst)
	name, down := strings.CutPrefix(sort, "-")
	for _, s := range abstractSorts {
		if s.name == name && s.by != "" {
			q.Sort, q.Down = s.by, down
			return
		}
	}
	l.Asked.Del("sort")
	q.Sort, q.Down = store.SortCreated, true
}

// dayOf is the beginning of a day where this machine is, or the last moment before the
// day so many days later; the zero time for no text.
func dayOf(text string, days int) (at time.Time, problem string) {
	if text == "" {
		return at, ""
	}
	at, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil || at.Year() < 1 {
		return time.Time{}, spokenProblem(title.Date, "no date")
	}
	if days > 0 {
		at = at.AddDate(0, 0, days).Add(-time.Microsecond)
	}
	return at, ""
}

// fits holds an abstract that was found by its name against the other filters.
func fits(a title.Abstract, q store.Query) bool {
	for _, w := range q.Where {
		have := map[store.Column]string{
			store.ColumnStatus: a.Status, store.ColumnCounty: a.County, store.ColumnState: a.State, store.ColumnTemplate: strconv.FormatUint(a.TemplateID, 10),
		}[w.Column]
		if title.Fold(have) != title.Fold(w.Value) {
			return false
		}
	}
	return (q.From.IsZero() || !a.CreatedAt.Before(q.From)) && (q.To.IsZero() || !a.CreatedAt.After(q.To))
}

// sortColumns are the headings of the table: a click on the one it is sorted by turns
// it around.
func (l *abstractList) sortColumns(r *http.Request) {
	now, down := strings.CutPrefix(cmp.Or(l.Asked.Get("sort"), newestFirst), "-")
	for _, s := range abstractSorts {
		column := sortColumn{Label: s.label, Class: s.class}
		if s.name != "" && l.Asked.Get("q") == "" {
			to := s.name
			switch {
			case s.name == now && down:
				column.Aria = "descending"
			case s.name == now:
				column.Aria, to = "ascending", "-"+to
			case s.by == store.SortCreated:
				to = "-" + to
			}
			values := url.Values{}
			for name, v := range l.Asked {
				values[name] = v
			}
			if values.Set("sort", to); to == newestFirst {
				values.Del("sort")
			}
			column.Address = address(r.URL.Path, values)
		}
		l.Columns = append(l.Columns, column)
	}
}

// nameOf is what a template is called; "" where there is none.
func nameOf(templates []title.Template, id uint64) string {
	for _, t := range templates {
		if t.ID == id {
			return t.Name
		}
	}
	return ""
}
