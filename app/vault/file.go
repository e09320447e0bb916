package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"deedkeep/app/blob"
	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault/storage"
)

// Files uploads, lists, changes, and deletes documents.
type Files struct{ v *Vault }

// FileOps reads and writes documents for the shared operations.
var FileOps = recordOps[model.File]{
	Name:              "file",
	get:               (*store.Tx).File,
	getIncludingTrash: (*store.Tx).FileIncludingTrash,
	version:           func(f model.File) uint64 { return f.Version },
	trashed:           func(f model.File) *model.Trashed { return f.Trashed },
	changes:           model.File.Changes,
	keep:              keepRenaming,
	retainedUntil:     (*Vault).fileRetainedUntil,
	save: func(v *Vault, t *store.Tx, now model.File, at time.Time) (model.File, error) {
		now.Version++
		return v.putFile(t, now, at)
	},
}

// putFile writes a document. Every change of the abstract of a document goes through it, because the
// store rejects such a change elsewhere, and so does every move to the trash without the abstract.
// putFile keeps the lists of the abstracts up to date: a restored document returns to its position, and
// a moved one is appended. A document that leaves its abstract keeps the end of its retention period,
// and so does the abstract.
func (v *Vault) putFile(t *store.Tx, now model.File, at time.Time) (model.File, error) {
	old, err := t.FileIncludingTrash(now.ID)
	if err != nil {
		return now, err
	}
	var retained time.Time
	if old.Leaves(now) {
		if retained, err = v.retainedWhenRemoved(t, old, at); err != nil {
			return now, err
		}
		now.RetainedUntil, now.Retained = later(v.fileRetainedBefore(old), retained), false
	}
	from, to := old.ListedIn(), now.ListedIn()
	if from != 0 && from != to {
		abstract, err := t.Abstract(from)
		if err != nil {
			return now, err
		}
		position := abstract.RemoveFile(now.ID)
		if now.Trashed != nil {
			now.Trashed.Position = position
		}
		abstract.RetainedUntil = later(abstract.RetainedUntil, retained)
		NextVersion(&abstract.Version, &abstract.UpdatedAt, at)
		if err := t.PutAbstract(abstract); err != nil {
			return now, err
		}
	}
	if to != 0 && to != from {
		abstract, err := t.Abstract(to)
		if err != nil {
			return now, err
		}
		position := len(abstract.Files)
		if old.Trashed != nil {
			position = old.Trashed.Position
		}
		abstract.RestoreFile(now.ID, position)
		NextVersion(&abstract.Version, &abstract.UpdatedAt, at)
		if err := t.PutAbstract(abstract); err != nil {
			return now, err
		}
	}
	return now, t.PutMovedFile(now)
}

// fileOpsOfAbstract returns FileOps restricted to the documents of one abstract.
func fileOpsOfAbstract(abstract uint64) recordOps[model.File] {
	ops := FileOps
	ops.get = func(t *store.Tx, id uint64) (model.File, error) {
		if _, err := t.Abstract(abstract); err != nil {
			return model.File{}, err
		}
		file, err := t.File(id)
		if err == nil && file.AbstractID != abstract {
			err = errs.RecordNotFound(fmt.Sprintf("file of abstract %d", abstract), id)
		}
		return file, err
	}
	return ops
}

