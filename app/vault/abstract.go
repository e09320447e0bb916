package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Abstracts creates, lists, changes, and deletes abstracts.
type Abstracts struct{ v *Vault }

// AbstractWithFiles is an abstract with its documents in sequence. After an upload,
// Failures lists the rejected documents of the request in the order sent.
type AbstractWithFiles struct {
	Abstract model.Abstract
	Files    []model.File
	Failures []model.RejectedFile
}

// AbstractOps reads and writes abstracts for the shared operations.
var AbstractOps = recordOps[AbstractWithFiles]{
	Name: "abstract",
	get: func(t *store.Tx, id uint64) (AbstractWithFiles, error) {
		return readAbstractWithFiles(t, id, (*store.Tx).Abstract, (*store.Tx).File)
	},
	getIncludingTrash: func(t *store.Tx, id uint64) (AbstractWithFiles, error) {
		return readAbstractWithFiles(t, id, (*store.Tx).AbstractIncludingTrash, (*store.Tx).FileIncludingTrash)
	},
	version: func(f AbstractWithFiles) uint64 { return f.Abstract.Version },
	trashed: func(f AbstractWithFiles) *model.Trashed { return f.Abstract.Trashed },
	changes: func(old, now AbstractWithFiles) []model.Change { return old.Abstract.Changes(now.Abstract) },
	retainedUntil: func(v *Vault, t *store.Tx, in AbstractWithFiles) (time.Time, error) {
		return v.abstractRetainedUntil(t, in.Abstract)
	},
	keep: keepPart(abstractOf),
	save: func(_ *Vault, t *store.Tx, now AbstractWithFiles, at time.Time) (AbstractWithFiles, error) {
		NextVersion(&now.Abstract.Version, &now.Abstract.UpdatedAt, at)
		return now, t.PutAbstract(now.Abstract)
	},
}

// readAbstractWithFiles reads an abstract and its documents.
func readAbstractWithFiles(t *store.Tx, id uint64, abstract func(*store.Tx, uint64) (model.Abstract, error),
	file func(*store.Tx, uint64) (model.File, error)) (f AbstractWithFiles, err error) {
	if f.Abstract, err = abstract(t, id); err != nil {
		return f, err
	}
	f.Files = make([]model.File, 0, len(f.Abstract.Files))
	for _, id := range f.Abstract.Files {
		document, err := file(t, id)
		if errs.KindOf(err) == errs.NotFound {
			err = missingFileError(id)
		}
		if err != nil {
			return f, err
		}
		f.Files = append(f.Files, document)
	}
	return f, nil
}

// missingFileError returns the error for a record that refers to a document that is
// missing from the database.
func missingFileError(id uint64) error {
	return fmt.Errorf("%w: refers to file %d, which does not exist", store.ErrDamaged, id)
}

// Create creates an abstract that contains the accepted documents of an upload. If any
// field is invalid, it stores nothing and returns an Invalid error that lists every
// invalid field. Rejected documents don't cause an error. They are listed in Failures.
func (a *Abstracts) Create(ctx context.Context, actor model.Actor, draft model.AbstractDraft, upload *StagedUpload,
	idempotency Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	return a.createWith(ctx, actor, draft, upload, idempotency, createHooks{})
}

// createHooks are what else belongs to the transaction that creates an abstract. Its functions may be
// nil.
type createHooks struct {
	check func(*store.Tx) error
	apply func(*store.Tx, model.Abstract) error
}

func (a *Abstracts) createWith(ctx context.Context, actor model.Actor, draft model.AbstractDraft, upload *StagedUpload,
	idempotency Idempotency[AbstractWithFiles], hooks createHooks) (AbstractWithFiles, error) {
	// Validate before syncing the documents, so that an invalid draft doesn't cost a disk
	// sync. Validate outside the write transaction, because only one can run at a time.
	// The write transaction only checks that the template hasn't changed.
	validated, err := store.Read(ctx, a.v.Store, func(t *store.Tx) (validatedAbstract, error) { return a.validate(t, draft) })
	if err != nil {
		return AbstractWithFiles{}, err
	}
	checked, err := upload.commit()
	if err != nil {
		return AbstractWithFiles{}, err
	}
	defer func() { checked.finish(err) }()
	limited := checked.limitTo(0)
	created := AbstractWithFiles{Failures: limited.rejected}
	err = a.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, a.v); err != nil {
			return err
		}
		if created.Abstract, err = a.revalidate(t, draft, validated); err != nil || hooks.check == nil {
			return err
		}
		return hooks.check(t)
	}, func(t *store.Tx) (err error) {
		if created.Abstract, created.Files, err = a.create(t, actor, created.Abstract, limited); err != nil {
			return err
		}
		if hooks.apply != nil {
			if err := hooks.apply(t, created.Abstract); err != nil {
				return err
			}
		}
		return idempotency.SaveResponse(t, created.Abstract.CreatedAt, created)
	})
	a.v.Queued.Notify()
	return created, err
}

