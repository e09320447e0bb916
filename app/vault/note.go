package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/model/area"
	"deedkeep/app/store"
)

// Notes manages the notes about abstracts, orders, and documents.
type Notes struct {
	v *Vault
	// PageSizes returns the sizes of the pages of a document, or NotFound if it has no page images.
	PageSizes func(ctx context.Context, actor model.Actor, file uint64) ([]document.PageSize, error)
}

// maxNotes is the maximum number of notes about a record.
const maxNotes = 1_000

// sizes returns the sizes of a record's pages if the input has an area of one. They are read before the transaction,
// because a worker process may have to open the document.
func (n *Notes) sizes(ctx context.Context, actor model.Actor, recordType string, id uint64, in model.NoteInput,
) (sizes []area.Size, err error) {
	if recordType != FileOps.Name || in.Area.Value.IsBlank() {
		return nil, nil
	}
	pages, err := n.PageSizes(ctx, actor, id)
	if errs.KindOf(err) == errs.NotFound {
		err = nil // the document has no page images, or it doesn't exist, which the transaction finds, too
	}
	for _, page := range pages {
		sizes = append(sizes, area.Size{Width: page.Width, Height: page.Height})
	}
	return sizes, err
}

// liveRecord returns the page count of a record that can have notes. It returns NotFound if the
// record doesn't exist or is in the trash.
func liveRecord(t *store.Tx, recordType string, id uint64) (pages *int, err error) {
	switch recordType {
	case AbstractOps.Name:
		_, err = t.Abstract(id)
	case OrderOps.Name:
		_, err = t.Order(id)
	case FileOps.Name:
		var f model.File
		f, err = t.File(id)
		pages = f.Pages
	default:
		err = errs.RecordNotFound(recordType, id)
	}
	return pages, err
}

// List returns the notes about a record, oldest first. It returns NotFound if the record doesn't
// exist or is in the trash.
func (n *Notes) List(ctx context.Context, recordType string, id uint64) (list []model.Note, err error) {
	err = n.v.Store.View(ctx, func(t *store.Tx) error {
		if _, err := liveRecord(t, recordType, id); err != nil {
			return err
		}
		list, err = t.NotesOf(model.RecordRef(recordType, id), maxNotes)
		return err
	})
	return list, err
}

// maxInstrumentNotes is the maximum number of notes that OfInstrument returns.
const maxInstrumentNotes = 100

// OfInstrument returns the notes about the pages of an instrument in the documents that it is linked to, by document and
// oldest first, and these documents. If the instrument is linked to a complete document, it returns the notes about all its
// pages, and those about no page. It returns at most 100 notes.
func (n *Notes) OfInstrument(ctx context.Context, id uint64) (list []model.Note, files map[uint64]model.File, err error) {
	files = map[uint64]model.File{}
	err = n.v.Store.View(ctx, func(t *store.Tx) error {
		i, err := t.Instrument(id)
		if err != nil {
			return err
		}
		for _, link := range i.Documents {
			if _, read := files[link.FileID]; read || len(list) == maxInstrumentNotes {
				continue
			}
			file, err := t.File(link.FileID)
			if errs.KindOf(err) == errs.NotFound { // in the trash
				continue
			}
			if err != nil {
				return err
			}
			of, err := t.NotesOf(model.RecordRef(FileOps.Name, link.FileID), maxNotes)
			if err != nil {
				return err
			}
			files[file.ID] = file
			for _, note := range of {
				if len(list) < maxInstrumentNotes && slices.ContainsFunc(i.Documents, func(l model.DocumentLink) bool {
					return l.FileID == file.ID && model.ContainsPage(l.Pages, note.Page)
				}) {
					list = append(list, note)
				}
			}
		}
		return nil
	})
	return list, files, err
}

