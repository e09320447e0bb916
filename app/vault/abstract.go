package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Abstracts implements the operations on abstracts.
type Abstracts struct{ v *Vault }

// AbstractWithFiles is an abstract with its documents in their sequence. After an
// upload, Failures lists the rejected documents of the request in the order sent.
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
	save: func(t *store.Tx, now AbstractWithFiles, at time.Time) (AbstractWithFiles, error) {
		now.Abstract = nextVersion(now.Abstract, at)
		return now, t.PutAbstract(now.Abstract)
	},
}

// readAbstractWithFiles reads an abstract and its documents.
func readAbstractWithFiles(t *store.Tx, id uint64, abstract func(*store.Tx, uint64) (model.Abstract, error), file func(*store.Tx, uint64) (model.File, error)) (f AbstractWithFiles, err error) {
	if f.Abstract, err = abstract(t, id); err != nil {
		return f, err
	}
	f.Files = make([]model.File, 0, len(f.Abstract.Files))
	for _, id := range f.Abstract.Files {
		one, err := file(t, id)
		if errs.KindOf(err) == errs.NotFound {
			err = missingFileError(id)
		}
		if err != nil {
			return f, err
		}
		f.Files = append(f.Files, one)
	}
	return f, nil
}

// missingFileError returns the error for a record that refers to a missing document.
func missingFileError(id uint64) error {
	return fmt.Errorf("%w: it names file %d, which is missing", store.ErrDamaged, id)
}

// Create creates an abstract with the accepted documents of an upload. If any field is
// invalid, it stores nothing and returns an Invalid error that lists every invalid
// field. Rejected documents do not cause an error; they are listed in Failures.
func (a *Abstracts) Create(ctx context.Context, actor model.Actor, draft model.AbstractDraft, upload *StagedUpload, idempotency Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	// Validate before the bytes are synced, so that an invalid draft costs no disk writes,
	// and outside the single writer, which only checks that the template is unchanged.
	var judged validatedAbstract
	if err := a.v.Store.View(ctx, func(t *store.Tx) (err error) { judged, err = a.validate(t, draft); return err }); err != nil {
		return AbstractWithFiles{}, err
	}
	accepted, err := upload.commit()
	if err != nil {
		return AbstractWithFiles{}, err
	}
	defer func() { accepted.finish(err) }()
	within := accepted.limitTo(0)
	made := AbstractWithFiles{Failures: within.rejected}
	err = a.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, a.v); err != nil {
			return err
		}
		made.Abstract, err = a.revalidate(t, draft, judged)
		return err
	}, func(t *store.Tx) (err error) {
		if made.Abstract, made.Files, err = a.create(t, actor, made.Abstract, within); err != nil {
			return err
		}
		return idempotency.SaveResponse(t, made.Abstract.CreatedAt, made)
	})
	a.v.Queued.Notify()
	return made, err
}

// validatedAbstract is a validated draft and the template it was validated with.
type validatedAbstract struct {
	template *model.Template // nil where there is none
	abstract model.Abstract
}

// validate looks up the template of a draft and validates the draft.
func (a *Abstracts) validate(t *store.Tx, draft model.AbstractDraft) (j validatedAbstract, err error) {
	var found bool
	if j.template, found, err = templateForDraft(t, draft.TemplateID); err != nil {
		return j, err
	}
	var rejected errs.Fields
	j.abstract, rejected = draft.Check(j.template, found, a.v.Settings.Rules)
	return j, rejected.Err()
}

// revalidate returns the validated abstract, after a new validation if its template has
// changed.
func (a *Abstracts) revalidate(t *store.Tx, draft model.AbstractDraft, j validatedAbstract) (model.Abstract, error) {
	template, _, err := templateForDraft(t, draft.TemplateID)
	if err == nil && !sameDefinitions(template, j.template) {
		j, err = a.validate(t, draft)
	}
	return j.abstract, err
}