// validatedAbstract is a validated draft and the template it was validated with.
type validatedAbstract struct {
	template *model.Template // nil: no template
	abstract model.Abstract
}

// validate looks up a draft's template and validates the draft.
func (a *Abstracts) validate(t *store.Tx, draft model.AbstractDraft) (result validatedAbstract, err error) {
	var found bool
	if result.template, found, err = templateForDraft(t, draft.TemplateID); err != nil {
		return result, err
	}
	var rejected errs.Fields
	result.abstract, rejected = draft.Check(result.template, found, a.v.Settings.Rules)
	return result, rejected.Err()
}

// revalidate returns the validated abstract. If the template has changed since, it
// validates the draft again.
func (a *Abstracts) revalidate(t *store.Tx, draft model.AbstractDraft, validated validatedAbstract) (model.Abstract, error) {
	template, _, err := templateForDraft(t, draft.TemplateID)
	if err == nil && !sameDefinitions(template, validated.template) {
		validated, err = a.validate(t, draft)
	}
	return validated.abstract, err
}

// sameDefinitions reports whether a and b are the same template with the same fields and
// statuses.
func sameDefinitions(a, b *model.Template) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && sameList(a.Fields, b.Fields) && sameList(a.Statuses, b.Statuses)
}

// templateForDraft returns the template for a new abstract: the one given in the draft,
// or else the default template. found is false if the given template doesn't exist or is
// retired.
func templateForDraft(t *store.Tx, id model.IDInput) (template *model.Template, found bool, err error) {
	if !id.Present {
		defaultTemplate, ok, err := t.DefaultTemplate()
		if err != nil || !ok {
			return nil, true, err
		}
		return &defaultTemplate, true, nil
	}
	if !id.Valid || id.Value <= 0 {
		return nil, false, nil
	}
	chosen, err := t.Template(uint64(id.Value))
	if errs.KindOf(err) == errs.NotFound || err == nil && chosen.Retired {
		return nil, false, nil
	}
	return &chosen, err == nil, err
}

func (a *Abstracts) create(t *store.Tx, actor model.Actor, created model.Abstract, checked *checkedFiles) (model.Abstract,
	[]model.File, error) {
	id, err := t.NewAbstractID()
	if err != nil {
		return created, nil, err
	}
	at := a.v.Now()
	created.ID, created.Version, created.CreatedAt, created.UpdatedAt = id, 1, at, at
	ref := model.RecordRef(AbstractOps.Name, id)
	names := map[string]string{ref: a.v.HeadingIn(t, created)}
	if err := a.v.AddEntry(t, model.Event{At: at, Actor: actor, Kind: "abstract.created", Record: ref, Names: names}); err != nil {
		return created, nil, err
	}
	files, err := checked.saveRecords(a.v, t, at, actor, model.File{AbstractID: id}, names)
	if err != nil {
		return created, nil, err
	}
	created.Files = FileIDs(files)
	return created, files, t.PutAbstract(created)
}

// FileIDs returns the IDs of files.
func FileIDs(files []model.File) []uint64 {
	var ids []uint64
	for _, f := range files {
		ids = append(ids, f.ID)
	}
	return ids
}

// Attach adds the accepted documents of an upload to an abstract. Rejected documents are
// listed in Failures and do not cause an error, even if all were rejected. It returns
// NotFound if the abstract does not exist.
func (a *Abstracts) Attach(ctx context.Context, actor model.Actor, id uint64, draft model.UploadDraft, upload *StagedUpload,
	idempotency Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	draft.FolderID = model.IDInput{} // documents of an abstract don't belong to a folder
	if _, rejected := draft.Check(upload.HasFiles(), true); len(rejected) > 0 {
		return AbstractWithFiles{}, rejected.Err()
	}
	checked, err := upload.commit()
	if err != nil {
		return AbstractWithFiles{}, err
	}
	defer func() { checked.finish(err) }()
	if len(checked.files) == 0 && !idempotency.enabled() {
		result, err := a.Get(ctx, id)
		result.Failures = checked.rejected
		return result, err
	}
	var result AbstractWithFiles
	limited := checked
	err = a.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, a.v); err != nil {
			return err
		}
		result, err = AbstractOps.get(t, id)
		limited = checked.limitTo(len(result.Files))
		result.Failures = limited.rejected
		return cmp.Or(err, limited.mustFit())
	}, func(t *store.Tx) (err error) {
		at := a.v.Now()
		if result, err = a.attach(t, at, actor, result, limited); err != nil {
			return err
		}
		return idempotency.SaveResponse(t, at, result)
	})
	a.v.Queued.Notify()
	return result, err
}

