package vault

import (
	"context"
	"errors"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Orders creates, lists, changes, and deletes orders.
type Orders struct{ v *Vault }

// OrderOps reads and writes orders for the shared operations.
var OrderOps = recordOps[model.Order]{
	Name:              "order",
	get:               (*store.Tx).Order,
	getIncludingTrash: (*store.Tx).OrderIncludingTrash,
	version:           func(o model.Order) uint64 { return o.Version },
	trashed:           func(o model.Order) *model.Trashed { return o.Trashed },
	changes:           model.Order.Changes,
	keep:              keep[model.Order],
	save: func(_ *Vault, t *store.Tx, now model.Order, at time.Time) (model.Order, error) {
		NextVersion(&now.Version, &now.UpdatedAt, at)
		return now, t.PutOrder(now)
	},
}

// Fields returns the custom fields of orders.
func (o *Orders) Fields(ctx context.Context) ([]model.Field, error) {
	return store.Read(ctx, o.v.Store, (*store.Tx).OrderFields)
}

// Create creates an order. It returns Invalid, listing every invalid field.
func (o *Orders) Create(ctx context.Context, actor model.Actor, draft model.OrderDraft,
	idempotency Idempotency[model.Order]) (model.Order, error) {
	// Validate outside the write transaction, because only one can run at a time. The
	// write transaction only checks that the definitions haven't changed.
	validated, err := store.Read(ctx, o.v.Store, func(t *store.Tx) (validatedOrder, error) { return o.validate(t, draft) })
	if err != nil {
		return model.Order{}, err
	}
	var created model.Order
	err = o.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, o.v); err != nil {
			return err
		}
		created, err = o.revalidate(t, draft, validated)
		return err
	}, func(t *store.Tx) (err error) {
		if created.ID, err = t.NewOrderID(); err != nil {
			return err
		}
		at := o.v.Now()
		created.Version, created.CreatedAt, created.UpdatedAt = 1, at, at
		if err := t.PutOrder(created); err != nil {
			return err
		}
		detail := map[string]string{"number": created.Number}
		if err := o.v.AddEvent(t, at, actor, "order.created", model.RecordRef("order", created.ID), detail); err != nil {
			return err
		}
		return idempotency.SaveResponse(t, at, created)
	})
	return created, err
}

// Get returns an order, or NotFound.
func (o *Orders) Get(ctx context.Context, id uint64) (model.Order, error) {
	return store.Read(ctx, o.v.Store, func(t *store.Tx) (model.Order, error) { return t.Order(id) })
}

// List returns a page of orders.
func (o *Orders) List(ctx context.Context, q Query) (Page[model.Order], error) {
	return list(ctx, o.v, q, (*store.Tx).ListOrders)
}

// Patch changes the fields set in p. It returns Invalid, listing every invalid field, or
// PreconditionFailed if match doesn't accept the current version.
func (o *Orders) Patch(ctx context.Context, actor model.Actor, id uint64, p model.OrderPatch, match Match) (model.Order, error) {
	return patch(ctx, o.v, OrderOps, actor, id, match, o.patched(p))
}

// Edit is like Patch, and returns the change for UndoEdit, if there is one.
func (o *Orders) Edit(ctx context.Context, actor model.Actor, id uint64, p model.OrderPatch) ([]Edit, error) {
	var now model.Order
	return o.v.run(ctx, actor, patching(o.v, OrderOps, actor, id, Match{}, o.patched(p), &now))
}

// patched returns the function that applies a patch.
func (o *Orders) patched(p model.OrderPatch) func(*store.Tx, model.Order) (model.Order, error) {
	return func(t *store.Tx, old model.Order) (model.Order, error) {
		definitions, err := orderDefinitions(t)
		if err != nil {
			return old, err
		}
		now, rejected := p.Check(old, definitions.Statuses, definitions.Fields, o.v.Settings.Rules, canWork(t, old.AssigneeID))
		if model.Fold(now.Number) != model.Fold(old.Number) {
			rejected = o.checkUniqueNumber(t, now.Number, rejected)
		}
		return now, rejected.Err()
	}
}

