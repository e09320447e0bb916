package vault

import (
	"context"
	"fmt"
	"os"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Files are the verbs on documents.
type Files struct{ v *Vault }

var FileOps = recordOps[model.File]{
	Name:              "file",
	get:               (*store.Tx).File,
	getIncludingTrash: (*store.Tx).FileIncludingTrash,
	version:           func(f model.File) uint64 { return f.Version },
	trashed:           func(f model.File) *model.Trashed { return f.Trashed },
	changes:           model.File.Changes,
	retainedUntil:     (*Vault).fileRetainedUntil,
	save: func(t *store.Tx, now model.File, _ time.Time) (model.File, error) {
		now.Version++
		return now, t.PutFile(now)
	},
}

// fileOpsOfAbstract is the noun of the documents of one abstract: others are not there.
func fileOpsOfAbstract(abstract uint64) recordOps[model.File] {
	n := FileOps
	n.get = func(t *store.Tx, id uint64) (model.File, error) {
		if _, err := t.Abstract(abstract); err != nil {
			return model.File{}, err
		}
		file, err := t.File(id)
		if err == nil && file.AbstractID != abstract {
			err = errs.RecordNotFound(fmt.Sprintf("file of abstract %d", abstract), id)
		}
		return file, err
	}
	return n
}

// Upload files the tray's good documents in a folder, or in none. Invalid when the
// folder is not there or no file was sent; then nothing is stored.
func (f *Files) Upload(ctx context.Context, actor model.Actor, draft model.UploadDraft, tray *StagedUpload, keep Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	return f.UploadInto(ctx, actor, draft, nil, tray, keep)
}

// upload is Upload into a folder that names lead to from the one of the draft. What is
// missing of it is created with the first good document: rejected ones leave no folders.
func (f *Files) UploadInto(ctx context.Context, actor model.Actor, draft model.UploadDraft, path []string, tray *StagedUpload, keep Idempotency[AbstractWithFiles]) (AbstractWithFiles, error) {
	if err := f.v.Store.View(ctx, func(t *store.Tx) error { _, err := f.check(t, draft, tray); return err }); err != nil {
		return AbstractWithFiles{}, err
	}
	filing, err := tray.commit()
	if err != nil {
		return AbstractWithFiles{}, err
	}
	defer func() { filing.finish(err) }()
	filed := AbstractWithFiles{Failures: filing.rejected}
	if len(filing.accepted) == 0 && !keep.enabled() {
		return filed, nil
	}
	var place model.File
	err = f.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := keep.CheckUnused(t, f.v); err != nil {
			return err
		}
		if place.FolderID, err = f.check(t, draft, tray); err == nil {
			_, _, err = ResolvePath(t, place.FolderID, path)
		}
		return err
	}, func(t *store.Tx) (err error) {
		at := f.v.Now()
		if len(filing.accepted) > 0 {
			if place.FolderID, err = f.v.Folders.ensurePath(t, actor, at, place.FolderID, path); err != nil {
				return err
			}
		}
		if filed.Files, err = filing.saveRecords(f.v, t, at, actor, place); err != nil {
			return err
		}
		return keep.SaveResponse(t, at, filed)
	})
	f.v.Queued.Notify()
	return filed, err
}

func (f *Files) check(t *store.Tx, draft model.UploadDraft, tray *StagedUpload) (uint64, error) {
	id, refused := draft.Check(tray.HasFiles(), folderExists(t, draft.FolderID))
	return id, refused.Err()
}

// Get reads the record of a document; NotFound when there is none.
func (f *Files) Get(ctx context.Context, id uint64) (file model.File, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) (err error) {
		file, err = t.File(id)
		return err
	})
	return file, err
}

// List reads a page of documents, those of abstracts too.
func (f *Files) List(ctx context.Context, q Query) (Page[model.File], error) {
	return list(ctx, f.v, q, (*store.Tx).ListFiles)
}

// Patch changes what was sent of a document: its name, its folder. Its bytes never
// change. Invalid with every wrong field at once, Stale when it is not what was
// expected.
func (f *Files) Patch(ctx context.Context, actor model.Actor, id uint64, p model.FilePatch, match Match) (model.File, error) {
	return patch(ctx, f.v, FileOps, actor, id, match, func(t *store.Tx, old model.File) (model.File, error) {
		now, refused := p.Check(old, folderExists(t, p.FolderID.Value))
		return now, refused.Err()
	})
}

// Trash moves a document into the trash, off its abstract if it has one.
func (f *Files) Trash(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	return trash(ctx, f.v, FileOps, actor, id, match, "trashed", trashFile)
}

// trashFile remembers where the document stood among its abstract's.
func trashFile(t *store.Tx, live model.File, in model.Trashed) (map[string]string, error) {
	if live.AbstractID != 0 {
		abstract, err := t.Abstract(live.AbstractID)
		if err != nil {
			return nil, err
		}
		in.Position = abstract.RemoveFile(live.ID)
		if err := t.PutAbstract(nextVersion(abstract, in.At)); err != nil {
			return nil, err
		}
	}
	live.Trashed = &in
	return fileEventDetail(live), t.PutFile(live)
}

// Restore takes a document out of the trash, back to its place among its abstract's
// or into its folder; when that is gone for good, into no folder. Conflict while its
// abstract is in the trash. One that is live stays as it is.
func (f *Files) Restore(ctx context.Context, actor model.Actor, id uint64, keep Idempotency[model.File]) (model.File, error) {
	return restore(ctx, f.v, FileOps, actor, id, keep, func(t *store.Tx, in model.File) error {
		if in.AbstractID == 0 {
			return nil
		}
		abstract, err := t.AbstractIncludingTrash(in.AbstractID)
		switch {
		case errs.KindOf(err) == errs.NotFound:
			return nil
		case err == nil && abstract.Trashed != nil:
			return &errs.Error{Kind: errs.Conflict, Message: "Its abstract is in the trash; restore that first."}
		case err == nil && len(abstract.Files) >= f.v.MaxFilesPerAbstract():
			return &errs.Error{Kind: errs.Conflict, Message: document.ReasonAbstractFull + "."}
		}
		return err
	}, restoreFile)
}

func restoreFile(t *store.Tx, in model.File, at time.Time) (model.File, map[string]string, error) {
	out, place := in, in.Trashed.Position
	out.Trashed = nil
	if out.FolderID != 0 && !t.HasFolder(out.FolderID) {
		out.FolderID = 0
	}
	if out.AbstractID != 0 {
		abstract, err := t.Abstract(out.AbstractID)
		switch {
		case errs.KindOf(err) == errs.NotFound:
			// The retention that covered it in the trash covers it still.
			out.AbstractID, out.Retained = 0, underRetention(in)
		case err != nil:
			return out, nil, err
		default:
			abstract.RestoreFile(out.ID, place)
			if err := t.PutAbstract(nextVersion(abstract, at)); err != nil {
				return out, nil, err
			}
		}
	}
	return out, fileEventDetail(out), t.PutFile(out)
}

func (v *Vault) OpenBytes(file model.File) (*os.File, error) {
	digest, err := blobstore.ParseDigest(file.Digest)
	if err != nil {
		return nil, fmt.Errorf("file %d: %w", file.ID, err)
	}
	bytes, err := v.Blobs.Open(digest)
	if err != nil {
		return nil, fmt.Errorf("bytes of file %d: %w", file.ID, err)
	}
	return bytes, nil
}