// sameDefinitions reports whether a template still has the same fields and statuses.
func sameDefinitions(a, b *model.Template) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && sameList(a.Fields, b.Fields) && sameList(a.Statuses, b.Statuses)
}

// templateForDraft returns the template of a new abstract: the one that the draft names,
// or the default template. Retired templates are not accepted for new abstracts.
func templateForDraft(t *store.Tx, id model.IDInput) (template *model.Template, found bool, err error) {
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
	if errs.KindOf(err) == errs.NotFound || err == nil && chosen.Retired {
		return nil, false, nil
	}
	return &chosen, err == nil, err
}

func (a *Abstracts) create(t *store.Tx, actor model.Actor, made model.Abstract, accepted *acceptedFiles) (model.Abstract, []model.File, error) {
	id, err := t.NewAbstractID()
	if err != nil {
		return made, nil, err
	}
	at := a.v.Now()
	made.ID, made.Version, made.CreatedAt, made.UpdatedAt = id, 1, at, at
	if err := a.v.AddEvent(t, at, actor, "abstract.created", txn.RecordRef("abstract", id), nil); err != nil {
		return made, nil, err
	}
	files, err := accepted.saveRecords(a.v, t, at, actor, model.File{AbstractID: id})
	if err != nil {
		return made, nil, err
	}
	made.Files = FileIDs(files)
	return made, files, t.PutAbstract(made)
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
func (a *Abstracts) Attach(ctx context.Context, actor model.Actor, id uint64, draft model.UploadDraft, upload *StagedUpload, idempotency Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	draft.FolderID = model.IDInput{} // an abstract's documents are in no folder
	if _, rejected := draft.Check(upload.HasFiles(), true); len(rejected) > 0 {
		return AbstractWithFiles{}, rejected.Err()
	}
	if _, err := a.Get(ctx, id); err != nil {
		return AbstractWithFiles{}, err
	}
	accepted, err := upload.commit()
	if err != nil {
		return AbstractWithFiles{}, err
	}
	defer func() { accepted.finish(err) }()
	if len(accepted.accepted) == 0 && !idempotency.enabled() {
		filed, err := a.Get(ctx, id)
		filed.Failures = accepted.rejected
		return filed, err
	}
	var filed AbstractWithFiles
	within := accepted
	err = a.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, a.v); err != nil {
			return err
		}
		filed, err = AbstractOps.get(t, id)
		within = accepted.limitTo(len(filed.Files))
		filed.Failures = within.rejected
		return err
	}, func(t *store.Tx) (err error) {
		at := a.v.Now()
		if filed, err = a.attach(t, at, actor, filed, within); err != nil {
			return err
		}
		return idempotency.SaveResponse(t, at, filed)
	})
	a.v.Queued.Notify()
	return filed, err
}

func (a *Abstracts) attach(t *store.Tx, at time.Time, actor model.Actor, filed AbstractWithFiles, accepted *acceptedFiles) (AbstractWithFiles, error) {
	files, err := accepted.saveRecords(a.v, t, at, actor, model.File{AbstractID: filed.Abstract.ID})
	if err != nil || len(files) == 0 {
		return filed, err
	}
	place := accepted.insertPosition(filed.Abstract.Files, files[0].ID)
	filed.Files = slices.Insert(filed.Files, place, files...)
	filed.Abstract.Files = slices.Insert(filed.Abstract.Files, place, FileIDs(files)...)
	filed.Abstract = nextVersion(filed.Abstract, at)
	return filed, t.PutAbstract(filed.Abstract)
}

// nextVersion increments the version of an abstract and updates its time of change.
func nextVersion(a model.Abstract, at time.Time) model.Abstract {
	a.Version, a.UpdatedAt = a.Version+1, nextUpdateTime(at, a.UpdatedAt)
	return a
}

