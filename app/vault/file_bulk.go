package vault

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"deedkeep/app/document"
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

// Destination is where documents are moved to: an abstract, a folder, or neither.
type Destination struct{ Abstract, Folder uint64 }

// MoveRequest describes a move of documents.
type MoveRequest struct {
	Files []uint64
	To    Destination
	// From limits the move to documents that are still there. nil means no limit.
	From *Destination
	// Instruments move to the abstract together with their documents. Those of other abstracts than the
	// documents, such as the copies of a bring-down, stay.
	Instruments []uint64
	// Positions are the places of documents in the abstract's list, starting with 0. Other documents
	// are appended.
	Positions map[uint64]int
}

// MoveResult is the outcome of a move of documents.
type MoveResult struct {
	Moved       int // number of documents, including those that were there already
	Instruments int
	Skipped     []Skipped
	Retained    []model.File // moved documents that keep the end of a retention period
}

// Move moves documents to an abstract or a folder in one transaction, together with instruments of
// theirs. It skips documents that no longer exist and those for which the abstract has no room. It
// returns NotFound if there is no such abstract or folder.
func (f *Files) Move(ctx context.Context, actor model.Actor, req MoveRequest) (result MoveResult, err error) {
	ids := slices.Compact(slices.Sorted(slices.Values(req.Files)))
	var selected selection
	var instruments []model.Instrument
	err = f.v.Update(ctx, actor, func(t *store.Tx) error {
		room, err := f.room(t, req.To)
		if err != nil {
			return err
		}
		selected, err = selectFiles(t, ids, func(file model.File) (reason string, unchanged bool) {
			at := Destination{file.AbstractID, file.FolderID}
			switch {
			case at == req.To:
				return "", true
			case req.From != nil && at != *req.From:
				return "It was moved in the meantime.", false
			case room == 0:
				return document.ReasonAbstractFull + ".", false
			}
			room--
			return "", false
		})
		if err != nil {
			return err
		}
		if instruments, err = instrumentsToMove(t, req, selected.ids); err == nil && len(selected.ids) == 0 {
			err = txn.ErrNoChange
		}
		return err
	}, func(t *store.Tx) error {
		at := f.v.Now()
		result.Retained = nil
		for _, i := range instruments { // first, because without its documents, the abstract may be retained for a shorter time
			if err := f.v.moveInstrument(t, actor, at, i, req.To.Abstract); err != nil {
				return err
			}
		}
		for _, id := range selected.ids {
			moved, err := f.v.moveFile(t, actor, at, id, req.To)
			if err != nil {
				return err
			}
			if at.Before(moved.RetainedUntil) {
				result.Retained = append(result.Retained, moved)
			}
		}
		return placeFiles(t, req, selected.ids)
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	if err != nil {
		return MoveResult{}, err
	}
	result.Moved, result.Instruments, result.Skipped = selected.unchanged+len(selected.ids), len(instruments), selected.skipped
	return result, nil
}

// PatchWithInstruments is like Patch. If that moves the document to another abstract, the instruments that it is linked
// to move with it in the same transaction, except those of other abstracts.
func (f *Files) PatchWithInstruments(ctx context.Context, actor model.Actor, id uint64, p model.FilePatch) error {
	var file model.File
	to := uint64(max(0, p.AbstractID.Value.Value))
	var instruments []model.Instrument
	_, err := f.v.run(ctx, actor, step{check: func(t *store.Tx) (err error) {
		instruments = nil
		if file, err = t.File(id); err != nil || to == 0 || to == file.AbstractID {
			return cmp.Or(err, txn.ErrNoChange)
		}
		if instruments, err = instrumentsBeside(t, []uint64{id}); len(instruments) == 0 {
			err = cmp.Or(err, txn.ErrNoChange)
		}
		return err
	}, write: func(t *store.Tx) error { // first, because without the document, the abstract may be retained for a shorter time
		for _, i := range instruments {
			if err := f.v.moveInstrument(t, actor, f.v.Now(), i, to); err != nil {
				return err
			}
		}
		return nil
	}}, patching(f.v, FileOps, actor, id, Match{}, f.patched(p), &file))
	return err
}

// room returns how many documents fit into the destination. It returns NotFound if the destination
// doesn't exist.
func (f *Files) room(t *store.Tx, to Destination) (int, error) {
	if to.Abstract == 0 {
		if to.Folder != 0 && !t.HasFolder(to.Folder) {
			return 0, errs.RecordNotFound("folder", to.Folder)
		}
		return math.MaxInt, nil
	}
	abstract, err := t.Abstract(to.Abstract)
	return max(0, f.v.MaxFilesPerAbstract()-len(abstract.Files)), err
}

// moveFile moves a document and adds an audit entry.
func (v *Vault) moveFile(t *store.Tx, actor model.Actor, at time.Time, id uint64, to Destination) (model.File, error) {
	old, err := t.File(id)
	if err != nil {
		return old, err
	}
	now := old
	now.AbstractID, now.FolderID = to.Abstract, to.Folder
	if err := v.AddEntry(t, model.Event{At: at, Actor: actor, Kind: "file.changed", Record: model.RecordRef(FileOps.Name, id),
		Changes: old.Changes(now)}); err != nil {
		return old, err
	}
	return FileOps.save(v, t, now, at)
}

// placeFiles moves documents to their positions in the list of the abstract.
func placeFiles(t *store.Tx, req MoveRequest, moved []uint64) error {
	moved = slices.DeleteFunc(slices.Clone(moved), func(id uint64) bool { _, ok := req.Positions[id]; return !ok })
	if req.To.Abstract == 0 || len(moved) == 0 {
		return nil
	}
	abstract, err := t.Abstract(req.To.Abstract)
	if err != nil {
		return err
	}
	slices.SortStableFunc(moved, func(a, b uint64) int { return cmp.Compare(req.Positions[a], req.Positions[b]) })
	for _, id := range moved {
		abstract.RemoveFile(id)
	}
	for _, id := range moved {
		abstract.RestoreFile(id, req.Positions[id])
	}
	return t.PutAbstract(abstract)
}

// instrumentsToMove returns the instruments of a request that move with the documents.
func instrumentsToMove(t *store.Tx, req MoveRequest, moved []uint64) (list []model.Instrument, err error) {
	if req.To.Abstract == 0 || len(req.Instruments) == 0 {
		return nil, nil
	}
	list, err = instrumentsBeside(t, moved)
	return slices.DeleteFunc(list, func(i model.Instrument) bool { return !slices.Contains(req.Instruments, i.ID) }), err
}

// instrumentsBeside returns the live instruments of documents that belong to the same abstract as the
// document. A bring-down and its prior abstract have instruments with the same documents; they are left out.
func instrumentsBeside(t *store.Tx, files []uint64) (list []model.Instrument, err error) {
	seen := map[uint64]bool{}
	for _, id := range files {
		file, err := t.File(id)
		if errs.KindOf(err) == errs.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		instruments, err := t.InstrumentsOfFile(id)
		if err != nil {
			return nil, err
		}
		for _, i := range instruments {
			if i.Trashed == nil && i.AbstractID == file.AbstractID && !seen[i.ID] {
				seen[i.ID] = true
				list = append(list, i)
			}
		}
	}
	return list, nil
}

// moveInstrument moves an instrument to another abstract and adds an audit entry. Its relations stay,
// even those to instruments of the other abstract. It keeps the end of its retention period.
func (v *Vault) moveInstrument(t *store.Tx, actor model.Actor, at time.Time, i model.Instrument, abstract uint64) error {
	now := i
	if isRetainedAfter(i.CreatedAt, at) {
		retained, err := v.instrumentRetainedUntil(t, i)
		if err != nil {
			return err
		}
		now.RetainedUntil = later(i.RetainedUntil, retained)
	}
	now.AbstractID = abstract
	NextVersion(&now.Version, &now.UpdatedAt, at)
	return errors.Join(v.AddEntry(t, model.Event{At: at, Actor: actor, Kind: "instrument.changed",
		Record: model.RecordRef(InstrumentType, i.ID), Changes: i.Changes(now)}), PutInstrument(t, now), bumpRunsheet(t, i.AbstractID))
}

// MovableInstrument is an instrument that can move together with documents.
type MovableInstrument struct {
	InstrumentView
	Abstract       string // heading of its abstract
	OnlyInSelected bool   // it has no document that stays
}

// MovableInstruments returns the live instruments that can move together with documents: those of the
// abstract that the documents belong to.
func (f *Files) MovableInstruments(ctx context.Context, files []uint64) (list []MovableInstrument, err error) {
	other := func(d model.DocumentLink) bool { return !slices.Contains(files, d.FileID) }
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		list = nil
		instruments, err := instrumentsBeside(t, files)
		if err != nil {
			return err
		}
		page, err := f.v.Instruments.Views(ctx, t, store.Page[model.Instrument]{Items: instruments})
		if err != nil {
			return err
		}
		for _, i := range page.Items {
			a, err := t.Abstract(i.AbstractID)
			if err != nil {
				return err
			}
			list = append(list, MovableInstrument{i, f.v.HeadingIn(t, a), !slices.ContainsFunc(i.Documents, other)})
		}
		return nil
	})
	return list, err
}

// TrashMany moves documents to the trash in one transaction. It returns the number of
// trashed documents, and the skipped ones: documents that no longer exist.
func (f *Files) TrashMany(ctx context.Context, actor model.Actor, ids []uint64) (trashed int, skipped []Skipped, err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var selected selection
	err = f.v.UpdateFromReserve(ctx, actor, func(t *store.Tx) (err error) {
		selected, err = selectFiles(t, ids, func(model.File) (string, bool) { return "", false })
		if err == nil && len(selected.ids) == 0 {
			err = txn.ErrNoChange
		}
		return err
	}, func(t *store.Tx) error {
		at := f.v.Now()
		for _, id := range selected.ids {
			live, err := t.File(id)
			if err != nil {
				return err
			}
			detail, err := f.v.trashFile(t, live, model.Trashed{At: at, By: actor})
			if err != nil {
				return err
			}
			if err := f.v.AddEvent(t, at, actor, "file.trashed", model.RecordRef(FileOps.Name, id), detail); err != nil {
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
	return len(selected.ids), selected.skipped, nil
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
