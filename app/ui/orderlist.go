package ui

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
	"deedkeep/app/vault"
)

const ordersAPage = 50

// orderList is the list of orders as its page shows it.
type orderList struct {
	Asked      url.Values // what the list was asked for
	Rows       []title.Order
	Columns    []sortColumn
	Statuses   []string
	Views      []orderView
	Filtered   bool // by more than the sort
	DueProblem string
	More       bool // of what begins with a text, not all is shown
	Prev, Next string
}

// orderView is a part of the orders that people ask for every day.
type orderView struct {
	Label, Address string
	Chosen         bool
}

// The values of the parameter show.
const (
	showOpen    = "open"
	showOverdue = "overdue"
)

// orderSorts are the columns of the table; those without a sort only have a name.
var orderSorts = []struct {
	label, name string
	by          store.Sort
}{
	{"Order", "order_number", store.SortNumber},
	{"Address", "address", store.SortAddress},
	{"County, state", "", ""},
	{"Parcel", "parcel", store.SortParcel},
	{"Status", "", ""},
	{"Due", "due_date", store.SortDue},
	{"Created", "created_at", store.SortCreated},
}

// initial is the sort of a list that was asked for none: what wants doing comes with
// what is due first first, all else with the newest.
func (l *orderList) initial() string {
	if l.Asked.Get("show") != "" {
		return "due_date"
	}
	return "-created_at"
}

func (p *pages) orderList(w http.ResponseWriter, r *http.Request, who visitor) error {
	asked := kept(r, "q", "status", "county", "state", "due_from", "due_to", "show", "sort")
	list := orderList{Asked: asked, Filtered: len(asked) > 1 || len(asked) == 1 && asked.Get("sort") == ""}
	var err error
	if list.Statuses, err = p.Vault.Orders.Statuses(r.Context()); err != nil {
		return err
	}
	if s := asked.Get("status"); s != "" && !slices.ContainsFunc(list.Statuses, func(have string) bool { return title.Fold(have) == title.Fold(s) }) {
		list.Statuses = append(list.Statuses, s)
	}
	if err := p.ordersAsked(r, &list); err != nil {
		return err
	}
	if !isPart(r) && r.URL.Query().Has("go") { // the form was sent as it is: to a short address, or to the only one
		to := address(r.URL.Path, asked)
		if len(list.Rows) == 1 && asked.Has("q") {
			to = p.orderPath(list.Rows[0].ID)
		}
		redirect(w, r, to)
		return nil
	}
	list.sortColumns(r.URL.Path)
	list.views(r.URL.Path)
	if isPart(r) {
		w.Header().Set("HX-Push-Url", address(r.URL.Path, asked))
		return p.part(w, r, who, http.StatusOK, "orders.html", "order-results", list)
	}
	return p.show(w, r, who, http.StatusOK, "orders.html", page{Heading: "Orders", Section: "orders", Data: list, Styles: []string{"abstract.css"}})
}

// ordersAsked reads the page that was asked for.
func (p *pages) ordersAsked(r *http.Request, list *orderList) error {
	q := store.Query{Limit: ordersAPage}
	if list.filter(&q, p.today()); list.DueProblem != "" {
		return nil
	}
	if text := list.Asked.Get("q"); text != "" {
		found, more, err := p.Vault.Orders.Called(r.Context(), text, 4*ordersAPage)
		found = slices.DeleteFunc(found, func(o title.Order) bool { return !orderFits(o, q) })
		list.Rows, list.More = found[:min(len(found), ordersAPage)], more || len(found) > ordersAPage
		return err
	}
	p.placed(r, list.Asked, &q)
	var found vault.Page[title.Order]
	for range mostLooks {
		var err error
		if found, err = p.Vault.Orders.List(r.Context(), q); err != nil {
			return err
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
	list.Rows = found.Items
	list.Prev, list.Next = p.beside(r, list.Asked, found.Prev, found.Next)
	return nil
}

// filter makes a query of what was asked.
func (l *orderList) filter(q *store.Query, today string) {
	for _, f := range []struct {
		name   string
		column store.Column
	}{{"status", store.ColumnStatus}, {"county", store.ColumnCounty}, {"state", store.ColumnState}} {
		if v := strings.TrimSpace(strings.ToValidUTF8(l.Asked.Get(f.name), "")); v != "" {
			q.Where = append(q.Where, store.Where{Column: f.column, Value: v})
		}
	}
	for _, bound := range []struct {
		name string
		into *string
	}{{"due_from", &q.DueFrom}, {"due_to", &q.DueTo}} {
		text := l.Asked.Get(bound.name)
		if _, err := time.Parse(time.DateOnly, text); err != nil && text != "" {
			l.DueProblem = spokenProblem(title.Date, "no date")
			continue
		}
		*bound.into = text
	}
	switch l.Asked.Get("show") {
	case showOpen:
		q.Open = true
	case showOverdue:
		q.Open = true
		if yesterday := dayBefore(today); q.DueTo == "" || q.DueTo > yesterday {
			q.DueTo = yesterday
		}
	default:
		l.Asked.Del("show")
	}
	name, down := strings.CutPrefix(cmp.Or(l.Asked.Get("sort"), l.initial()), "-")
	for _, s := range orderSorts {
		if s.name == name && s.by != "" {
			q.Sort, q.Down = s.by, down
			return
		}
	}
	l.Asked.Del("sort")
	q.Sort, q.Down = store.SortCreated, true
	if l.initial() == "due_date" {
		q.Sort, q.Down = store.SortDue, false
	}
}

func dayBefore(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.AddDate(0, 0, -1).Format(time.DateOnly)
}

// orderFits holds an order that was found by its name against the other filters.
func orderFits(o title.Order, q store.Query) bool {
	for _, w := range q.Where {
		have := map[store.Column]string{store.ColumnStatus: o.Status, store.ColumnCounty: o.County, store.ColumnState: o.State}[w.Column]
		if title.Fold(have) != title.Fold(w.Value) {
			return false
		}
	}
	if q.DueFrom+q.DueTo != "" && (o.DueDate == "" || o.DueDate < q.DueFrom || q.DueTo != "" && o.DueDate > q.DueTo) {
		return false
	}
	return !q.Open || o.Open()
}

// sortColumns are the headings of the table: a click on the one it is sorted by turns
// it around.
func (l *orderList) sortColumns(path string) {
	now, down := strings.CutPrefix(cmp.Or(l.Asked.Get("sort"), l.initial()), "-")
	for _, s := range orderSorts {
		column := sortColumn{Label: s.label}
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
			if to == l.initial() {
				to = ""
			}
			column.Address = l.with(path, "sort", to)
		}
		l.Columns = append(l.Columns, column)
	}
}

// views are the parts that are asked for every day, each in its own order.
func (l *orderList) views(path string) {
	for _, v := range []struct{ label, show string }{{"All", ""}, {"Open", showOpen}, {"Overdue", showOverdue}} {
		other := orderList{Asked: url.Values{}}
		for name, values := range l.Asked {
			other.Asked[name] = values
		}
		other.Asked.Del("sort")
		l.Views = append(l.Views, orderView{v.label, other.with(path, "show", v.show), l.Asked.Get("show") == v.show})
	}
}

// with is the address of the list with another value of a parameter.
func (l *orderList) with(path, name, value string) string {
	values := url.Values{}
	for name, v := range l.Asked {
		values[name] = v
	}
	if values.Set(name, value); value == "" {
		values.Del(name)
	}
	return address(path, values)
}
