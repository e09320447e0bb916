package records

import (
	"context"
	"net/http"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

const (
	deskRows    = 10   // maximum number of orders in a block of the desk
	deskScanned = 3000 // maximum number of index entries read for a block
	// newFor is how long an order counts as new for a user who never marked orders as seen.
	newFor = 7 * page.Day
)

// deskOrders is a block of orders on the desk. Path is the list that has all of them.
type deskOrders struct {
	ID, Heading, Path, Empty string
	Tone                     string // CSS class of the number of orders
	Count                    string
	Rows                     []deskOrder
	NoAssignee               bool      // all rows have the same assignee, or none
	Take                     bool      // the visitor can take each order
	Since                    time.Time // since when the orders are new to the visitor
	Seen                     string    // the time of this page, to mark the orders that it shows as seen
}

// deskOrder is an order on the desk.
type deskOrder struct {
	Order    model.Order
	Assignee string
}

// Product returns the product that the client ordered.
func (o deskOrder) Product() string { return o.Order.Custom.Text("product") }

// Rush returns the priority of the order unless it is the usual one.
func (o deskOrder) Rush() string {
	if rush := o.Order.Custom.Text("rush"); !strings.EqualFold(rush, "standard") && !strings.EqualFold(rush, "no") {
		return rush
	}
	return ""
}

// newDeskOrders returns the rows of a block.
func newDeskOrders(staff titlework.Staff, orders []model.Order) (rows []deskOrder) {
	for _, o := range orders {
		rows = append(rows, deskOrder{o, staff.Name(o.AssigneeID)})
	}
	return rows
}

// addOrders adds the blocks of orders to the desk: the visitor's own, those that are due, those without an assignee, and
// new ones. The cost doesn't depend on the number of records.
func (p *Pages) addOrders(r *page.Request, v *dashboardView) error {
	staff, err := p.work.Staff(r.Context())
	if err != nil {
		return err
	}
	since, err := p.ordersNewSince(r)
	if err != nil {
		return err
	}
	mine, unassigned := vault.Query{OpenOnly: true, Sort: model.SortDue}, vault.Query{OpenOnly: true, Sort: model.SortDue}
	mine.Filters = []vault.Filter{assigneeFilter(r.Visitor.ID)}
	unassigned.Filters = []vault.Filter{assigneeFilter(0)}
	blocks := []struct {
		of    *deskOrders
		query vault.Query
	}{
		{&deskOrders{ID: "mine", Heading: "My orders", Path: "/orders?show=open&assignee=" + assigneeMe, NoAssignee: true,
			Empty: "No open orders are assigned to you."}, mine},
		{&deskOrders{ID: "unassigned", Heading: "Unassigned", Path: "/orders?show=open&assignee=" + assigneeNone, NoAssignee: true,
			Take: r.MayWrite()}, unassigned},
		{&deskOrders{ID: "new", Heading: "New orders", Path: "/orders?show=" + showNew, Since: since,
			Seen: p.Now().Format(time.RFC3339Nano)},
			vault.Query{CreatedFrom: since, Descending: true}},
	}
	for _, b := range blocks {
		if err := p.readBlock(r.Context(), staff, b.of, b.query); err != nil {
			return err
		}
	}
	if r.MayWrite() || len(blocks[0].of.Rows) > 0 {
		v.Mine = blocks[0].of
	}
	v.Unassigned, v.NewOrders = blocks[1].of, blocks[2].of
	v.OverdueOrders = deskOrders{ID: "overdue", Heading: "Overdue", Path: "/orders?show=overdue", Tone: "warn",
		Count: atLeast(v.Overdue.Count, v.Overdue.More), Rows: newDeskOrders(staff, v.Overdue.Orders)}
	v.DueOrders = deskOrders{ID: "due", Heading: "Due within " + page.Plural(v.DueDays, "day", "days"),
		Path:  "/orders?show=open&due_from=" + v.Today + "&due_to=" + v.DueTo,
		Count: atLeast(v.Due.Count, v.Due.More), Rows: newDeskOrders(staff, v.Due.Orders)}
	return nil
}

// readBlock reads the first orders of a block.
func (p *Pages) readBlock(ctx context.Context, staff titlework.Staff, b *deskOrders, q vault.Query) error {
	q.Limit, q.MaxScanned = deskRows, deskScanned
	found, err := p.App.Orders.List(ctx, q)
	b.Rows = newDeskOrders(staff, found.Items)
	b.Count = atLeast(len(b.Rows), found.Next != nil)
	return err
}

// atLeast formats a number that may be incomplete.
func atLeast(n int, more bool) string {
	if more {
		return page.FormatCount(n) + "+"
	}
	return page.FormatCount(n)
}

// ordersNewSince returns the time since which orders are new to the visitor.
func (p *Pages) ordersNewSince(r *page.Request) (time.Time, error) {
	since := p.Now().Add(-newFor)
	if !r.Visitor.Known() {
		return since, nil
	}
	user, err := p.App.Users.Get(r.Context(), r.Visitor.ID)
	switch {
	case err != nil:
		return since, err
	case user.OrdersSeenAt != nil:
		return *user.OrdersSeenAt, nil
	case user.CreatedAt.After(since):
		return user.CreatedAt, nil
	}
	return since, nil
}

// markOrdersSeen ends that the orders on the desk count as new. Those that arrived after the desk was shown still do.
func (p *Pages) markOrdersSeen(r *page.Request) error {
	at, err := time.Parse(time.RFC3339Nano, r.PostForm.Get("at"))
	if now := p.Now(); err != nil || at.After(now) {
		at = now
	}
	if err := p.App.Users.SetOrdersSeen(r.Context(), r.Actor, at.Truncate(time.Microsecond).Add(time.Microsecond)); err != nil {
		return err
	}
	return p.RedirectWithNotice(r, "/", "New orders marked as seen.")
}

// failedPage lists the documents whose processing failed.
func (p *Pages) failedPage(r *page.Request) error {
	failed, err := p.App.FailedDocuments(r.Context())
	if err != nil {
		return err
	}
	return p.RenderPage(r, http.StatusOK, "failed.html", page.Page{Heading: "Processing failed", Section: "desk", Data: failed})
}
