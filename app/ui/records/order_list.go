package records

import (
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

const ordersPerPage = 50

// orderList is the template data of the order list.
type orderList struct {
	listing
	Rows  []model.Order
	Views []orderTab
}

// orderTab is a link to a predefined selection of orders, such as all open orders.
type orderTab struct {
	Label, Address string
	Chosen         bool
}

// Values of the query parameter "show".
const (
	showOpen    = "open"
	showOverdue = "overdue"
)

// orderSorts defines the table columns and their sort orders.
var orderSorts = []listSort{
	{"Order", "", "order_number", model.SortOrderNumber},
	{"Address", "", "address", model.SortAddress},
	{"County, state", "", "", ""},
	{"Parcel ID", "aside", "parcel", model.SortParcel},
	{"Status", "", "", ""},
	{"Due", "", "due_date", model.SortDue},
	{"Created", "aside", "created_at", model.SortCreated},
}

// orderFilters are the names of the list's filters.
var orderFilters = []string{"q", "status", "county", "state", "due_from", "due_to", "show"}

func (p *Pages) orderListPage(r *page.Request) error {
	list := orderList{listing: newListing(r, orderSorts, "-created_at", orderFilters...)}
	statuses, err := p.App.Orders.Statuses(r.Context())
	if err != nil {
		return err
	}
	list.setStatuses(statuses)
	if err := p.loadOrders(r, &list); err != nil {
		return err
	}
	list.setTabs()
	only := ""
	if len(list.Rows) == 1 {
		only = p.OrderPath(list.Rows[0].ID)
	}
	return p.showList(r, &list.listing, only, "orders.html", "order-results-update", page.Page{Heading: "Orders", Section: "orders", Data: &list})
}

// loadOrders reads the requested page of the order list.
func (p *Pages) loadOrders(r *page.Request, list *orderList) (err error) {
	q := vault.Query{Limit: ordersPerPage}
	if list.applyFilters(&q, p.LocalNow()); len(list.Problems) > 0 {
		return nil
	}
	if text := list.Asked.Get("q"); text != "" {
		list.Rows, err = searchRows(&list.listing, text, func() ([]model.Order, bool, error) {
			return p.App.Search.OrdersByNumber(r.Context(), text, q)
		}, func() ([]model.Order, bool, error) {
			if q.OpenOnly || q.DueFrom != "" || q.DueTo != "" {
				return nil, false, nil // full-text search doesn't support these filters
			}
			found, err := p.App.Search.Orders(r.Context(), r.Actor, search.QueryFromList(text, q), q.MaxBytes)
			return found.Items, found.Next > 0, err
		})
		return err
	}
	p.ApplyCursor(r, list.Asked, &q)
	found, err := page.ReadNonEmpty(r.Context(), q, p.App.Orders.List)
	list.Rows = found.Items
	list.Prev, list.Next = p.PageLinks(r, list.Asked, found.Prev, found.Next)
	return err
}

// applyFilters adds the requested filters and sort order to q. By default, open and overdue orders
// are sorted by due date, and other lists by creation date, newest first.
func (l *orderList) applyFilters(q *vault.Query, now time.Time) {
	l.addFilters(q)
	for name, into := range map[string]*string{"due_from": &q.DueFrom, "due_to": &q.DueTo} {
		if page.DayParam(l.Asked, l.Problems, name, now); l.Problems[name] == "" {
			*into = l.Asked.Get(name)
		}
	}
	switch l.Asked.Get("show") {
	case showOpen:
		q.OpenOnly, l.defaultSort = true, "due_date"
	case showOverdue:
		q.OpenOnly, l.defaultSort = true, "due_date"
		if yesterday := dayBefore(now.Format(time.DateOnly)); q.DueTo == "" || q.DueTo > yesterday {
			q.DueTo = yesterday
		}
	default:
		l.Asked.Del("show")
	}
	l.applySort(q)
}

func dayBefore(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.AddDate(0, 0, -1).Format(time.DateOnly)
}

// setTabs sets the tabs. Each tab has its own default sort order.
func (l *orderList) setTabs() {
	for _, v := range []struct{ label, show string }{{"All", ""}, {"Open", showOpen}, {"Overdue", showOverdue}} {
		l.Views = append(l.Views, orderTab{v.label, l.addressWith("show", v.show, "sort", ""), l.Asked.Get("show") == v.show})
	}
}
