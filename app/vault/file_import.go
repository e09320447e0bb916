package vault

import (
	"context"
	"fmt"

	"golang.org/x/text/unicode/norm"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// An import files a tree of documents that are on a disk already. Where it has been
// is not noted anywhere: what the vault has is what was done. A document is there when
// a live file of the same folder has its name and its bytes, and that is looked at
// once more in the transaction that would file it; so an import that is killed and
// begun again, or run twice at the same time, files nothing twice.

// ImportTarget is where an import puts a document: its folder (0: none) and its name.
type ImportTarget struct {
	FolderID uint64
	Filename string
}

// matches compares names by their composed form: systems differ in how they write "é".
func (p ImportTarget) matches(f model.File) bool {
	return f.FolderID == p.FolderID && f.AbstractID == 0 && norm.NFC.String(f.Filename) == norm.NFC.String(p.Filename)
}

// CheckNameAndSize says why a document of this name and size would be refused without a look
// inside; "" when it would not.
func (f *Files) CheckNameAndSize(name string, size int64) string {
	_, accepted := document.Extension(name)
	switch {
	case size == 0:
		return document.ReasonEmpty
	case size > f.v.Settings.MaxFileSize:
		return document.ReasonTooLarge(f.v.Settings.MaxFileSize)
	case !accepted:
		return document.ReasonUnsupportedType
	}
	return ""
}

// FindImported gives the document that is at a place with these bytes (SHA-256 in hex);
// found is false when there is none.
func (f *Files) FindImported(ctx context.Context, place ImportTarget, digest string) (file model.File, found bool, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) (err error) {
		file, found, err = place.find(t, digest)
		return err
	})
	return file, found, err
}

func (p ImportTarget) find(t *store.Tx, digest string) (model.File, bool, error) {
	sum, err := blobstore.ParseDigest(digest)
	if err != nil {
		return model.File{}, false, errs.InvalidField("sha256", "The sha256 field must be 64 hexadecimal digits.")
	}
	return t.FindFileByDigest(sum, p.matches)
}

// Imported is what became of one document.
type Imported struct {
	File      model.File
	Existed   bool   // it was there already
	Rejection string // why it was refused; then there is no file
}

// Import files the one document of a tray at its place, unless it is there. Digest is
// what the caller read (SHA-256 in hex): Conflict when other bytes arrived. NotFound
// when there is no such folder.
func (f *Files) Import(ctx context.Context, actor model.Actor, place ImportTarget, digest string, tray *StagedUpload) (Imported, error) {
	filing, err := tray.commit()
	if err != nil {
		return Imported{}, err
	}
	defer func() { filing.finish(err) }()
	if len(filing.rejected) > 0 {
		return Imported{Rejection: filing.rejected[0].Reason}, nil
	}
	if len(filing.accepted) != 1 || filing.accepted[0].staged.Digest().String() != digest {
		err = &errs.Error{Kind: errs.Conflict, Message: "The document changed while it was read."}
		return Imported{}, err
	}
	var done Imported
	err = f.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if place.FolderID != 0 && !t.HasFolder(place.FolderID) {
			return errs.RecordNotFound("folder", place.FolderID)
		}
		done.File, done.Existed, err = place.find(t, digest)
		return err
	}, func(t *store.Tx) error {
		if done.Existed {
			return nil
		}
		list, err := filing.saveRecords(f.v, t, f.v.Now(), actor, model.File{FolderID: place.FolderID})
		if err != nil {
			return err
		}
		done.File = list[0]
		return nil
	})
	f.v.Queued.Notify()
	return done, err
}

// CheckImport inspects the one document of a tray as Import would, and stores nothing. It
// returns the reason for which Import would reject the document, "" for none.
func (f *Files) CheckImport(tray *StagedUpload) (refusal string, err error) {
	judged, err := tray.accepted()
	if err != nil || len(judged.rejected) == 0 {
		return "", err
	}
	return judged.rejected[0].Reason, nil
}

// Ensure gives the folder of a name below a parent (0: the root), compared without
// case, and makes it where there is none. With dry it makes none, and gives the zero
// Folder then; missing is how many folders between the parent and this one don't exist
// yet either, which only a dry call can have. Invalid for a name that no folder can
// have, a folder that would be too deep, or a parent that is gone.
func (f *Folders) Ensure(ctx context.Context, actor model.Actor, parent uint64, missing int, name string, dry bool) (folder model.Folder, made bool, err error) {
	if missing < 0 || missing > model.MaxFolderDepth || missing > 0 && !dry {
		return folder, false, errs.InvalidField("missing", model.MsgFolderTooDeep)
	}
	draft := model.FolderDraft{Name: model.StringInput(name)}
	if parent != 0 {
		draft.ParentID = model.IDInput{Present: true, Valid: true, Value: int64(parent)}
	}
	look := func(t *store.Tx) error {
		made = false
		wanted, refused := draft.Check(parent == 0 || t.HasFolder(parent))
		if err := refused.Err(); err != nil {
			return err
		}
		id, found := uint64(0), false
		if missing == 0 {
			id, found = t.FolderByName(parent, wanted.Name)
		}
		if !found {
			if !fitsDepth(t, parent, missing+1) {
				return errs.InvalidField("parent_id", model.MsgFolderTooDeep)
			}
			folder, made = wanted, true
			return nil
		}
		folder, err = t.Folder(id)
		return err
	}
	if err := f.v.Store.View(ctx, look); err != nil || !made {
		return folder, false, err
	}
	if dry {
		return model.Folder{}, false, nil
	}
	err = f.v.Write(ctx, actor, look, func(t *store.Tx) (err error) {
		if !made {
			return nil
		}
		folder, err = f.add(t, actor, f.v.Now(), folder)
		return err
	})
	if err != nil {
		return model.Folder{}, false, fmt.Errorf("folder %q: %w", name, err)
	}
	return folder, made, nil
}
