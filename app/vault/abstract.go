package vault

import (
	"context"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Abstracts are the verbs on abstracts.
type Abstracts struct{ v *Vault }

// Filed is an abstract with its documents, in the order attached, and what was
// refused of those sent with the request, in the order sent.
type Filed struct {
	Abstract title.Abstract
	Files    []title.File
	Failures []title.FileFailure
}

// Create makes an abstract and files the good documents of the tray with it. It
// returns Invalid with every wrong field at once, and then stores nothing; refused
// documents are no error (SPEC.md, POST /abstracts, rule 2).
func (a *Abstracts) Create(ctx context.Context, actor title.Actor, draft title.AbstractDraft, tray *Tray) (Filed, error) {
	// Before the bytes are synced, so that a refusal costs no disk, and before the
	// turn of the one writer, which only looks whether the template is still the same.
	var judged judgedAbstract
	if err := a.v.store.View(ctx, func(t *store.Tx) (err error) { judged, err = a.judge(t, draft); return err }); err != nil {
		return Filed{}, err
	}
	filing, err := tray.keep()
	if err != nil {
		return Filed{}, err
	}
	defer func() { filing.end(err) }()
	var made Filed
	err = a.v.write(ctx, actor, func(t *store.Tx) (err error) {
		made.Abstract, err = a.check(t, draft, judged)
		return err
	}, func(t *store.Tx) (err error) {
		made.Abstract, made.Files, err = a.create(t, actor, made.Abstract, filing)
		return err
	})
	made.Failures = filing.failures
	a.v.processor.poke()
	return made, err
}

// judgedAbstract is a draft with what its template says of it.
type judgedAbstract struct {
	template *title.Template // nil where there is none
	abstract title.Abstract
}

// judge finds the draft's template and applies every rule.
func (a *Abstracts) judge(t *store.Tx, draft title.AbstractDraft) (j judgedAbstract, err error) {
	var found bool
	if j.template, found, err = draftTemplate(t, draft.TemplateID); err != nil {
		return j, err
	}
	var refused title.Fields
	j.abstract, refused = draft.Check(j.template, found, a.v.set.Rules)
	return j, refused.Err()
}

// check gives the abstract if the judgement still holds, else judges anew.
func (a *Abstracts) check(t *store.Tx, draft title.AbstractDraft, j judgedAbstract) (title.Abstract, error) {
	template, _, err := draftTemplate(t, draft.TemplateID)
	if err == nil && !sameTemplate(template, j.template) {
		j, err = a.judge(t, draft)
	}
	return j.abstract, err
}

func sameTemplate(a, b *title.Template) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && same(a.Fields, b.Fields) && same(a.Statuses, b.Statuses)
}

// draftTemplate is the template a draft is checked by. One that is retired cannot
// be used for new abstracts (API.md, "Templates").
func draftTemplate(t *store.Tx, id title.Number) (template *title.Template, found bool, err error) {
	if !id.Present {
		standard, ok, err := t.DefaultTemplate()
		if err != nil || !ok {
			return nil, true, err
		}
		return &standard, true, nil
	}
	if !id.Valid || id.Value <= 0 {
		return nil, false, nil
	}
	chosen, err := t.Template(uint64(id.Value))
	if title.KindOf(err) == title.NotFound || err == nil && chosen.Retired {
		return nil, false, nil
	}
	return &chosen, err == nil, err
}

func (a *Abstracts) create(t *store.Tx, actor title.Actor, made title.Abstract, filing *filing) (title.Abstract, []title.File, error) {
	id, err := t.NewAbstractID()
	if err != nil {
		return made, nil, err
	}
	at := a.v.now()
	made.ID, made.Version, made.CreatedAt, made.UpdatedAt = id, 1, at, at
	if err := a.v.event(t, at, actor, "abstract.created", record("abstract", id), nil); err != nil {
		return made, nil, err
	}
	files, err := filing.file(a.v, t, at, actor, title.File{AbstractID: id})
	if err != nil {
		return made, nil, err
	}
	made.Files = numbers(files)
	return made, files, t.PutAbstract(made)
}

func numbers(files []title.File) []uint64 {
	var ids []uint64
	for _, f := range files {
		ids = append(ids, f.ID)
	}
	return ids
}

// Attach files the tray's good documents with an abstract that is there. Nothing
// good among them is no error: Failures says why. NotFound when there is no such
// abstract.
func (a *Abstracts) Attach(ctx context.Context, actor title.Actor, id uint64, draft title.UploadDraft, tray *Tray) (Filed, error) {
	draft.FolderID = title.Number{} // an abstract's documents are in no folder
	if _, refused := draft.Check(tray.Has(), true); len(refused) > 0 {
		return Filed{}, refused.Err()
	}
	if _, err := a.Get(ctx, id); err != nil {
		return Filed{}, err
	}
	filing, err := tray.keep()
	if err != nil {
		return Filed{}, err
	}
	defer func() { filing.end(err) }()
	if len(filing.good) == 0 {
		filed, err := a.Get(ctx, id)
		filed.Failures = filing.failures
		return filed, err
	}
	var filed Filed
	err = a.v.write(ctx, actor, func(t *store.Tx) (err error) {
		filed.Abstract, filed.Files, err = abstractWithFiles(t, id)
		return err
	}, func(t *store.Tx) error {
		at := a.v.now()
		files, err := filing.file(a.v, t, at, actor, title.File{AbstractID: id})
		if err != nil {
			return err
		}
		filed.Files = append(filed.Files, files...)
		filed.Abstract.Files = append(filed.Abstract.Files, numbers(files)...)
		filed.Abstract = touched(filed.Abstract, at)
		return t.PutAbstract(filed.Abstract)
	})
	filed.Failures = filing.failures
	a.v.processor.poke()
	return filed, err
}

// touched moves an abstract's version; time never stands still between two.
func touched(a title.Abstract, at time.Time) title.Abstract {
	if !at.After(a.UpdatedAt) {
		at = a.UpdatedAt.Add(time.Microsecond)
	}
	a.Version, a.UpdatedAt = a.Version+1, at
	return a
}

// Get reads an abstract and its documents; NotFound when there is none.
func (a *Abstracts) Get(ctx context.Context, id uint64) (Filed, error) {
	var f Filed
	err := a.v.store.View(ctx, func(t *store.Tx) (err error) {
		f.Abstract, f.Files, err = abstractWithFiles(t, id)
		return err
	})
	return f, err
}

func abstractWithFiles(t *store.Tx, id uint64) (title.Abstract, []title.File, error) {
	abstract, err := t.Abstract(id)
	if err != nil {
		return abstract, nil, err
	}
	files := make([]title.File, 0, len(abstract.Files))
	for _, id := range abstract.Files {
		file, err := t.File(id)
		if err != nil {
			return abstract, nil, err
		}
		files = append(files, file)
	}
	return abstract, files, nil
}