// restoreFields restores the fields that an order had before a change. It returns Invalid if they aren't valid any longer,
// if the assignee can't work on it any longer, or if order numbers must be unique and another order has the number now.
func (o *Orders) restoreFields(t *store.Tx, now, before model.Order) (model.Order, error) {
	definitions, err := orderDefinitions(t)
	if err != nil {
		return now, err
	}
	rejected := model.CheckRestored(now.Status, before.Status, definitions.Statuses, now.Custom, before.Custom, definitions.Fields,
		o.v.Settings.Rules)
	if before.AssigneeID != 0 && !canWork(t, now.AssigneeID)(before.AssigneeID) {
		rejected.Add("assignee", errs.InvalidChoice)
	}
	before.Version, before.UpdatedAt, before.Trashed = now.Version, now.UpdatedAt, now.Trashed
	if model.Fold(now.Number) != model.Fold(before.Number) {
		rejected = o.checkUniqueNumber(t, before.Number, rejected)
	}
	return before, rejected.Err()
}

// Trash moves an order to the trash.
func (o *Orders) Trash(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	return trash(ctx, o.v, OrderOps, actor, id, match, "trashed",
		func(t *store.Tx, live model.Order, in model.Trashed) (map[string]string, error) {
			live.Trashed = &in
			return nil, t.PutOrder(live)
		})
}

// Restore restores an order from the trash. If order numbers must be unique and another
// live order has the same number, it returns Invalid. If the order is not in the trash,
// it changes nothing.
func (o *Orders) Restore(ctx context.Context, actor model.Actor, id uint64, idempotency Idempotency[model.Order]) (model.Order, error) {
	return restore(ctx, o.v, OrderOps, actor, id, idempotency, func(t *store.Tx, in model.Order) error {
		return o.checkUniqueNumber(t, in.Number, nil).Err()
	}, func(t *store.Tx, in model.Order, _ time.Time) (model.Order, map[string]string, error) {
		in.Trashed = nil
		return in, nil, t.PutOrder(in)
	})
}

// validatedOrder is a validated draft and the definitions used to validate it.
type validatedOrder struct {
	definitions model.Template
	order       model.Order
}

// validate validates a draft against the current definitions.
func (o *Orders) validate(t *store.Tx, draft model.OrderDraft) (result validatedOrder, err error) {
	if result.definitions, err = orderDefinitions(t); err != nil {
		return result, err
	}
	var rejected errs.Fields
	result.order, rejected = draft.Check(result.definitions.Fields, o.v.Settings.Rules)
	if statuses := result.definitions.Statuses; len(statuses) > 0 {
		result.order.Status = statuses[0]
	}
	return result, o.checkUniqueNumber(t, result.order.Number, rejected).Err()
}

// checkUniqueNumber returns rejected. If order numbers must be unique and another live
// order has this number, it first prepends an error.
func (o *Orders) checkUniqueNumber(t *store.Tx, number string, rejected errs.Fields) errs.Fields {
	if !o.v.Settings.UniqueOrderNumber || number == "" || !t.OrderNumberTaken(number) {
		return rejected
	}
	var all errs.Fields
	all.Add("order_number", errs.Taken)
	return append(all, rejected...)
}

// revalidate returns the validated order. It validates the draft again if the definitions
// have changed or order numbers must be unique.
func (o *Orders) revalidate(t *store.Tx, draft model.OrderDraft, validated validatedOrder) (model.Order, error) {
	definitions, err := orderDefinitions(t)
	if err == nil && (!sameDefinitions(&definitions, &validated.definitions) || o.v.Settings.UniqueOrderNumber) {
		validated, err = o.validate(t, draft)
	}
	return validated.order, err
}

