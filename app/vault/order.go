package vault

import (
	"context"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Orders are the verbs on orders.
type Orders struct{ v *Vault }

// Fields gives the custom fields of orders.
func (o *Orders) Fields(ctx context.Context) (fields []title.Field, err error) {
	err = o.v.store.View(ctx, func(t *store.Tx) (err error) {
		fields, err = t.OrderFields()
		return err
	})
	return fields, err
}

// Create makes an order; Invalid with every wrong field at once.
func (o *Orders) Create(ctx context.Context, actor title.Actor, draft title.OrderDraft) (title.Order, error) {
	// The rules are applied before the turn of the one writer, which only looks
	// whether they are still the same.
	var judged judgedOrder
	if err := o.v.store.View(ctx, func(t *store.Tx) (err error) { judged, err = o.judge(t, draft); return err }); err != nil {
		return title.Order{}, err
	}
	var made title.Order
	err := o.v.write(ctx, actor, func(t *store.Tx) (err error) {
		made, err = o.check(t, draft, judged)
		return err
	}, func(t *store.Tx) (err error) {
		if made.ID, err = t.NewOrderID(); err != nil {
			return err
		}
		at := o.v.now()
		made.Version, made.CreatedAt, made.UpdatedAt = 1, at, at
		if err := t.PutOrder(made); err != nil {
			return err
		}
		return o.v.event(t, at, actor, "order.created", record("order", made.ID), nil)
	})
	return made, err
}

// judgedOrder is a draft with what one state of the workspace says of it.
type judgedOrder struct {
	fields   []title.Field
	statuses []string
	order    title.Order
	refused  title.Fields
}

func (o *Orders) judge(t *store.Tx, draft title.OrderDraft) (j judgedOrder, err error) {
	if j.fields, err = t.OrderFields(); err != nil {
		return j, err
	}
	if j.statuses, err = t.OrderStatuses(); err != nil {
		return j, err
	}
	j.order, j.refused = draft.Check(j.fields, o.v.set.Rules)
	if len(j.statuses) > 0 {
		j.order.Status = j.statuses[0]
	}
	if o.v.set.UniqueOrderNumber && j.order.Number != "" && t.OrderNumberTaken(j.order.Number) {
		taken := title.FieldError{Field: "order_number", Sentences: []string{title.Taken("order_number")}}
		j.refused = append(title.Fields{taken}, j.refused...)
	}
	return j, j.refused.Err()
}

// check gives the order if the judgement still holds, else judges anew.
func (o *Orders) check(t *store.Tx, draft title.OrderDraft, j judgedOrder) (title.Order, error) {
	fields, err := t.OrderFields()
	if err != nil {
		return title.Order{}, err
	}
	statuses, err := t.OrderStatuses()
	if err != nil {
		return title.Order{}, err
	}
	if !same(fields, j.fields) || !same(statuses, j.statuses) || o.v.set.UniqueOrderNumber {
		j, err = o.judge(t, draft)
	}
	return j.order, err
}

// same reports whether two reads of a list gave the same one: the store hands out
// one copy of a list until it is written again.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
