package store

import (
	"bytes"

	"deedkeep/app/model"
)

var orders = indexedTable[model.Order]{
	table:       table[model.Order]{bucketOrders, "order"},
	indexLayout: indexLayout{indexBucket: bucketOrderIndex, columnTags: "nyst", hasDue: true},
	sortLayout:  indexLayout{indexBucket: bucketOrderSorts, columnTags: "nyst", sortTags: "paou"},
	textSorts: []textSort[model.Order]{
		{sort: SortParcel, normalize: model.NormalizeNumber, text: (*model.Order).ParcelID},
		{sort: SortAddress, normalize: model.NormalizeText, text: func(o *model.Order) string { return o.LookupAddress() }, exactForms: func(o *model.Order) []string { return o.LookupAddresses() }},
	},
	columns: []indexColumn[model.Order]{
		{name: ColumnOrderNumber, value: func(o *model.Order) columnValue { return parseValue(o.Number) }},
		{name: ColumnCounty, value: func(o *model.Order) columnValue { return parseValue(o.County) }},
		{name: ColumnStatus, value: func(o *model.Order) columnValue { return parseValue(o.Status) }, counted: true},
		{name: ColumnState, value: func(o *model.Order) columnValue { return parseValue(o.State) }},
	},
	fields: func(o *model.Order) indexFields {
		return indexFields{created: sortableMicros(o.CreatedAt), id: o.ID, updated: sortableMicros(o.UpdatedAt), due: sortableDays(o.DueDate), orderNumber: fold(o.Number), open: o.IsOpen()}
	},
	trashed: func(o *model.Order) *model.Trashed { return o.Trashed },
}

// NewOrderID gives the next number of an order.
func (t *Tx) NewOrderID() (uint64, error) { return orders.nextID(t) }

// Order reads one; NotFound when absent or in the trash.
func (t *Tx) Order(id uint64) (model.Order, error) { return orders.getLive(t, id) }

// OrderIncludingTrash reads one, in the trash or not; NotFound when absent.
func (t *Tx) OrderIncludingTrash(id uint64) (model.Order, error) { return orders.get(t, id) }

// ListOrders gives a page of the orders, without those in the trash. It takes
// ColumnStatus, ColumnCounty, ColumnState and ColumnOrderNumber, Query.Open, bounds of the due
// date and of the last change, and every sort but SortFileNumber.
func (t *Tx) ListOrders(q Query) (Page[model.Order], error) { return orders.list(t, q) }

// CountOpenOrders counts the open orders (title.OpenStatus) due no sooner than one YYYY-MM-DD
// and no later than another, "" being open, up to most.
func (t *Tx) CountOpenOrders(from, to string, most int) int {
	var j predicate
	orders.setDueFilter(t, Query{DueFrom: from, DueTo: to, OpenOnly: true}, &j)
	g, _ := orders.dueRange(t, &j)
	return countKeys(g, most)
}

// PutOrder writes one, new or changed, and its places in the indexes.
func (t *Tx) PutOrder(o model.Order) error {
	old, known, err := orders.find(t, o.ID)
	if err != nil {
		return err
	}
	t.countTransition(CountOrders, known && old.Trashed == nil, o.Trashed == nil)
	return orders.save(t, o.ID, &old, known, &o)
}

// RemoveOrder takes one away for good, in the trash or not; NotFound when absent.
func (t *Tx) RemoveOrder(id uint64) error {
	old, err := orders.get(t, id)
	if err != nil {
		return err
	}
	t.countTransition(CountOrders, old.Trashed == nil, false)
	return orders.purge(t, id, &old)
}

// OrderNumberTaken reports whether an order that is not in the trash has this
// number, compared without case.
func (t *Tx) OrderNumberTaken(number string) bool {
	prefix := append(append([]byte{tagNumber}, fold(number)...), 0)
	k, _ := t.bucket(bucketOrderIndex).Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}

// ListOrdersByID is ListAbstractsByID for orders.
func (t *Tx) ListOrdersByID(ids []uint64, q Query) (Page[model.Order], int, error) {
	return orders.listByIDs(t, ids, q)
}

// ScanOrders is ScanAbstracts for orders.
func (t *Tx) ScanOrders(from uint64, limit int) ([]model.Order, error) {
	return scanTable(t, orders.table, from, limit)
}