func (a *Abstracts) attach(t *store.Tx, at time.Time, actor model.Actor, result AbstractWithFiles,
	checked *checkedFiles) (AbstractWithFiles, error) {
	files, err := checked.saveRecords(a.v, t, at, actor, model.File{AbstractID: result.Abstract.ID}, nil)
	if err != nil || len(files) == 0 {
		return result, err
	}
	position := checked.insertPosition(result.Abstract.Files, files[0].ID)
	result.Files = slices.Insert(result.Files, position, files...)
	result.Abstract.Files = slices.Insert(result.Abstract.Files, position, FileIDs(files)...)
	NextVersion(&result.Abstract.Version, &result.Abstract.UpdatedAt, at)
	return result, t.PutAbstract(result.Abstract)
}

// Get returns an abstract with its documents, or NotFound.
func (a *Abstracts) Get(ctx context.Context, id uint64) (AbstractWithFiles, error) {
	return store.Read(ctx, a.v.Store, func(t *store.Tx) (AbstractWithFiles, error) { return AbstractOps.get(t, id) })
}

// WithHeading returns an abstract with its documents, and its heading, or NotFound.
func (a *Abstracts) WithHeading(ctx context.Context, id uint64) (record AbstractWithFiles, heading string, err error) {
	err = a.v.Store.View(ctx, func(t *store.Tx) (err error) {
		record, heading, err = a.withHeading(t, id)
		return err
	})
	return record, heading, err
}

func (a *Abstracts) withHeading(t *store.Tx, id uint64) (AbstractWithFiles, string, error) {
	record, err := AbstractOps.get(t, id)
	if err != nil {
		return record, "", err
	}
	return record, a.v.HeadingIn(t, record.Abstract), nil
}

// List returns a page of abstracts with their documents.
func (a *Abstracts) List(ctx context.Context, q Query) (Page[AbstractWithFiles], error) {
	return list(ctx, a.v, q, func(t *store.Tx, q Query) (page Page[AbstractWithFiles], err error) {
		found, err := t.ListAbstracts(q)
		if err != nil {
			return page, err
		}
		return ReadAbstractFiles(ctx, t, found)
	})
}

// Patch changes the fields set in p. It returns Invalid, listing every invalid field, or
// PreconditionFailed if match doesn't accept the current version.
func (a *Abstracts) Patch(ctx context.Context, actor model.Actor, id uint64, p model.AbstractPatch,
	match Match) (AbstractWithFiles, error) {
	return patch(ctx, a.v, AbstractOps, actor, id, match, a.patched(p))
}

// patched returns the function that applies a patch.
func (a *Abstracts) patched(p model.AbstractPatch) func(*store.Tx, AbstractWithFiles) (AbstractWithFiles, error) {
	return func(t *store.Tx, old AbstractWithFiles) (AbstractWithFiles, error) {
		now := AbstractWithFiles{Files: old.Files}
		template, err := templateByID(t, old.Abstract.TemplateID)
		if err != nil {
			return now, err
		}
		var rejected errs.Fields
		now.Abstract, rejected = p.Check(old.Abstract, template, a.v.Settings.Rules)
		if len(rejected) == 0 {
			now.Files = filesInOrder(old.Files, now.Abstract.Files)
		}
		return now, rejected.Err()
	}
}

// restoreFields restores the fields that an abstract had before a change. Its documents stay. It returns Invalid if the
// fields aren't valid any longer.
func (a *Abstracts) restoreFields(t *store.Tx, now AbstractWithFiles, before model.Abstract) (AbstractWithFiles, error) {
	template, err := templateByID(t, now.Abstract.TemplateID)
	if err != nil {
		return now, err
	}
	if template == nil {
		template = &model.Template{}
	}
	is := now.Abstract
	rejected := model.CheckRestored(is.Status, before.Status, template.Statuses, is.Custom, before.Custom, template.Fields,
		a.v.Settings.Rules)
	if !slices.Equal(slices.Sorted(slices.Values(before.Files)), slices.Sorted(slices.Values(is.Files))) {
		before.Files = is.Files
	}
	now.Files = filesInOrder(now.Files, before.Files)
	before.TemplateID, before.RemovedFiles = is.TemplateID, is.RemovedFiles
	before.Version, before.UpdatedAt, before.Trashed, before.RetainedUntil = is.Version, is.UpdatedAt, is.Trashed, is.RetainedUntil
	now.Abstract = before
	return now, rejected.Err()
}

