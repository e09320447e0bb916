package store

import (
	"bytes"

	"deedkeep/app/model"
)

var orders = listing[model.Order]{
	table:  table[model.Order]{bucketOrders, "order"},
	layout: layout{bucket: bucketOrderIndex, tags: "nyst", due: true},
	sorts:  layout{bucket: bucketOrderSorts, tags: "nyst", sorts: "paou"},
	texts: []text[model.Order]{
		{sort: SortParcel, form: model.Squeezed, of: (*model.Order).Parcel},
		{sort: SortAddress, form: model.Plain, of: func(o *model.Order) string { return o.Street() }, whole: func(o *model.Order) []string { return o.Streets() }},
	},
	columns: []column[model.Order]{
		{name: ColumnOrderNumber, of: func(o *model.Order) value { return valueOf(o.Number) }},
		{name: ColumnCounty, of: func(o *model.Order) value { return valueOf(o.County) }},
		{name: ColumnStatus, of: func(o *model.Order) value { return valueOf(o.Status) }, tally: true},
		{name: ColumnState, of: func(o *model.Order) value { return valueOf(o.State) }},
	},
	card: func(o *model.Order) card {
		return card{created: micros(o.CreatedAt), id: o.ID, updated: micros(o.UpdatedAt), due: days(o.DueDate), number: fold(o.Number), open: o.Open()}
	},
	trashed: func(o *model.Order) *model.Trashed { return o.Trashed },
}

// NewOrderID gives the next number of an order.
func (t *Tx) NewOrderID() (uint64, error) { return orders.next(t) }

// Order reads one; NotFound when absent or in the trash.
func (t *Tx) Order(id uint64) (model.Order, error) { return orders.live(t, id) }

// OrderIncludingTrash reads one, in the trash or not; NotFound when absent.
func (t *Tx) OrderIncludingTrash(id uint64) (model.Order, error) { return orders.get(t, id) }

// ListOrders gives a page of the orders, without those in the trash. It takes
// ColumnStatus, ColumnCounty, ColumnState and ColumnOrderNumber, Query.Open, bounds of the due
// date and of the last change, and every sort but SortFileNumber.
func (t *Tx) ListOrders(q Query) (Page[model.Order], error) { return orders.list(t, q) }

// CountOpenOrders counts the open orders (title.OpenStatus) due no sooner than one YYYY-MM-DD
// and no later than another, "" being open, up to most.
func (t *Tx) CountOpenOrders(from, to string, most int) int {
	var j judge
	orders.judgeDue(t, Query{DueFrom: from, DueTo: to, OpenOnly: true}, &j)
	g, _ := orders.dueGround(t, &j)
	return count(g, most)
}

// PutOrder writes one, new or changed, and its places in the indexes.
func (t *Tx) PutOrder(o model.Order) error {
	old, known, err := orders.find(t, o.ID)
	if err != nil {
		return err
	}
	t.step(CountOrders, known && old.Trashed == nil, o.Trashed == nil)
	return orders.write(t, o.ID, &old, known, &o)
}

// RemoveOrder takes one away for good, in the trash or not; NotFound when absent.
func (t *Tx) RemoveOrder(id uint64) error {
	old, err := orders.get(t, id)
	if err != nil {
		return err
	}
	t.step(CountOrders, old.Trashed == nil, false)
	return orders.erase(t, id, &old)
}

// OrderNumberTaken reports whether an order that is not in the trash has this
// number, compared without case.
func (t *Tx) OrderNumberTaken(number string) bool {
	prefix := append(append([]byte{tagNumber}, fold(number)...), 0)
	k, _ := t.bucket(bucketOrderIndex).Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}
