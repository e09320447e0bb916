package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Templates are the verbs on abstract templates.
type Templates struct{ v *Vault }

// List gives the templates that new abstracts may use, in order of their numbers.
func (s *Templates) List(ctx context.Context) (list []model.Template, err error) {
	all, err := s.All(ctx)
	for _, template := range all {
		if !template.Retired {
			list = append(list, template)
		}
	}
	return list, err
}

// All gives every template, retired ones too, in order of their numbers.
func (s *Templates) All(ctx context.Context) (list []model.Template, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) (err error) {
		list, err = t.Templates()
		return err
	})
	return list, err
}

// Get gives a template by its number, a retired one too; NotFound when there is none.
func (s *Templates) Get(ctx context.Context, id uint64) (template model.Template, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) (err error) {
		template, err = t.Template(id)
		return err
	})
	return template, err
}

// MaxAbstractCount is up to where Abstracts counts.
const MaxAbstractCount = 100_000

// CountAbstracts gives how many abstracts of a template there are, those in the trash not
// counted; MaxAbstractCount stands for more.
func (s *Templates) CountAbstracts(ctx context.Context, id uint64) (n int, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) (err error) {
		n, err = t.CountAbstractsOfTemplate(id, MaxAbstractCount)
		return err
	})
	return n, err
}

// DefinitionChange is what became of one template, or of a set of definitions (then Template
// is the zero one).
type DefinitionChange struct {
	Template model.Template
	Created  bool // there was none before
	Changes  []model.Change
}

// DefinitionResult is what a change of definitions did, or would do, and why it cannot be
// done (Conflict).
type DefinitionResult struct {
	Changed   []DefinitionChange
	Conflicts errs.Fields // what records would lose
}

// Import makes templates as the drafts say: each the one of its number, else the live
// one of its name, else a new one; templates that no draft names stay. With dry
// nothing is written. It returns Invalid with every broken rule at once (under
// templates.INDEX), and Conflict with what records would lose, with dry as a value.
func (s *Templates) Import(ctx context.Context, actor model.Actor, drafts []model.TemplateDraft, dry bool) (DefinitionResult, error) {
	return s.change(ctx, actor, dry, func(list []model.Template) ([]model.Template, error) { return planImport(list, drafts) })
}

// Create makes a template; Invalid with every broken rule at once (under templates.0).
func (s *Templates) Create(ctx context.Context, actor model.Actor, draft model.TemplateDraft) (made model.Template, err error) {
	done, err := s.change(ctx, actor, false, func([]model.Template) ([]model.Template, error) {
		made, refused := draft.Apply("templates.0", model.Template{})
		return []model.Template{made}, refused.Err()
	})
	for _, c := range done.Changed {
		if c.Created {
			made = c.Template
		}
	}
	return made, err
}