// templateByID returns a template, even if it is retired. For ID 0, it returns nil.
func templateByID(t *store.Tx, id uint64) (*model.Template, error) {
	if id == 0 {
		return nil, nil
	}
	template, err := t.Template(id)
	return &template, err
}

// filesInOrder returns files sorted in the order of ids.
func filesInOrder(files []model.File, ids []uint64) []model.File {
	byID := make(map[uint64]model.File, len(files))
	for _, f := range files {
		byID[f.ID] = f
	}
	sorted := make([]model.File, 0, len(files))
	for _, id := range ids {
		sorted = append(sorted, byID[id])
	}
	return sorted
}

// Trash moves an abstract and its documents to the trash. The abstract keeps its list of
// documents, so Restore can restore their sequence.
func (a *Abstracts) Trash(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	return trash(ctx, a.v, AbstractOps, actor, id, match, "trashed",
		func(t *store.Tx, live AbstractWithFiles, in model.Trashed) (map[string]string, error) {
			abstract := live.Abstract
			abstract.Trashed = &in
			earlier, err := a.v.retainedBefore(t, live)
			if err != nil {
				return nil, err
			}
			abstract.RetainedUntil = later(abstract.RetainedUntil, earlier)
			for i, file := range live.Files {
				withAbstract := in
				withAbstract.With, withAbstract.Position = model.RecordRef(AbstractOps.Name, id), i
				file.Trashed = &withAbstract
				if err := t.PutFile(file); err != nil {
					return nil, err
				}
			}
			return fileCountDetail(live), errors.Join(trashInstruments(t, id, in), t.PutAbstract(abstract))
		})
}

// Restore restores an abstract and the documents that were trashed with it. If the
// abstract is not in the trash, it changes nothing.
func (a *Abstracts) Restore(ctx context.Context, actor model.Actor, id uint64,
	idempotency Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	return restore(ctx, a.v, AbstractOps, actor, id, idempotency, nil,
		func(t *store.Tx, in AbstractWithFiles, _ time.Time) (AbstractWithFiles, map[string]string, error) {
			out := AbstractWithFiles{Abstract: in.Abstract, Files: make([]model.File, 0, len(in.Files))}
			out.Abstract.Trashed = nil
			for _, file := range in.Files {
				file.Trashed = nil
				if err := t.PutFile(file); err != nil {
					return out, nil, err
				}
				out.Files = append(out.Files, file)
			}
			return out, fileCountDetail(out), errors.Join(restoreInstruments(t, out.Abstract.ID), t.PutAbstract(out.Abstract))
		})
}

// Detach removes a document from its abstract and moves it to the trash. It returns
// NotFound if the document does not belong to the abstract, or PreconditionFailed if
// match does not accept the document's version.
func (a *Abstracts) Detach(ctx context.Context, actor model.Actor, id, file uint64, match Match) error {
	return trash(ctx, a.v, fileOpsOfAbstract(id), actor, file, match, "detached", a.v.trashFile)
}

// fileCountDetail returns the details of an audit entry about an abstract with its documents.
func fileCountDetail(f AbstractWithFiles) map[string]string {
	return map[string]string{"files": strconv.Itoa(len(f.Files))}
}

// ReadAbstractFiles adds their documents to a page of abstracts.
func ReadAbstractFiles(ctx context.Context, t *store.Tx, found Page[model.Abstract]) (page Page[AbstractWithFiles], err error) {
	page.Next, page.Prev, page.Bytes, page.Truncated = found.Next, found.Prev, found.Bytes, found.Truncated
	for _, abstract := range found.Items {
		if err := ctx.Err(); err != nil {
			return page, err
		}
		f, err := AbstractOps.get(t, abstract.ID)
		if errors.Is(err, store.ErrDamaged) {
			f.Abstract = abstract // f.Files contains the documents before the damaged one
		} else if err != nil {
			return page, err
		}
		page.Items = append(page.Items, f)
	}
	return page, nil
}

// AbstractIncludingTrash returns an abstract with its documents, live or in the trash.
func AbstractIncludingTrash(t *store.Tx, id uint64) (AbstractWithFiles, error) {
	return AbstractOps.getIncludingTrash(t, id)
}
