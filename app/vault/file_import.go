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

// ImportTarget is the destination of an imported document: its folder (0: no folder) and
// filename.
type ImportTarget struct {
	FolderID uint64
	Filename string
}

// matches reports whether f has the target's folder and filename. It compares the
// filenames in NFC form, because operating systems encode accented characters
// differently.
func (i ImportTarget) matches(f model.File) bool {
	return f.FolderID == i.FolderID && f.AbstractID == 0 && norm.NFC.String(f.Filename) == norm.NFC.String(i.Filename)
}

// CheckNameAndSize returns the reason to reject a document by its name or size. It
// returns "" if neither is a reason to reject it, so that its content must be inspected.
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

// FindImported returns the document at target whose content has the given SHA-256 digest
// (in hexadecimal). found is false if there is none.
func (f *Files) FindImported(ctx context.Context, target ImportTarget, digest string) (file model.File, found bool, err error) {
	err = f.v.Store.View(ctx, func(t *store.Tx) (err error) {
		file, found, err = target.find(t, digest)
		return err
	})
	return file, found, err
}

func (i ImportTarget) find(t *store.Tx, digest string) (model.File, bool, error) {
	sum, err := blobstore.ParseDigest(digest)
	if err != nil {
		return model.File{}, false, errs.InvalidField("sha256", "The sha256 field must be 64 hexadecimal digits.")
	}
	return t.FindFileByDigest(sum, i.matches)
}

// Imported is the result of importing one document.
type Imported struct {
	File      model.File
	Existed   bool   // whether the document already existed
	Rejection string // reason for rejection; if not "", File is zero
}

// Import stores the only document of an upload at its target unless the same document is
// already there. It checks this again inside the transaction, so that neither a resumed
// import nor two concurrent imports create duplicates. It returns Conflict if the content
// doesn't have the given SHA-256 digest (in hexadecimal). It returns NotFound if the
// folder does not exist.
func (f *Files) Import(ctx context.Context, actor model.Actor, target ImportTarget, digest string, upload *StagedUpload) (Imported, error) {
	checked, err := upload.commit()
	if err != nil {
		return Imported{}, err
	}
	defer func() { checked.finish(err) }()
	if len(checked.rejected) > 0 {
		return Imported{Rejection: checked.rejected[0].Reason}, nil
	}
	if len(checked.files) != 1 || checked.files[0].staged.Digest().String() != digest {
		err = &errs.Error{Kind: errs.Conflict, Message: "The file changed while the server was reading it. Try again."}
		return Imported{}, err
	}
	var result Imported
	err = f.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if target.FolderID != 0 && !t.HasFolder(target.FolderID) {
			return errs.RecordNotFound("folder", target.FolderID)
		}
		result.File, result.Existed, err = target.find(t, digest)
		return err
	}, func(t *store.Tx) error {
		if result.Existed {
			return nil
		}
		list, err := checked.saveRecords(f.v, t, f.v.Now(), actor, model.File{FolderID: target.FolderID}, nil)
		if err != nil {
			return err
		}
		result.File = list[0]
		return nil
	})
	f.v.Queued.Notify()
	return result, err
}

// CheckImport inspects the only document of an upload without storing it. It returns the
// reason why Import would reject the document, or "" if Import would accept it.
func (f *Files) CheckImport(upload *StagedUpload) (rejection string, err error) {
	checked, err := upload.checked()
	if err != nil || len(checked.rejected) == 0 {
		return "", err
	}
	return checked.rejected[0].Reason, nil
}

// Ensure returns the subfolder of parent with the given name, ignoring case. If the
// subfolder does not exist, Ensure creates it. If dry is true, it creates nothing and
// returns the zero Folder instead; missing is then the number of folders above this one,
// up to parent, that don't exist yet. Parent 0 is the root. Ensure returns Invalid if the
// name is invalid, the parent does not exist, or the folder would be too deep.
func (f *Folders) Ensure(ctx context.Context, actor model.Actor, parent uint64, missing int, name string,
	dry bool) (folder model.Folder, created bool, err error) {
	if missing < 0 || missing > model.MaxFolderDepth || missing > 0 && !dry {
		return folder, false, errs.InvalidField("missing", model.MsgFolderTooDeep)
	}
	draft := model.FolderDraft{Name: model.StringInput(name), ParentID: model.NewIDInput(parent)}
	resolve := func(t *store.Tx) error {
		created = false
		wanted, rejected := draft.Check(parent == 0 || t.HasFolder(parent))
		if err := rejected.Err(); err != nil {
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
			folder, created = wanted, true
			return nil
		}
		folder, err = t.Folder(id)
		return err
	}
	if err := f.v.Store.View(ctx, resolve); err != nil || !created {
		return folder, false, err
	}
	if dry {
		return model.Folder{}, false, nil
	}
	err = f.v.Write(ctx, actor, resolve, func(t *store.Tx) (err error) {
		if !created {
			return nil
		}
		folder, err = f.add(t, actor, f.v.Now(), folder)
		return err
	})
	if err != nil {
		return model.Folder{}, false, fmt.Errorf("create folder %q: %w", name, err)
	}
	return folder, created, nil
}