// Get returns an abstract with its documents, or NotFound.
func (a *Abstracts) Get(ctx context.Context, id uint64) (AbstractWithFiles, error) {
	var f AbstractWithFiles
	err := a.v.Store.View(ctx, func(t *store.Tx) (err error) {
		f, err = AbstractOps.get(t, id)
		return err
	})
	return f, err
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

// Patch changes the fields in p. It returns Invalid with every invalid field, or
// PreconditionFailed if match does not accept the current version.
func (a *Abstracts) Patch(ctx context.Context, actor model.Actor, id uint64, p model.AbstractPatch, match Match) (AbstractWithFiles, error) {
	return patch(ctx, a.v, AbstractOps, actor, id, match, func(t *store.Tx, old AbstractWithFiles) (AbstractWithFiles, error) {
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
	})
}

// templateByID returns a template, retired or not, or nil for ID 0.
func templateByID(t *store.Tx, id uint64) (*model.Template, error) {
	if id == 0 {
		return nil, nil
	}
	template, err := t.Template(id)
	return &template, err
}

// filesInOrder returns files in the order of ids.
func filesInOrder(files []model.File, numbers []uint64) []model.File {
	byNumber := make(map[uint64]model.File, len(files))
	for _, f := range files {
		byNumber[f.ID] = f
	}
	order := make([]model.File, 0, len(files))
	for _, id := range numbers {
		order = append(order, byNumber[id])
	}
	return order
}

// Trash moves an abstract and its documents to the trash. The list of documents is
// unchanged, so that Restore keeps their sequence.
func (a *Abstracts) Trash(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	return trash(ctx, a.v, AbstractOps, actor, id, match, "trashed", func(t *store.Tx, live AbstractWithFiles, in model.Trashed) (map[string]string, error) {
		abstract := live.Abstract
		abstract.Trashed = &in
		for i, file := range live.Files {
			along := in
			along.With, along.Position = txn.RecordRef(AbstractOps.Name, id), i
			file.Trashed = &along
			if err := t.PutFile(file); err != nil {
				return nil, err
			}
		}
		return fileCountDetail(live), t.PutAbstract(abstract)
	})
}

// Restore restores an abstract and the documents that were trashed with it. A live
// abstract is left unchanged.
func (a *Abstracts) Restore(ctx context.Context, actor model.Actor, id uint64, idempotency Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	return restore(ctx, a.v, AbstractOps, actor, id, idempotency, nil, func(t *store.Tx, in AbstractWithFiles, _ time.Time) (AbstractWithFiles, map[string]string, error) {
		out := AbstractWithFiles{Abstract: in.Abstract, Files: make([]model.File, 0, len(in.Files))}
		out.Abstract.Trashed = nil
		for _, file := range in.Files {
			file.Trashed = nil
			if err := t.PutFile(file); err != nil {
				return out, nil, err
			}
			out.Files = append(out.Files, file)
		}
		return out, fileCountDetail(out), t.PutAbstract(out.Abstract)
	})
}

// Detach removes a document from its abstract and moves it to the trash. It returns
// NotFound if the document does not belong to the abstract, PreconditionFailed if match
// does not accept its version.
func (a *Abstracts) Detach(ctx context.Context, actor model.Actor, id, file uint64, match Match) error {
	return trash(ctx, a.v, fileOpsOfAbstract(id), actor, file, match, "detached", trashFile)
}

func fileCountDetail(f AbstractWithFiles) map[string]string {
	return map[string]string{"files": strconv.Itoa(len(f.Files))}
}

// ReadAbstractFiles reads the documents of a page of abstracts.
func ReadAbstractFiles(ctx context.Context, t *store.Tx, found Page[model.Abstract]) (page Page[AbstractWithFiles], err error) {
	page.Next, page.Prev, page.Bytes, page.Truncated = found.Next, found.Prev, found.Bytes, found.Truncated
	for _, abstract := range found.Items {
		if err := ctx.Err(); err != nil {
			return page, err
		}
		f, err := AbstractOps.get(t, abstract.ID)
		if errors.Is(err, store.ErrDamaged) {
			f.Abstract = abstract // with the documents up to the damaged one: the others need not wait
		} else if err != nil {
			return page, err
		}
		page.Items = append(page.Items, f)
	}
	return page, nil
}
