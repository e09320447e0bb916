package store

import (
	"bytes"

	"deedkeep/app/model"
)

var orders = indexedTable[model.Order]{
	table:       table[model.Order]{bucketOrders, "order"},
	indexLayout: indexLayout{indexBucket: bucketOrderIndex, columnTags: "nystw", laterColumns: 1, hasDue: true},
	sortLayout:  indexLayout{indexBucket: bucketOrderSorts, columnTags: "nystw", laterColumns: 1, sortTags: "paou"},
	textSorts: []textSort[model.Order]{
		{sort: model.SortParcel, normalize: model.NormalizeNumber, text: (*model.Order).ParcelID},
		{sort: model.SortAddress, normalize: model.NormalizeText, text: func(o *model.Order) string { return o.LookupAddress() },
			exactForms: func(o *model.Order) []string { return o.LookupAddresses() }},
	},
	columns: []indexColumn[model.Order]{
		{name: model.ColumnOrderNumber, value: func(o *model.Order) columnValue { return parseValue(o.Number) }},
		{name: model.ColumnCounty, value: func(o *model.Order) columnValue { return parseValue(o.County) }},
		{name: model.ColumnStatus, value: func(o *model.Order) columnValue { return parseValue(o.Status) }, counted: true},
		{name: model.ColumnState, value: func(o *model.Order) columnValue { return parseValue(o.State) }},
		{name: model.ColumnAssignee, value: func(o *model.Order) columnValue { return columnValue{number: o.AssigneeID} }},
	},
	fields: func(o *model.Order) indexFields {
		return indexFields{created: sortableMicros(o.CreatedAt), id: o.ID, updated: sortableMicros(o.UpdatedAt), due: sortableDays(o.DueDate),
			orderNumber: fold(o.Number), open: o.IsOpen()}
	},
	trashed: func(o *model.Order) *model.Trashed { return o.Trashed },
	cache:   func(c *caches) *cache[model.Order] { return &c.orders },
}

// NewOrderID returns the ID for a new order.
func (t *Tx) NewOrderID() (uint64, error) { return orders.nextID(t) }

// Order returns a live order. The error has kind errs.NotFound if it doesn't exist or is in
// the trash.
func (t *Tx) Order(id uint64) (model.Order, error) { return orders.getLive(t, id) }

// OrderIncludingTrash returns an order that may be in the trash. The error has kind
// errs.NotFound if it doesn't exist.
func (t *Tx) OrderIncludingTrash(id uint64) (model.Order, error) { return orders.get(t, id) }

// ListOrders returns a page of live orders. It supports filters by model.ColumnStatus,
// model.ColumnCounty, model.ColumnState, model.ColumnOrderNumber, and model.ColumnAssignee, Query.OpenOnly, ranges for
// the due date and the last change, and all sort orders except model.SortFileNumber and model.SortSequence.
func (t *Tx) ListOrders(q Query) (Page[model.Order], error) { return orders.list(t, q) }

// CountOpenOrders returns the number of live orders with an open status
// (model.IsOpenStatus) and a due date between from and to, inclusive. It stops counting at
// limit. Dates have the form YYYY-MM-DD, and "" means unbounded.
func (t *Tx) CountOpenOrders(from, to string, limit int) int {
	var pred predicate
	orders.setDueFilter(t, Query{DueFrom: from, DueTo: to, OpenOnly: true}, &pred)
	r, _ := orders.dueRange(t, &pred)
	return countKeys(r, limit)
}

// PutOrder creates or updates an order and its index entries.
func (t *Tx) PutOrder(o model.Order) error {
	old, existed, err := orders.find(t, o.ID)
	if err != nil {
		return err
	}
	t.countTransition(CountOrders, existed && old.Trashed == nil, o.Trashed == nil)
	return orders.save(t, o.ID, &old, existed, &o)
}

// RemoveOrder permanently deletes an order, live or in the trash. The error has kind
// errs.NotFound if it doesn't exist.
func (t *Tx) RemoveOrder(id uint64) error {
	old, err := orders.get(t, id)
	if err != nil {
		return err
	}
	t.countTransition(CountOrders, old.Trashed == nil, false)
	return orders.purge(t, id, &old)
}

// OrderNumberTaken reports whether a live order has this number, ignoring case.
func (t *Tx) OrderNumberTaken(number string) bool {
	prefix := append(append([]byte{tagNumber}, fold(number)...), 0)
	k, _ := t.bucket(bucketOrderIndex).Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}

// ListOrdersByID is like ListAbstractsByID but for orders.
func (t *Tx) ListOrdersByID(ids []uint64, q Query, matches func(*model.Order) bool) (Page[model.Order], int, error) {
	return orders.listByIDs(t, ids, q, matches)
}

// ScanOrders is like ScanAbstracts but for orders.
func (t *Tx) ScanOrders(from uint64, limit int) ([]model.Order, error) {
	return scanTable(t, orders.table, from, limit)
}