// Edit is Import of one template by its number, as long as it is the one that was
// seen (title.Template.Mark); Stale when it is not, NotFound when there is none.
func (s *Templates) Edit(ctx context.Context, actor model.Actor, draft model.TemplateDraft, seen string, dry bool) (DefinitionResult, error) {
	return s.change(ctx, actor, dry, func(list []model.Template) ([]model.Template, error) {
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

// errStaleDefinitions is the refusal to change definitions that somebody else changed.
var errStaleDefinitions = &errs.Error{Kind: errs.PreconditionFailed, Message: "This was changed by somebody else since it was read; read it again."}

// SetDefault makes a template the default one; NotFound when there is none, Conflict
// when it is retired.
func (s *Templates) SetDefault(ctx context.Context, actor model.Actor, id uint64) (model.Template, error) {
	return s.changeOne(ctx, actor, id, func(t *model.Template) error {
		if t.Default = true; t.Retired {
			return &errs.Error{Kind: errs.Conflict, Message: model.MsgDefaultRetired}
		}
		return nil
	})
}

// Retire takes a template out of use for new abstracts; its abstracts stay. NotFound
// when there is none, Conflict when it is the default one. An import brings it back.
func (s *Templates) Retire(ctx context.Context, actor model.Actor, id uint64) (model.Template, error) {
	return s.changeOne(ctx, actor, id, func(t *model.Template) error {
		if t.Retired = true; t.Default {
			return &errs.Error{Kind: errs.Conflict, Message: model.MsgRetireDefault}
		}
		return nil
	})
}

// definitionPlan is a change of definitions, held against what is there.
type definitionPlan struct {
	changed []DefinitionChange
	impacts []model.Impact
}

func (s *Templates) plan(t *store.Tx, wish func([]model.Template) ([]model.Template, error)) (definitionPlan, error) {
	var p definitionPlan
	list, err := t.Templates()
	if err != nil {
		return p, err
	}
	wanted, err := wish(slices.Clone(list))
	if err != nil {
		return p, err
	}
	wanted, refused := model.CheckTemplates(list, wanted)
	for _, now := range wanted {
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
	return p, refused.Err()
}

// errDefinitionsChanged is a change that another one overtook: it is planned anew.
var errDefinitionsChanged = errors.New("the definitions changed meanwhile")

// change is redefine for templates.
func (s *Templates) change(ctx context.Context, actor model.Actor, dry bool, wish func([]model.Template) ([]model.Template, error)) (DefinitionResult, error) {
	return s.v.changeDefinitions(ctx, actor, dry, scanAbstractImpact,
		func(t *store.Tx) (definitionPlan, error) { return s.plan(t, wish) },
		func(t *store.Tx, changed []DefinitionChange) error { return s.save(t, actor, changed) })
}

// changeDefinitions plans, counts what records would lose, and puts, if neither the
// definitions nor the records have moved against it.
func (v *Vault) changeDefinitions(ctx context.Context, actor model.Actor, dry bool, judge func([]model.Impact) *impactScan,
	plan func(*store.Tx) (definitionPlan, error), put func(*store.Tx, []DefinitionChange) error) (DefinitionResult, error) {
	for {
		var p definitionPlan
		if err := v.ViewAsAdmin(ctx, actor, func(t *store.Tx) (err error) { p, err = plan(t); return err }); err != nil {
			return DefinitionResult{}, err
		}
		lost := judge(p.impacts)
		if err := lost.scan(ctx, v.Store); err != nil {
			return DefinitionResult{}, err
		}
		out := DefinitionResult{p.changed, lost.conflicts()}
		if dry || len(p.changed) == 0 {
			return out, nil
		}
		err := v.WriteAsAdmin(ctx, actor, func(t *store.Tx) error {
			again, err := plan(t)
			if err == nil && !slices.Equal(again.impacts, p.impacts) {
				err = errDefinitionsChanged
			}
			out.Changed = again.changed
			return errors.Join(err, lost.recheck(t))
		}, func(t *store.Tx) error { return put(t, out.Changed) })
		if !errors.Is(err, errDefinitionsChanged) {
			return out, err
		}
	}
}

func (s *Templates) save(t *store.Tx, actor model.Actor, changed []DefinitionChange) error {
	at := s.v.Now()
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
		if err := t.AddEvent(model.Event{At: at, Actor: actor, Kind: kind, Record: txn.RecordRef("template", c.Template.ID), Changes: c.Changes}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Templates) changeOne(ctx context.Context, actor model.Actor, id uint64, fn func(*model.Template) error) (one model.Template, err error) {
	_, err = s.change(ctx, actor, false, func(list []model.Template) ([]model.Template, error) {
		for i := range list {
			if list[i].ID == id {
				err := fn(&list[i])
				one = list[i]
				return list[i : i+1], err
			}
		}
		return nil, errs.RecordNotFound("template", id)
	})
	return one, err
}

// planImport gives the templates that the drafts make of those there are.
func planImport(list []model.Template, drafts []model.TemplateDraft) ([]model.Template, error) {
	var refused errs.Fields
	var wanted []model.Template
	taken := map[uint64]int{}
	for i, draft := range drafts {
		path := fmt.Sprintf("templates.%d", i)
		old, found := matchTemplate(list, draft)
		if !found && draft.ID != 0 {
			refused.Add(path+".id", fmt.Sprintf("There is no template %d; without an id a new one is made.", draft.ID))
			continue
		}
		if first, double := taken[old.ID]; found && double {
			refused.Add(path, fmt.Sprintf("This is template %d once more, which stands at place %d.", old.ID, first+1))
			continue
		}
		taken[old.ID] = i
		made, wrong := draft.Apply(path, old)
		refused = append(refused, wrong...)
		wanted = append(wanted, made)
	}
	return wanted, refused.Err()
}

func matchTemplate(list []model.Template, draft model.TemplateDraft) (model.Template, bool) {
	for _, t := range list {
		if draft.ID != 0 && t.ID == draft.ID || draft.ID == 0 && !t.Retired && model.Fold(t.Name) == model.Fold(draft.Name) {
			return t, true
		}
	}
	return model.Template{}, false
}