// Upload stores the accepted documents of an upload in the draft's folder, if any, or in the
// subfolder at the draft's path below it. It creates missing subfolders only when it stores
// the first accepted document, so that an upload without accepted documents leaves no empty
// folders. If the folder doesn't exist or the request contains no file, it stores nothing
// and returns Invalid.
func (f *Files) Upload(ctx context.Context, actor model.Actor, draft model.UploadDraft, upload *StagedUpload,
	idempotency Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	if err := f.v.Store.View(ctx, func(t *store.Tx) error { _, err := f.check(t, draft, upload); return err }); err != nil {
		return AbstractWithFiles{}, err
	}
	checked, err := upload.commit()
	if err != nil {
		return AbstractWithFiles{}, err
	}
	defer func() { checked.finish(err) }()
	result := AbstractWithFiles{Failures: checked.rejected}
	if len(checked.files) == 0 && !idempotency.enabled() {
		return result, nil
	}
	var location model.File
	err = f.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, f.v); err != nil {
			return err
		}
		if location.FolderID, err = f.check(t, draft, upload); err == nil {
			_, _, err = ResolvePath(t, location.FolderID, draft.Path)
		}
		return err
	}, func(t *store.Tx) (err error) {
		at := f.v.Now()
		if len(checked.files) > 0 {
			if location.FolderID, err = f.v.Folders.ensurePath(t, actor, at, location.FolderID, draft.Path); err != nil {
				return err
			}
		}
		if result.Files, err = checked.saveRecords(f.v, t, at, actor, location, nil); err != nil {
			return err
		}
		return idempotency.SaveResponse(t, at, result)
	})
	f.v.Queued.Notify()
	return result, err
}

func (f *Files) check(t *store.Tx, draft model.UploadDraft, upload *StagedUpload) (uint64, error) {
	id, rejected := draft.Check(upload.HasFiles(), folderExists(t, draft.FolderID))
	return id, rejected.Err()
}

// Get returns the record of a document, or NotFound.
func (f *Files) Get(ctx context.Context, id uint64) (model.File, error) {
	return store.Read(ctx, f.v.Store, func(t *store.Tx) (model.File, error) { return t.File(id) })
}

// List returns a page of documents, including those of abstracts.
func (f *Files) List(ctx context.Context, q Query) (Page[model.File], error) {
	return list(ctx, f.v, q, (*store.Tx).ListFiles)
}

// Patch changes the name, folder, or abstract of a document. The content of a document never
// changes. It returns Invalid, listing every invalid field, Conflict if the abstract has too many
// documents, or PreconditionFailed if match doesn't accept the current version.
func (f *Files) Patch(ctx context.Context, actor model.Actor, id uint64, p model.FilePatch, match Match) (model.File, error) {
	return patch(ctx, f.v, FileOps, actor, id, match, f.patched(p))
}

// patched returns the function that applies a patch.
func (f *Files) patched(p model.FilePatch) func(*store.Tx, model.File) (model.File, error) {
	return func(t *store.Tx, old model.File) (model.File, error) {
		var abstract model.Abstract
		var err error
		if in := p.AbstractID.Value; in.Valid && in.Value > 0 {
			if abstract, err = t.Abstract(uint64(in.Value)); err != nil && errs.KindOf(err) != errs.NotFound {
				return old, err
			}
		}
		now, rejected := p.Check(old, folderExists(t, p.FolderID.Value), abstract.ID != 0 && err == nil)
		if now.AbstractID != old.AbstractID && now.AbstractID != 0 && len(abstract.Files) >= f.v.MaxFilesPerAbstract() {
			return old, &errs.Error{Kind: errs.Conflict, Message: document.ReasonAbstractFull + "."}
		}
		return now, rejected.Err()
	}
}

// wrongTurns is the code of a rotation that isn't valid.
const wrongTurns errs.Code = "The {field} field must have a digit from 0 to 3, or \"-\", for each page."

// Turn sets the rotation of the pages that are known in set, for everyone. The document keeps its version,
// because its content stays the same. edit is what UndoEdit needs; its version is 0 if nothing changed. Turn
// returns Invalid if set has more pages than the document.
func (f *Files) Turn(ctx context.Context, actor model.Actor, id uint64, set model.PageTurns) (file model.File, edit Edit, err error) {
	return f.turn(ctx, actor, id, func(_ *store.Tx, file model.File) (model.PageTurns, error) {
		pages := 0
		if file.ShownAsImages() {
			pages = max(file.PageCount(), 1)
		}
		if !set.Valid(pages) {
			return "", errs.InvalidField("turns", wrongTurns)
		}
		return file.Turns.Merge(set), nil
	})
}

