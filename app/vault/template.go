package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Templates lists, imports, edits, and retires abstract templates.
type Templates struct{ v *Vault }

// List returns the templates that are available for new abstracts, sorted by ID.
func (te *Templates) List(ctx context.Context) (list []model.Template, err error) {
	all, err := te.All(ctx)
	for _, template := range all {
		if !template.Retired {
			list = append(list, template)
		}
	}
	return list, err
}

// All returns every template, including retired ones, sorted by ID.
func (te *Templates) All(ctx context.Context) ([]model.Template, error) {
	return store.Read(ctx, te.v.Store, (*store.Tx).Templates)
}

// Get returns a template, even if it is retired, or NotFound.
func (te *Templates) Get(ctx context.Context, id uint64) (model.Template, error) {
	return store.Read(ctx, te.v.Store, func(t *store.Tx) (model.Template, error) { return t.Template(id) })
}

// MaxAbstractCount is the highest number that CountAbstracts returns.
const MaxAbstractCount = 100_000

// CountAbstracts returns the number of live abstracts that use a template, at most
// MaxAbstractCount.
func (te *Templates) CountAbstracts(ctx context.Context, id uint64) (int, error) {
	return store.Read(ctx, te.v.Store, func(t *store.Tx) (int, error) { return t.CountAbstractsOfTemplate(id, MaxAbstractCount) })
}

// DefinitionChange is the change to one template. For order definitions, Template is
// zero.
type DefinitionChange struct {
	Template model.Template
	Created  bool // whether the template is new
	Changes  []model.Change
}

// DefinitionResult lists the changes to definitions, whether saved or only planned, and
// the conflicts that prevent the change.
type DefinitionResult struct {
	Changed   []DefinitionChange
	Conflicts errs.Fields // fields or statuses that records would lose
}

// Import applies drafts to templates. A draft applies to the template with its ID, or
// else to the active template with its name, or else it creates a template. Other
// templates stay unchanged. Import returns Invalid, listing every broken rule under
// templates.INDEX. If records would lose values, it returns Conflict. If dry is true, it
// writes nothing and lists the conflicts in the result's Conflicts instead of returning
// an error.
func (te *Templates) Import(ctx context.Context, actor model.Actor, drafts []model.TemplateDraft, dry bool) (DefinitionResult, error) {
	return te.change(ctx, actor, dry, func(list []model.Template) ([]model.Template, error) { return planImport(list, drafts) })
}

// Create creates a template. It returns Invalid, listing every broken rule under
// templates.0.
func (te *Templates) Create(ctx context.Context, actor model.Actor, draft model.TemplateDraft) (created model.Template, err error) {
	result, err := te.change(ctx, actor, false, func([]model.Template) ([]model.Template, error) {
		created, rejected := draft.Apply("templates.0", model.Template{})
		return []model.Template{created}, rejected.Err()
	})
	for _, c := range result.Changed {
		if c.Created {
			created = c.Template
		}
	}
	return created, err
}

// Edit imports one template by its ID. It returns PreconditionFailed if seen is not the
// fingerprint of the current template, or NotFound if the template does not exist.
func (te *Templates) Edit(ctx context.Context, actor model.Actor, draft model.TemplateDraft, seen string,
	dry bool) (DefinitionResult, error) {
	return te.change(ctx, actor, dry, func(list []model.Template) ([]model.Template, error) {
		at := slices.IndexFunc(list, func(t model.Template) bool { return t.ID == draft.ID })
		if at < 0 {
			return nil, errs.RecordNotFound("template", draft.ID)
		}
		if list[at].Fingerprint() != seen {
			return nil, errStaleDefinitions
		}
		return planImport(list, []model.TemplateDraft{draft})
	})
}

// errStaleDefinitions is returned if the definitions have changed since the caller read
// them.
var errStaleDefinitions = &errs.Error{Kind: errs.PreconditionFailed,
	Message: "Someone else changed this since you read it. Read it again."}

// SetDefault makes a template the default. It returns NotFound if the template does not
// exist, or Conflict if it is retired.
func (te *Templates) SetDefault(ctx context.Context, actor model.Actor, id uint64) (model.Template, error) {
	return te.changeTemplate(ctx, actor, id, func(t *model.Template) error {
		if t.Default = true; t.Retired {
			return &errs.Error{Kind: errs.Conflict, Message: model.MsgDefaultRetired}
		}
		return nil
	})
}

// Retire makes a template unavailable for new abstracts. Existing abstracts keep it.
// Retire returns NotFound if the template does not exist, or Conflict if it is the
// default. Import can make the template active again.
func (te *Templates) Retire(ctx context.Context, actor model.Actor, id uint64) (model.Template, error) {
	return te.changeTemplate(ctx, actor, id, func(t *model.Template) error {
		if t.Retired = true; t.Default {
			return &errs.Error{Kind: errs.Conflict, Message: model.MsgRetireDefault}
		}
		return nil
	})
}

// definitionPlan lists the changes between the current and the new definitions.
type definitionPlan struct {
	changed []DefinitionChange
	impacts []model.Impact
}

