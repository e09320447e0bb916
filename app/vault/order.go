package vault

import (
	"context"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Orders are the verbs on orders.
type Orders struct{ v *Vault }

var OrderOps = recordOps[model.Order]{
	Name:              "order",
	get:               (*store.Tx).Order,
	getIncludingTrash: (*store.Tx).OrderIncludingTrash,
	version:           func(o model.Order) uint64 { return o.Version },
	trashed:           func(o model.Order) *model.Trashed { return o.Trashed },
	changes:           model.Order.Changes,
	save: func(t *store.Tx, now model.Order, at time.Time) (model.Order, error) {
		now.Version, now.UpdatedAt = now.Version+1, nextUpdateTime(at, now.UpdatedAt)
		return now, t.PutOrder(now)
	},
}

// Fields gives the custom fields of orders.
func (o *Orders) Fields(ctx context.Context) (fields []model.Field, err error) {
	err = o.v.Store.View(ctx, func(t *store.Tx) (err error) {
		fields, err = t.OrderFields()
		return err
	})
	return fields, err
}

// Create makes an order; Invalid with every wrong field at once.
func (o *Orders) Create(ctx context.Context, actor model.Actor, draft model.OrderDraft, keep Idempotency[model.Order]) (model.Order, error) {
	// The rules are applied before the turn of the one writer, which only looks
	// whether they are still the same.
	var judged validatedOrder
	if err := o.v.Store.View(ctx, func(t *store.Tx) (err error) { judged, err = o.validate(t, draft); return err }); err != nil {
		return model.Order{}, err
	}
	var made model.Order
	err := o.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := keep.CheckUnused(t, o.v); err != nil {
			return err
		}
		made, err = o.revalidate(t, draft, judged)
		return err
	}, func(t *store.Tx) (err error) {
		if made.ID, err = t.NewOrderID(); err != nil {
			return err
		}
		at := o.v.Now()
		made.Version, made.CreatedAt, made.UpdatedAt = 1, at, at
		if err := t.PutOrder(made); err != nil {
			return err
		}
		if err := o.v.AddEvent(t, at, actor, "order.created", txn.RecordRef("order", made.ID), map[string]string{"number": made.Number}); err != nil {
			return err
		}
		return keep.SaveResponse(t, at, made)
	})
	return made, err
}

// Get reads an order; NotFound when there is none.
func (o *Orders) Get(ctx context.Context, id uint64) (order model.Order, err error) {
	err = o.v.Store.View(ctx, func(t *store.Tx) (err error) {
		order, err = t.Order(id)
		return err
	})
	return order, err
}

// List reads a page of orders.
func (o *Orders) List(ctx context.Context, q Query) (Page[model.Order], error) {
	return list(ctx, o.v, q, (*store.Tx).ListOrders)
}

// Patch changes what was sent of an order; Invalid with every wrong field at once,
// Stale when it is not what was expected.
func (o *Orders) Patch(ctx context.Context, actor model.Actor, id uint64, p model.OrderPatch, match Match) (model.Order, error) {
	return patch(ctx, o.v, OrderOps, actor, id, match, func(t *store.Tx, old model.Order) (model.Order, error) {
		fields, err := t.OrderFields()
		if err != nil {
			return old, err
		}
		statuses, err := t.OrderStatuses()
		if err != nil {
			return old, err
		}
		now, refused := p.Check(old, statuses, fields, o.v.Settings.Rules)
		if model.Fold(now.Number) != model.Fold(old.Number) {
			refused = o.checkUniqueNumber(t, now.Number, refused)
		}
		return now, refused.Err()
	})
}

// Trash moves an order into the trash.
func (o *Orders) Trash(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	return trash(ctx, o.v, OrderOps, actor, id, match, "trashed", func(t *store.Tx, live model.Order, in model.Trashed) (map[string]string, error) {
		live.Trashed = &in
		return nil, t.PutOrder(live)
	})
}

// Restore takes an order out of the trash; Invalid when its number must be unique
// and was taken meanwhile. One that is live stays as it is.
func (o *Orders) Restore(ctx context.Context, actor model.Actor, id uint64, keep Idempotency[model.Order]) (model.Order, error) {
	return restore(ctx, o.v, OrderOps, actor, id, keep, func(t *store.Tx, in model.Order) error {
		return o.checkUniqueNumber(t, in.Number, nil).Err()
	}, func(t *store.Tx, in model.Order, _ time.Time) (model.Order, map[string]string, error) {
		in.Trashed = nil
		return in, nil, t.PutOrder(in)
	})
}

// validatedOrder is a draft with what one state of the workspace says of it.
type validatedOrder struct {
	fields   []model.Field
	statuses []string
	order    model.Order
	rejected errs.Fields
}

func (o *Orders) validate(t *store.Tx, draft model.OrderDraft) (j validatedOrder, err error) {
	if j.fields, err = t.OrderFields(); err != nil {
		return j, err
	}
	if j.statuses, err = t.OrderStatuses(); err != nil {
		return j, err
	}
	j.order, j.rejected = draft.Check(j.fields, o.v.Settings.Rules)
	if len(j.statuses) > 0 {
		j.order.Status = j.statuses[0]
	}
	j.rejected = o.checkUniqueNumber(t, j.order.Number, j.rejected)
	return j, j.rejected.Err()
}

// checkUniqueNumber adds the refusal of a number that another live order has, before all
// others, where the settings want none twice.
func (o *Orders) checkUniqueNumber(t *store.Tx, number string, refused errs.Fields) errs.Fields {
	if !o.v.Settings.UniqueOrderNumber || number == "" || !t.OrderNumberTaken(number) {
		return refused
	}
	taken := errs.FieldError{Field: "order_number", Sentences: []string{model.MsgTaken("order_number")}}
	return append(errs.Fields{taken}, refused...)
}

// revalidate gives the order if the judgement still holds, else judges anew.
func (o *Orders) revalidate(t *store.Tx, draft model.OrderDraft, j validatedOrder) (model.Order, error) {
	fields, err := t.OrderFields()
	if err != nil {
		return model.Order{}, err
	}
	statuses, err := t.OrderStatuses()
	if err != nil {
		return model.Order{}, err
	}
	if !sameList(fields, j.fields) || !sameList(statuses, j.statuses) || o.v.Settings.UniqueOrderNumber {
		j, err = o.validate(t, draft)
	}
	return j.order, err
}

// sameList reports whether two reads of a list gave the same one: the store hands out
// one copy of a list until it is written again.
func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
