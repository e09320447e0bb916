package vault

import (
	"context"
	"errors"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Skipped is a document that a bulk operation did not change, with the reason.
type Skipped struct {
	File   model.File // only its ID is set if the document does not exist
	Reason string
}

// Move moves documents into a folder in one transaction. Folder 0 moves them out of their
// folders. It returns the number of moved documents, and the skipped ones: documents that
// belong to an abstract or no longer exist. It returns NotFound if the folder does not
// exist.
func (f *Files) Move(ctx context.Context, actor model.Actor, ids []uint64, folder uint64) (moved int, skipped []Skipped, err error) {
	return f.move(ctx, actor, ids, folder, func(model.File) string { return "" })
}

// MoveBack undoes Move by moving documents from the folder from back to folder. It skips
// documents that are no longer in from.
func (f *Files) MoveBack(ctx context.Context, actor model.Actor, ids []uint64, from, folder uint64) (moved int, skipped []Skipped,
	err error) {
	return f.move(ctx, actor, ids, folder, func(file model.File) string {
		if file.FolderID != from && file.FolderID != folder {
			return "The document was moved to another folder."
		}
		return ""
	})
}

func (f *Files) move(ctx context.Context, actor model.Actor, ids []uint64, folder uint64,
	skipReason func(model.File) string) (moved int, skipped []Skipped, err error) {
	return f.applyToMany(ctx, actor, ids, func(t *store.Tx) error {
		if folder != 0 && !t.HasFolder(folder) {
			return errs.RecordNotFound("folder", folder)
		}
		return nil
	}, func(file model.File) (reason string, unchanged bool) {
		if file.AbstractID != 0 {
			return "The document belongs to an abstract.", false
		}
		return skipReason(file), file.FolderID == folder
	}, func(t *store.Tx, old model.File) error {
		now := old
		now.FolderID = folder
		now.Version++
		return errors.Join(t.PutFile(now), t.AddEvent(model.Event{At: f.v.Now(), Actor: actor, Kind: "file.changed",
			Record: txn.RecordRef(FileOps.Name, old.ID), Changes: old.Changes(now)}))
	})
}

// TrashMany moves documents to the trash in one transaction. It returns the number of
// trashed documents, and the skipped ones: documents that no longer exist.
func (f *Files) TrashMany(ctx context.Context, actor model.Actor, ids []uint64) (trashed int, skipped []Skipped, err error) {
	return f.applyToMany(ctx, actor, ids, nil, func(model.File) (string, bool) { return "", false }, func(t *store.Tx, live model.File) error {
		at := f.v.Now()
		detail, err := trashFile(t, live, model.Trashed{At: at, By: actor})
		if err != nil {
			return err
		}
		return f.v.AddEvent(t, at, actor, "file.trashed", txn.RecordRef(FileOps.Name, live.ID), detail)
	})
}

// applyToMany calls do for each document in one transaction. It skips documents for which
// classify returns a reason. Documents that classify reports as unchanged are counted,
// but do is not called for them.
func (f *Files) applyToMany(ctx context.Context, actor model.Actor, ids []uint64, check func(*store.Tx) error,
	classify func(model.File) (reason string, unchanged bool), do func(*store.Tx, model.File) error) (count int, skipped []Skipped,
	err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var selected selection
	err = f.v.Update(ctx, actor, func(t *store.Tx) (err error) {
		if check != nil {
			if err := check(t); err != nil {
				return err
			}
		}
		if selected, err = selectFiles(t, ids, classify); err == nil && len(selected.ids) == 0 {
			err = txn.ErrNoChange
		}
		return err
	}, func(t *store.Tx) error {
		for _, id := range selected.ids {
			// Read the document again, because do may have changed it while handling
			// another document.
			now, err := t.File(id)
			if err != nil {
				return err
			}
			if err := do(t, now); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	if err != nil {
		return 0, nil, err
	}
	return selected.unchanged + len(selected.ids), selected.skipped, nil
}

// selection is the result of classifying the documents of a bulk operation.
type selection struct {
	ids       []uint64 // documents to change
	skipped   []Skipped
	unchanged int // number of documents that need no change, included in the count
}

// selectFiles calls classify for each document. Documents that don't exist are added to
// the skipped ones.
func selectFiles(t *store.Tx, ids []uint64, classify func(model.File) (reason string, unchanged bool)) (s selection, err error) {
	for _, id := range ids {
		file, err := t.File(id)
		if errs.KindOf(err) == errs.NotFound {
			s.skipped = append(s.skipped, Skipped{model.File{ID: id}, "The document was deleted."})
			continue
		}
		if err != nil {
			return s, err
		}
		reason, unchanged := classify(file)
		switch {
		case reason != "":
			s.skipped = append(s.skipped, Skipped{file, reason})
		case unchanged:
			s.unchanged++
		default:
			s.ids = append(s.ids, id)
		}
	}
	return s, nil
}