// Create adds a note about a record. It returns Invalid, listing every invalid field.
func (n *Notes) Create(ctx context.Context, actor model.Actor, recordType string, id uint64, in model.NoteInput,
	idempotency Idempotency[model.Note]) (note model.Note, err error) {
	sizes, err := n.sizes(ctx, actor, recordType, id, in)
	if err != nil {
		return note, err
	}
	record := model.RecordRef(recordType, id)
	err = n.v.Write(ctx, actor, func(t *store.Tx) error {
		if err := idempotency.CheckUnused(t, n.v); err != nil {
			return err
		}
		pages, err := liveRecord(t, recordType, id)
		if err != nil {
			return err
		}
		var rejected errs.Fields
		note, rejected = in.Check(model.Note{Record: record}, pages, sizes)
		return cmp.Or(checkNoteRoom(t, record), rejected.Err())
	}, func(t *store.Tx) (err error) {
		at := n.v.Now()
		if note.ID, err = t.NewNoteID(); err != nil {
			return err
		}
		note.Version, note.CreatedAt, note.UpdatedAt = 1, at, at
		note.By = actor.Stored()
		entry := NoteEvent(at, actor, "created", note)
		entry.Changes = model.Note{}.Changes(note)
		return errors.Join(t.PutNote(note), n.v.AddEntry(t, entry), idempotency.SaveResponse(t, at, note))
	})
	return note, err
}

// noteRecord returns the type and the ID of the record of a note.
func noteRecord(n model.Note) (recordType string, id uint64) {
	for _, name := range []string{AbstractOps.Name, OrderOps.Name, FileOps.Name} {
		if _, err := fmt.Sscanf(n.Record, name+":%d", &id); err == nil {
			return name, id
		}
	}
	return "", 0
}

// errNotAuthor is returned for changes to a note of another actor.
var errNotAuthor = &errs.Error{Kind: errs.Forbidden, Message: "Only the author of a note or an administrator can change it."}

// checkAuthor returns Forbidden unless the actor wrote the note or may administer the vault.
func (n *Notes) checkAuthor(t *store.Tx, actor model.Actor, note model.Note) error {
	if note.By.Is(actor) || n.v.AuthorizeAdmin(t, actor) == nil {
		return nil
	}
	return errNotAuthor
}

// checkNoteRoom returns Conflict if a record can't have another note.
func checkNoteRoom(t *store.Tx, record string) error {
	list, err := t.NotesOf(record, maxNotes)
	if err == nil && len(list) == maxNotes {
		err = &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("This record has %d notes, which is the maximum. Delete some first.",
			maxNotes)}
	}
	return err
}

// NoteEvent returns the audit entry for an event of a note.
func NoteEvent(at time.Time, actor model.Actor, event string, note model.Note) model.Event {
	return noteOps.entry(at, actor, event, note.ID, note)
}

// noteOps reads and writes notes for the shared operations.
var noteOps = recordOps[model.Note]{
	Name: "note",
	get: func(t *store.Tx, id uint64) (model.Note, error) {
		note, err := t.Note(id)
		if err == nil {
			recordType, record := noteRecord(note)
			_, err = liveRecord(t, recordType, record)
		}
		return note, err
	},
	getIncludingTrash: (*store.Tx).NoteIncludingTrash,
	version:           func(n model.Note) uint64 { return n.Version },
	trashed:           func(n model.Note) *model.Trashed { return n.Trashed },
	changes:           model.Note.Changes,
	keep:              keep[model.Note],
	partOf: func(n model.Note) (record string, detail map[string]string) {
		return n.Record, map[string]string{"note": fmt.Sprint(n.ID), "author": n.By.Record()}
	},
	retainedUntil: (*Vault).noteRetainedUntil,
	save: func(_ *Vault, t *store.Tx, now model.Note, at time.Time) (model.Note, error) {
		NextVersion(&now.Version, &now.UpdatedAt, at)
		return now, t.PutNote(now)
	},
}

