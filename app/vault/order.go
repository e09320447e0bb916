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
	var made title.Order
	err := o.v.write(ctx, func(t *store.Tx) (err error) {
		made, err = o.check(t, draft)
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

func (o *Orders) check(t *store.Tx, draft title.OrderDraft) (title.Order, error) {
	fields, err := t.OrderFields()
	if err != nil {
		return title.Order{}, err
	}
	statuses, err := t.OrderStatuses()
	if err != nil {
		return title.Order{}, err
	}
	made, refused := draft.Check(fields, o.v.set.Rules)
	if o.v.set.UniqueOrderNumber && made.Number != "" && t.OrderNumberTaken(made.Number) {
		refused = append(title.Fields{{Field: "order_number", Sentences: []string{title.Taken("order_number")}}}, refused...)
	}
	if len(statuses) > 0 {
		made.Status = statuses[0]
	}
	return made, refused.Err()
}