func (te *Templates) plan(t *store.Tx, apply func([]model.Template) ([]model.Template, error)) (definitionPlan, error) {
	var p definitionPlan
	list, err := t.Templates()
	if err != nil {
		return p, err
	}
	planned, err := apply(slices.Clone(list))
	if err != nil {
		return p, err
	}
	planned, rejected := model.CheckTemplates(list, planned)
	for _, now := range planned {
		at := slices.IndexFunc(list, func(old model.Template) bool { return now.ID != 0 && old.ID == now.ID })
		if at < 0 {
			p.changed = append(p.changed, DefinitionChange{now, true, model.TemplateChanges(model.Template{}, now)})
			continue
		}
		if changes := model.TemplateChanges(list[at], now); len(changes) > 0 {
			p.changed = append(p.changed, DefinitionChange{now, false, changes})
			p.impacts = append(p.impacts, model.TemplateImpact(list[at], now)...)
		}
	}
	return p, rejected.Err()
}

// errDefinitionsChanged means that the definitions have changed since they were read for
// the plan, so the change must be planned again.
var errDefinitionsChanged = errors.New("the definitions changed after the plan was created")

// change calls Vault.changeDefinitions for templates.
func (te *Templates) change(ctx context.Context, actor model.Actor, dry bool,
	apply func([]model.Template) ([]model.Template, error)) (DefinitionResult, error) {
	return te.v.changeDefinitions(ctx, actor, dry, scanAbstractImpact,
		func(t *store.Tx) (definitionPlan, error) { return te.plan(t, apply) },
		func(t *store.Tx, changed []DefinitionChange) error { return te.save(t, actor, changed) })
}

// changeDefinitions plans a change, counts the records that would lose values, and saves
// the change. If the definitions change in the meantime, it starts over.
func (v *Vault) changeDefinitions(ctx context.Context, actor model.Actor, dry bool, newScan func([]model.Impact) *impactScan,
	plan func(*store.Tx) (definitionPlan, error), save func(*store.Tx, []DefinitionChange) error) (DefinitionResult, error) {
	for {
		var p definitionPlan
		if err := v.ViewAsAdmin(ctx, actor, func(t *store.Tx) (err error) { p, err = plan(t); return err }); err != nil {
			return DefinitionResult{}, err
		}
		scan := newScan(p.impacts)
		if err := scan.scan(ctx, v.Store); err != nil {
			return DefinitionResult{}, err
		}
		result := DefinitionResult{p.changed, scan.conflicts()}
		if dry || len(p.changed) == 0 {
			return result, nil
		}
		err := v.WriteAsAdmin(ctx, actor, func(t *store.Tx) error {
			replanned, err := plan(t)
			if err == nil && !slices.Equal(replanned.impacts, p.impacts) {
				err = errDefinitionsChanged
			}
			result.Changed = replanned.changed
			return errors.Join(err, scan.recheck(t))
		}, func(t *store.Tx) error { return save(t, result.Changed) })
		if !errors.Is(err, errDefinitionsChanged) {
			return result, err
		}
	}
}

func (te *Templates) save(t *store.Tx, actor model.Actor, changed []DefinitionChange) error {
	at := te.v.Now()
	for i, c := range changed {
		kind := "template.changed"
		switch {
		case c.Created:
			id, err := t.NewTemplateID()
			if err != nil {
				return err
			}
			changed[i].Template.ID, c.Template.ID, kind = id, id, "template.created"
		case slices.ContainsFunc(c.Changes, func(c model.Change) bool { return c.Field == "retired" }) && c.Template.Retired:
			kind = "template.retired"
		}
		if err := t.PutTemplate(c.Template); err != nil {
			return err
		}
		if c.Template.Default {
			if err := t.SetDefaultTemplate(c.Template.ID); err != nil {
				return err
			}
		}
		event := model.Event{At: at, Actor: actor, Kind: kind, Record: model.RecordRef("template", c.Template.ID), Changes: c.Changes}
		if err := te.v.AddEntry(t, event); err != nil {
			return err
		}
	}
	return nil
}

func (te *Templates) changeTemplate(ctx context.Context, actor model.Actor, id uint64,
	change func(*model.Template) error) (template model.Template, err error) {
	_, err = te.change(ctx, actor, false, func(list []model.Template) ([]model.Template, error) {
		for i := range list {
			if list[i].ID == id {
				err := change(&list[i])
				template = list[i]
				return list[i : i+1], err
			}
		}
		return nil, errs.RecordNotFound("template", id)
	})
	return template, err
}

// planImport returns the list of templates with the drafts applied.
func planImport(list []model.Template, drafts []model.TemplateDraft) ([]model.Template, error) {
	var rejected errs.Fields
	var planned []model.Template
	seen := map[uint64]int{}
	for i, draft := range drafts {
		path := fmt.Sprintf("templates.%d", i)
		old, found := matchTemplate(list, draft)
		if !found && draft.ID != 0 {
			rejected.Add(path+".id", "Template %d doesn't exist. Omit the ID to create a template.", draft.ID)
			continue
		}
		if first, duplicate := seen[old.ID]; found && duplicate {
			rejected.Add(path, "Template %d is listed twice. It is also at position %d.", old.ID, first+1)
			continue
		}
		seen[old.ID] = i
		template, invalid := draft.Apply(path, old)
		rejected = append(rejected, invalid...)
		planned = append(planned, template)
	}
	return planned, rejected.Err()
}

func matchTemplate(list []model.Template, draft model.TemplateDraft) (model.Template, bool) {
	for _, t := range list {
		if draft.ID != 0 && t.ID == draft.ID || draft.ID == 0 && !t.Retired && model.Fold(t.Name) == model.Fold(draft.Name) {
			return t, true
		}
	}
	return model.Template{}, false
}
