package vault

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Statuses gives the statuses of orders; the first is given to new ones.
func (o *Orders) Statuses(ctx context.Context) (list []string, err error) {
	err = o.v.Store.View(ctx, func(t *store.Tx) (err error) {
		list, err = t.OrderStatuses()
		return err
	})
	return slices.Clone(list), err
}

// ImportFields puts other custom fields of orders in the place of those there are.
// With dry nothing is written. It returns Invalid with every broken rule at once, and
// Conflict with what orders would lose, with dry as a value.
func (o *Orders) ImportFields(ctx context.Context, actor model.Actor, fields []model.Field, dry bool) (DefinitionResult, error) {
	return o.EditFields(ctx, actor, fields, "", dry)
}

// EditFields is ImportFields as long as the fields are those that were seen
// (title.Template.Mark of a template with them alone; "": whichever); else Stale.
func (o *Orders) EditFields(ctx context.Context, actor model.Actor, fields []model.Field, seen string, dry bool) (DefinitionResult, error) {
	fields, refused := model.CheckOrderFields(fields)
	if err := refused.Err(); err != nil {
		return DefinitionResult{}, err
	}
	return o.changeDefinitions(ctx, actor, dry, "order_fields.changed", func(old model.Template) (model.Template, []model.Change, error) {
		changes := model.FieldChanges(old.Fields, fields)
		err := checkFingerprint(model.Template{Fields: old.Fields}, seen)
		old.Fields = fields
		return old, changes, err
	}, func(t *store.Tx) error { return t.PutOrderFields(fields) })
}

// ImportStatuses is ImportFields for the statuses of orders.
func (o *Orders) ImportStatuses(ctx context.Context, actor model.Actor, statuses []string, dry bool) (DefinitionResult, error) {
	return o.EditStatuses(ctx, actor, statuses, "", dry)
}

// EditStatuses is EditFields for the statuses of orders.
func (o *Orders) EditStatuses(ctx context.Context, actor model.Actor, statuses []string, seen string, dry bool) (DefinitionResult, error) {
	statuses, refused := model.CheckStatuses(statuses)
	if err := refused.Err(); err != nil {
		return DefinitionResult{}, err
	}
	return o.changeDefinitions(ctx, actor, dry, "order_statuses.changed", func(old model.Template) (model.Template, []model.Change, error) {
		changes := model.StatusChanges(old.Statuses, statuses)
		err := checkFingerprint(model.Template{Statuses: old.Statuses}, seen)
		old.Statuses = statuses
		return old, changes, err
	}, func(t *store.Tx) error { return t.PutOrderStatuses(statuses) })
}

func checkFingerprint(now model.Template, seen string) error {
	if seen != "" && now.Fingerprint() != seen {
		return errStaleDefinitions
	}
	return nil
}

// orderDefinitions are fields and statuses of orders as if they were a template's.
func orderDefinitions(t *store.Tx) (d model.Template, err error) {
	if d.Fields, err = t.OrderFields(); err != nil {
		return d, err
	}
	d.Statuses, err = t.OrderStatuses()
	return d, err
}

// changeDefinitions is redefine for the definitions of orders.
func (o *Orders) changeDefinitions(ctx context.Context, actor model.Actor, dry bool, kind string,
	wish func(old model.Template) (model.Template, []model.Change, error), put func(*store.Tx) error) (DefinitionResult, error) {
	return o.v.changeDefinitions(ctx, actor, dry, scanOrderImpact, func(t *store.Tx) (p definitionPlan, err error) {
		old, err := orderDefinitions(t)
		if err != nil {
			return p, err
		}
		now, changes, err := wish(old)
		if err != nil {
			return p, err
		}
		if p.impacts = model.TemplateImpact(old, now); len(changes) > 0 {
			p.changed = []DefinitionChange{{Changes: changes}}
		}
		return p, nil
	}, func(t *store.Tx, changed []DefinitionChange) error {
		if len(changed) == 0 {
			return nil // another has done the same meanwhile
		}
		return errors.Join(put(t), t.AddEvent(model.Event{At: o.v.Now(), Actor: actor, Kind: kind, Changes: changed[0].Changes}))
	})
}