// noteRetainedUntil returns the end of the retention period of a note, or zero if there is none. Notes
// are retained with the abstract that they or their document belong to.
func (v *Vault) noteRetainedUntil(t *store.Tx, note model.Note) (until time.Time, err error) {
	recordType, id := noteRecord(note)
	if recordType == FileOps.Name {
		f, err := t.FileIncludingTrash(id)
		if err != nil {
			return until, err
		}
		until, id = v.fileRetainedBefore(f), f.AbstractID
	}
	if recordType == OrderOps.Name || id == 0 {
		return until, nil
	}
	a, err := t.AbstractIncludingTrash(id)
	if errs.KindOf(err) == errs.NotFound && recordType == FileOps.Name { // purged before the document
		return until, nil
	}
	if err != nil {
		return until, err
	}
	ofAbstract, err := v.abstractRetainedUntil(t, a)
	return later(until, ofAbstract), err
}

// Patch changes a note. It returns Forbidden unless the actor is the author or an administrator,
// Invalid, listing every invalid field, or PreconditionFailed if match doesn't accept the current
// version.
func (n *Notes) Patch(ctx context.Context, actor model.Actor, id uint64, in model.NoteInput, match Match) (model.Note, error) {
	old, err := store.Read(ctx, n.v.Store, func(t *store.Tx) (model.Note, error) { return noteOps.get(t, id) })
	if err != nil {
		return old, err
	}
	recordType, record := noteRecord(old) // never changes
	sizes, err := n.sizes(ctx, actor, recordType, record, in)
	if err != nil {
		return old, err
	}
	return patch(ctx, n.v, noteOps, actor, id, match, func(t *store.Tx, old model.Note) (model.Note, error) {
		if err := n.checkAuthor(t, actor, old); err != nil {
			return old, err
		}
		pages, err := liveRecord(t, recordType, record)
		if err != nil {
			return old, err
		}
		note, rejected := in.Check(old, pages, sizes)
		note.EditedBy = new(actor.Stored())
		return note, rejected.Err()
	})
}

// restoreFields returns a function that restores what a note was before a change. It returns Forbidden unless the actor
// is the author or an administrator.
func (n *Notes) restoreFields(actor model.Actor) func(t *store.Tx, now, before model.Note) (model.Note, error) {
	return func(t *store.Tx, now, before model.Note) (model.Note, error) {
		now.Text, now.Page, now.Area, now.EditedBy = before.Text, before.Page, before.Area, new(actor.Stored())
		return now, n.checkAuthor(t, actor, now)
	}
}

// Trash moves a note to the trash. It returns Forbidden unless the actor is the author or an
// administrator.
func (n *Notes) Trash(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	ops := noteOps
	ops.get = func(t *store.Tx, id uint64) (model.Note, error) {
		note, err := noteOps.get(t, id)
		if err == nil {
			err = n.checkAuthor(t, actor, note)
		}
		if err == nil && actor.Undoes && note.EditedBy != nil && !note.EditedBy.Is(actor) {
			err = errChangedSince
		}
		return note, err
	}
	return trash(ctx, n.v, ops, actor, id, match, "deleted", func(t *store.Tx, live model.Note, in model.Trashed) (map[string]string, error) {
		live.Trashed = &in
		return nil, t.PutNote(live)
	})
}

// Restore restores a note from the trash. It returns Conflict if its record is in the trash or has too
// many notes. If the note is not in the trash, it changes nothing.
func (n *Notes) Restore(ctx context.Context, actor model.Actor, id uint64, idempotency Idempotency[model.Note]) (model.Note, error) {
	return restore(ctx, n.v, noteOps, actor, id, idempotency, func(t *store.Tx, in model.Note) error {
		recordType, record := noteRecord(in)
		_, err := liveRecord(t, recordType, record)
		if errs.KindOf(err) == errs.NotFound {
			return &errs.Error{Kind: errs.Conflict, Message: "The record of this note is in the trash. Restore the record first."}
		}
		return cmp.Or(err, checkNoteRoom(t, in.Record))
	}, func(t *store.Tx, in model.Note, _ time.Time) (model.Note, map[string]string, error) {
		in.Trashed = nil
		return in, nil, t.PutNote(in)
	})
}
