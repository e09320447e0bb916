package vault

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

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