// turn sets the rotation of the pages to what change returns.
func (f *Files) turn(ctx context.Context, actor model.Actor, id uint64, change func(*store.Tx, model.File) (model.PageTurns, error),
) (file model.File, edit Edit, err error) {
	var old model.File
	err = f.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if old, err = t.File(id); err != nil {
			return err
		}
		file = old
		file.Turns, err = change(t, old)
		return err
	}, func(t *store.Tx) error {
		edit = Edit{Type: FileOps.Name, ID: id, Part: turnsPart}
		changes := old.ShownTurns().Changes(file.ShownTurns())
		if len(changes) == 0 {
			return nil
		}
		at := f.v.Now()
		list, err := kept[restorable](t, f.v, edit)
		if err != nil {
			return err
		}
		edit.Version = uint64(at.UnixMicro()) // later than 1970
		for _, earlier := range list {
			edit.Version = max(edit.Version, earlier.Version+1)
		}
		return errors.Join(f.v.AddEntry(t, model.Event{At: at, Actor: actor, Kind: "file.page_turned",
			Record: model.RecordRef(FileOps.Name, id), Changes: changes}), t.PutFile(file),
			keep(t, f.v, edit, actor, at, restorableOf(old), restorableOf(file)))
	})
	return file, edit, err
}

// Trash moves a document to the trash and removes it from its abstract.
func (f *Files) Trash(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	return trash(ctx, f.v, FileOps, actor, id, match, "trashed", f.v.trashFile)
}

// trashFile moves a document to the trash. If the document belongs to an abstract, it
// saves the document's position there.
func (v *Vault) trashFile(t *store.Tx, live model.File, in model.Trashed) (map[string]string, error) {
	live.Trashed = &in
	_, err := v.putFile(t, live, in.At)
	return FileDetail(live), err
}

// Restore restores a document to its position in its abstract or to its folder. If the
// abstract or folder no longer exists, the document is restored without one. It returns
// Conflict if the abstract is in the trash or full. If the document is not in the trash,
// it changes nothing.
func (f *Files) Restore(ctx context.Context, actor model.Actor, id uint64, idempotency Idempotency[model.File]) (model.File, error) {
	return restore(ctx, f.v, FileOps, actor, id, idempotency, func(t *store.Tx, in model.File) error {
		if in.AbstractID == 0 {
			return nil
		}
		abstract, err := t.AbstractIncludingTrash(in.AbstractID)
		switch {
		case errs.KindOf(err) == errs.NotFound:
			return nil
		case err == nil && abstract.Trashed != nil:
			return &errs.Error{Kind: errs.Conflict, Message: "The abstract of this document is in the trash. Restore the abstract first."}
		case err == nil && len(abstract.Files) >= f.v.MaxFilesPerAbstract():
			return &errs.Error{Kind: errs.Conflict, Message: document.ReasonAbstractFull + "."}
		}
		return err
	}, f.v.restoreFile)
}

func (v *Vault) restoreFile(t *store.Tx, in model.File, at time.Time) (model.File, map[string]string, error) {
	out := in
	out.Trashed = nil
	if out.FolderID != 0 && !t.HasFolder(out.FolderID) {
		out.FolderID = 0
	}
	if out.AbstractID != 0 {
		if _, err := t.Abstract(out.AbstractID); errs.KindOf(err) == errs.NotFound {
			out.AbstractID = 0 // it was purged
		} else if err != nil {
			return out, nil, err
		}
	}
	out, err := v.putFile(t, out, at)
	return out, FileDetail(out), err
}

// OpenBytes opens a document's blob without verifying it.
func (v *Vault) OpenBytes(ctx context.Context, file model.File) (blob.Reader, error) {
	digest, err := blobstore.ParseDigest(file.Digest)
	if err != nil {
		return nil, fmt.Errorf("file %d: %w", file.ID, err)
	}
	content, err := v.Blobs.Open(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("open document %d: %w", file.ID, err)
	}
	return content, nil
}

