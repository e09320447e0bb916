package vault

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Statuses gives the statuses of orders; the first is given to new ones.
func (o *Orders) Statuses(ctx context.Context) (list []string, err error) {
	err = o.v.store.View(ctx, func(t *store.Tx) (err error) {
		list, err = t.OrderStatuses()
		return err
	})
	return slices.Clone(list), err
}

// ImportFields puts other custom fields of orders in the place of those there are.
// With dry nothing is written. It returns Invalid with every broken rule at once, and
// Conflict with what orders would lose, with dry as a value.
func (o *Orders) ImportFields(ctx context.Context, actor title.Actor, fields []title.Field, dry bool) (Definitions, error) {
	fields, refused := title.CheckOrderFields(fields)
	if err := refused.Err(); err != nil {
		return Definitions{}, err
	}
	return o.define(ctx, actor, dry, "order_fields.changed", func(old title.Template) (title.Template, []title.Change) {
		changes := title.FieldChanges(old.Fields, fields)
		old.Fields = fields
		return old, changes
	}, func(t *store.Tx) error { return t.PutOrderFields(fields) })
}

// ImportStatuses is ImportFields for the statuses of orders.
func (o *Orders) ImportStatuses(ctx context.Context, actor title.Actor, statuses []string, dry bool) (Definitions, error) {
	statuses, refused := title.CheckStatuses(statuses)
	if err := refused.Err(); err != nil {
		return Definitions{}, err
	}
	return o.define(ctx, actor, dry, "order_statuses.changed", func(old title.Template) (title.Template, []title.Change) {
		changes := title.StatusChanges(old.Statuses, statuses)
		old.Statuses = statuses
		return old, changes
	}, func(t *store.Tx) error { return t.PutOrderStatuses(statuses) })
}

// orderDefinitions are fields and statuses of orders as if they were a template's.
func orderDefinitions(t *store.Tx) (d title.Template, err error) {
	if d.Fields, err = t.OrderFields(); err != nil {
		return d, err
	}
	d.Statuses, err = t.OrderStatuses()
	return d, err
}

// define is Templates.change for the definitions of orders.
func (o *Orders) define(ctx context.Context, actor title.Actor, dry bool, kind string,
	wish func(old title.Template) (title.Template, []title.Change), put func(*store.Tx) error) (Definitions, error) {
	for {
		var out Definitions
		var lost []title.Loss
		plan := func(t *store.Tx) error {
			old, err := orderDefinitions(t)
			if err != nil {
				return err
			}
			now, changes := wish(old)
			out.Changed, lost = nil, title.Losses(old, now)
			if len(changes) > 0 {
				out.Changed = []Changed{{Changes: changes}}
			}
			return nil
		}
		if err := o.v.inspect(ctx, actor, plan); err != nil {
			return out, err
		}
		counted, planned := orderLosses(lost), lost
		if err := counted.survey(ctx, o.v.store); err != nil {
			return out, err
		}
		out.Refused = counted.refused()
		if dry || len(out.Changed) == 0 {
			return out, nil
		}
		err := o.v.define(ctx, actor, func(t *store.Tx) error {
			err := plan(t)
			if err == nil && !slices.Equal(lost, planned) {
				err = errMoved
			}
			return errors.Join(err, counted.settle(t))
		}, func(t *store.Tx) error {
			if len(out.Changed) == 0 {
				return nil // another has done the same meanwhile
			}
			return errors.Join(put(t), t.AddEvent(title.Event{At: o.v.now(), Actor: actor, Kind: kind, Changes: out.Changed[0].Changes}))
		})
		if !errors.Is(err, errMoved) {
			return out, err
		}
	}
}
