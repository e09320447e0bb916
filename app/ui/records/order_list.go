package records

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"time"

	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

// orderList is the template data of the order list.
type orderList struct {
	tableList
	Staff   titlework.Staff
	visitor uint64    // the user whom the assignee "me" means
	since   time.Time // since when orders are new to the user
}

// Values of the query parameter "show".
const (
	showOpen    = "open"
	showOverdue = "overdue"
	showNew     = "new"
)

// orderFilters are the names of the list's filters.
var orderFilters = []string{"q", "status", "county", "state", "due_from", "due_to", "show", "assignee"}

func (p *Pages) orderListPage(r *page.Request) error {
	list, reader, err := p.orders(r)
	if err != nil {
		return err
	}
	statuses, err := p.App.Orders.Statuses(r.Context())
	if err != nil {
		return err
	}
	list.setStatuses(statuses)
	if list.Staff, err = p.work.Staff(r.Context()); err != nil {
		return err
	}
	if err := reader.show(p, r, &list.tableList); err != nil {
		return err
	}
	list.setTabs()
	assignee, _ := strconv.ParseUint(list.Asked.Get("assignee"), 10, 63) // 0: a word
	list.addChips(map[string]string{"assignee": cmp.Or(map[string]string{assigneeMe: "me", assigneeNone: "no one"}[list.Asked.Get("assignee")],
		list.Staff.Name(assignee))})
	if err := p.readUsed(r, &list.listing); err != nil {
		return err
	}
	if err := p.addSavedViews(r, &list.tableList, p.countOrders(list)); err != nil {
		return err
	}
	return p.showList(r, &list.tableList, "orders.html", "order-results-update", page.Page{Heading: "Orders", Section: "orders", Data: list})
}

// orders returns the list of orders that a request asks for, without rows, and what reads them.
func (p *Pages) orders(r *page.Request) (*orderList, listReader, error) {
	list := &orderList{tableList: newTable(r, orderFilters...), visitor: r.Visitor.ID}
	s := listSource[model.Order]{pages: lists.InTurns(p.App.Lists, r.Actor, p.App.Orders.List),
		path: func(o *model.Order) string { return p.OrderPath(o.ID) }}
	var err error
	if list.since, err = p.ordersNewSince(r); err != nil {
		return nil, nil, err
	}
	if s.table, err = p.App.Lists.Orders(r.Context()); err != nil {
		return nil, nil, err
	}
	names, err := p.chosenColumns(r, &list.tableList)
	if err != nil {
		return nil, nil, err
	}
	s.columns = useTable(&list.tableList, s.table, names)
	list.applyFilters(&s.query, p.LocalNow())
	s.byNumber = p.App.Search.OrdersByNumber
	s.bySearch = func(ctx context.Context, text string, q vault.Query) ([]model.Order, bool, error) {
		return allHits(search.QueryFromList(text, q), func(sq search.Query) (search.Page[model.Order], error) {
			return p.App.Search.Orders(ctx, r.Actor, sq, q)
		})
	}
	return list, s, nil
}

// countOrders returns a function that returns the number of orders that match the filters of a view, as text.
func (p *Pages) countOrders(of *orderList) func(context.Context, url.Values) (string, error) {
	return func(ctx context.Context, asked url.Values) (string, error) {
		list := orderList{tableList: tableList{listing: askedListing(asked, "")}, visitor: of.visitor, since: of.since}
		q := vault.Query{}
		list.applyFilters(&q, p.LocalNow())
		return countRecords(ctx, q, p.App.Orders.List)
	}
}

// applyFilters adds the requested filters and sort order to q. By default, open and overdue orders
// are sorted by due date, and other lists by creation date, newest first.
func (l *orderList) applyFilters(q *vault.Query, now time.Time) {
	l.addFilters(q)
	filterAssignee(l.Asked, q, l.visitor)
	for name, into := range map[string]*string{"due_from": &q.DueFrom, "due_to": &q.DueTo} {
		if page.DayParam(l.Asked, l.Problems, name, now); l.Problems[name] == "" {
			*into = l.Asked.Get(name)
		}
	}
	switch l.Asked.Get("show") {
	case showOpen:
		q.OpenOnly, l.defaultSort = true, "due_date"
	case showOverdue:
		l.defaultSort = "due_date"
		lists.SetOverdue(q, now)
	case showNew:
		q.CreatedFrom = l.since
	default:
		l.Asked.Del("show")
	}
	l.applySort(q)
}

// setTabs sets the tabs. Each tab has its own default sort order.
func (l *orderList) setTabs() {
	for _, v := range []struct{ label, show string }{{"All", ""}, {"Open", showOpen}, {"Overdue", showOverdue}, {"New", showNew}} {
		l.Views = append(l.Views, viewTab{Label: v.label, Address: l.addressWith("show", v.show, "sort", "", viewParam, ""),
			Chosen: l.Asked.Get("show") == v.show && !l.Asked.Has(viewParam)})
	}
}