// Open opens the content of a document. The caller must close it. Open returns NotFound
// if the document does not exist, or a DamagedError if its blob is damaged. A blob that
// was not verified recently is verified before Open returns. A large blob is verified
// while the caller reads it. If it is damaged, the last read fails with the reader's Err,
// and the caller must abort the response.
func (f *Files) Open(ctx context.Context, id uint64) (model.File, io.ReadSeekCloser, error) {
	file, err := f.Get(ctx, id)
	if err != nil {
		return file, nil, err
	}
	content, unverified, err := f.v.OpenVerified(ctx, file)
	if err != nil || unverified == nil {
		return file, content, err
	}
	return file, &VerifyingFile{unverified, content, f.v, file}, nil
}

// VerifyingFile is an open large document that is verified while it is read.
type VerifyingFile struct {
	*blobstore.VerifyingReader
	file   blob.Reader
	v      *Vault
	record model.File
}

// Close closes the file and records the result of the verification. If the caller did not
// read the file to the end, Close queues the blob for verification.
func (vf *VerifyingFile) Close() error {
	switch {
	case vf.Err() != nil:
		vf.v.RecordDamage(context.Background(), vf.Digest(), vf.record.ID, vf.Err())
	case vf.Verified():
		vf.v.ClearDamage(vf.Digest())
	default:
		vf.v.VerifySoon(vf.Digest())
	}
	return vf.file.Close()
}

// KnownDamage returns a DamagedError for the first document whose blob is known to be
// damaged, or nil if there is none. It doesn't read any blobs.
func (f *Files) KnownDamage(list ...model.File) error {
	if f.v.DamagedBlobs.Count() == 0 {
		return nil
	}
	for _, file := range list {
		digest, err := blobstore.ParseDigest(file.Digest)
		if err != nil {
			return fmt.Errorf("file %d: %w", file.ID, err)
		}
		if known, marked := f.v.DamagedBlobs.Lookup(digest); marked {
			if !known.RecentlyChecked(f.v.Now()) {
				f.v.VerifySoon(digest)
			}
			return &storage.DamagedError{File: file, Cause: fmt.Errorf("%w: %s", blobstore.ErrDamaged, known.Problem)}
		}
	}
	return nil
}

// OpenVerified opens a document's blob and verifies it. A large blob is not verified yet:
// for it, OpenVerified also returns a reader that verifies the blob while it is read.
func (v *Vault) OpenVerified(ctx context.Context, file model.File) (blob.Reader, *blobstore.VerifyingReader, error) {
	digest, err := blobstore.ParseDigest(file.Digest)
	if err != nil {
		return nil, nil, fmt.Errorf("file %d: %w", file.ID, err)
	}
	content, unverified, err := v.Blobs.OpenVerified(ctx, digest, file.Size)
	switch {
	case err == nil && unverified == nil:
		v.ClearDamage(digest)
		return content, nil, nil
	case err == nil:
		return content, unverified, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case !storage.IsDamageError(err):
		return nil, nil, fmt.Errorf("open document %d: %w", file.ID, err)
	}
	damaged := errs.RecordNotFound("file", file.ID) // returned if the file was purged in the meantime
	failed := v.WithFileOfBlob(ctx, digest, func(model.File) {
		damaged = &storage.DamagedError{File: file, Cause: err}
		known, marked := v.DamagedBlobs.Lookup(digest)
		if marked && known.RecentlyChecked(v.Now()) {
			return
		}
		v.RecordDamage(ctx, digest, file.ID, err)
		if marked {
			v.VerifySoon(digest)
		}
	})
	if failed != nil {
		return nil, nil, failed
	}
	return nil, nil, damaged
}

// FileDetail returns the details to include in a document's audit entry.
func FileDetail(f model.File) map[string]string {
	detail := map[string]string{"sha256": f.Digest}
	if f.AbstractID != 0 {
		detail["abstract"] = model.RecordRef("abstract", f.AbstractID)
	}
	return detail
}
