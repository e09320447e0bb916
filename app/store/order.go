package store

import (
	"bytes"
	"fmt"

	"deedkeep/app/title"
)

// NewOrderID gives the next number of an order.
func (t *Tx) NewOrderID() (uint64, error) { return orders.next(t) }

// Order reads one; NotFound when absent.
func (t *Tx) Order(id uint64) (title.Order, error) { return orders.get(t, id) }

// PutOrder writes one, new or changed, and its place among the order numbers.
func (t *Tx) PutOrder(o title.Order) error {
	old, known, err := orders.find(t, o.ID)
	if err != nil {
		return err
	}
	if !known {
		if err := t.add(CountOrders, 1); err != nil {
			return err
		}
	} else if old.Number != o.Number {
		if err := t.bucket(bucketOrderNumbers).Delete(orderNumberKey(old.Number, o.ID)); err != nil {
			return fmt.Errorf("move order %d: %w", o.ID, err)
		}
	}
	if err := mark(t.bucket(bucketOrderNumbers), orderNumberKey(o.Number, o.ID)); err != nil {
		return fmt.Errorf("index order %d: %w", o.ID, err)
	}
	return orders.put(t, o.ID, o)
}

// OrderNumberTaken reports whether an order has this number, compared without case.
func (t *Tx) OrderNumberTaken(number string) bool {
	prefix := orderNumberKey(number, 0)[:len(title.Fold(number))+1]
	k, _ := t.bucket(bucketOrderNumbers).Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}

// orderNumberKey cannot run into another's: a number holds no NUL.
func orderNumberKey(text string, id uint64) []byte {
	return append(append([]byte(title.Fold(text)), 0), number(id)...)
}