// sameList reports whether a list has stayed the same between two reads. It compares the
// slices by address, because the store returns the same slice until the list is written.
func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Statuses returns the defined order statuses. New orders get the first one.
func (o *Orders) Statuses(ctx context.Context) (list []string, err error) {
	list, err = store.Read(ctx, o.v.Store, (*store.Tx).OrderStatuses)
	return slices.Clone(list), err
}

// EditFields replaces the custom fields of orders. It returns PreconditionFailed if seen is
// neither "" nor the fingerprint of the current fields, and Invalid, listing every broken
// rule. If orders would lose values, it returns Conflict. If dry is true, it writes nothing
// and lists the conflicts in the result's Conflicts instead of returning an error.
func (o *Orders) EditFields(ctx context.Context, actor model.Actor, fields []model.Field, seen string, dry bool) (DefinitionResult, error) {
	fields, rejected := model.CheckOrderFields(fields)
	if err := rejected.Err(); err != nil {
		return DefinitionResult{}, err
	}
	return o.changeDefinitions(ctx, actor, dry, "order_fields.changed", func(old model.Template) (model.Template, []model.Change, error) {
		changes := model.FieldChanges(old.Fields, fields)
		err := checkFingerprint(model.Template{Fields: old.Fields}, seen)
		old.Fields = fields
		return old, changes, err
	}, func(t *store.Tx) error { return t.PutOrderFields(fields) })
}

// EditStatuses replaces the statuses of orders. The parameters and errors are those of
// EditFields.
func (o *Orders) EditStatuses(ctx context.Context, actor model.Actor, statuses []string, seen string, dry bool) (DefinitionResult, error) {
	statuses, rejected := model.CheckStatuses(statuses)
	if err := rejected.Err(); err != nil {
		return DefinitionResult{}, err
	}
	return o.changeDefinitions(ctx, actor, dry, "order_statuses.changed", func(old model.Template) (model.Template, []model.Change, error) {
		changes := model.StatusChanges(old.Statuses, statuses)
		err := checkFingerprint(model.Template{Statuses: old.Statuses}, seen)
		old.Statuses = statuses
		return old, changes, err
	}, func(t *store.Tx) error { return t.PutOrderStatuses(statuses) })
}

// checkFingerprint returns errStaleDefinitions if seen is neither "" nor the fingerprint
// of now.
func checkFingerprint(now model.Template, seen string) error {
	if seen != "" && now.Fingerprint() != seen {
		return errStaleDefinitions
	}
	return nil
}

// orderDefinitions returns the custom fields and statuses of orders in the form of a
// template.
func orderDefinitions(t *store.Tx) (d model.Template, err error) {
	if d.Fields, err = t.OrderFields(); err != nil {
		return d, err
	}
	d.Statuses, err = t.OrderStatuses()
	return d, err
}

// changeDefinitions calls Vault.changeDefinitions for the fields and statuses of orders.
func (o *Orders) changeDefinitions(ctx context.Context, actor model.Actor, dry bool, kind string,
	change func(old model.Template) (model.Template, []model.Change, error), save func(*store.Tx) error) (DefinitionResult, error) {
	return o.v.changeDefinitions(ctx, actor, dry, scanOrderImpact, func(t *store.Tx) (p definitionPlan, err error) {
		old, err := orderDefinitions(t)
		if err != nil {
			return p, err
		}
		now, changes, err := change(old)
		if err != nil {
			return p, err
		}
		if p.impacts = model.TemplateImpact(old, now); len(changes) > 0 {
			p.changed = []DefinitionChange{{Changes: changes}}
		}
		return p, nil
	}, func(t *store.Tx, changed []DefinitionChange) error {
		if len(changed) == 0 {
			return nil // a concurrent request has already made the same change
		}
		return errors.Join(save(t), o.v.AddEntry(t, model.Event{At: o.v.Now(), Actor: actor, Kind: kind, Changes: changed[0].Changes}))
	})
}
