package vault

import (
	"context"
	"errors"
	"fmt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Notes manages the notes about abstracts, orders, and documents.
type Notes struct{ v *Vault }

// maxNotes is the maximum number of notes about a record.
const maxNotes = 1_000

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
func (s *Notes) List(ctx context.Context, recordType string, id uint64) (list []model.Note, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		if _, err := liveRecord(t, recordType, id); err != nil {
			return err
		}
		list, err = t.NotesOf(txn.RecordRef(recordType, id), 0, maxNotes)
		return err
	})
	return list, err
}

// Create adds a note about a record. It returns Invalid, listing every invalid field.
func (s *Notes) Create(ctx context.Context, actor model.Actor, recordType string, id uint64, in model.NoteInput,
	idempotency Idempotency[model.Note]) (note model.Note, err error) {
	record := txn.RecordRef(recordType, id)
	err = s.v.Write(ctx, actor, func(t *store.Tx) error {
		if err := idempotency.CheckUnused(t, s.v); err != nil {
			return err
		}
		pages, err := liveRecord(t, recordType, id)
		if err != nil {
			return err
		}
		var rejected errs.Fields
		note, rejected = in.Check(model.Note{Record: record}, pages)
		if list, err := t.NotesOf(record, 0, maxNotes); err != nil {
			return err
		} else if len(list) == maxNotes {
			return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("This record has %d notes, which is the maximum. Delete some first.",
				maxNotes)}
		}
		return rejected.Err()
	}, func(t *store.Tx) (err error) {
		at := s.v.Now()
		if note.ID, err = t.NewNoteID(); err != nil {
			return err
		}
		note.Version, note.CreatedAt, note.UpdatedAt = 1, at, at
		note.By = model.Actor{Kind: actor.Kind, ID: actor.ID, Name: actor.Name}
		return errors.Join(t.PutNote(note), s.v.AddEvent(t, at, actor, "note.created", record, map[string]string{"note": fmt.Sprint(note.ID)}),
			idempotency.SaveResponse(t, at, note))
	})
	return note, err
}

// liveNote returns a note and the page count of its record. It returns NotFound if the record is in
// the trash.
func liveNote(t *store.Tx, id uint64) (note model.Note, pages *int, err error) {
	if note, err = t.Note(id); err != nil {
		return note, nil, err
	}
	recordType, record := noteRecord(note)
	pages, err = liveRecord(t, recordType, record)
	return note, pages, err
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

// Patch changes a note. It returns Invalid, listing every invalid field, or PreconditionFailed if
// match doesn't accept the current version.
func (s *Notes) Patch(ctx context.Context, actor model.Actor, id uint64, in model.NoteInput, match Match) (note model.Note, err error) {
	err = s.v.Write(ctx, actor, func(t *store.Tx) error {
		old, pages, err := liveNote(t, id)
		if err != nil {
			return err
		}
		if err := match.check(old.Version); err != nil {
			return err
		}
		var rejected errs.Fields
		if note, rejected = in.Check(old, pages); len(rejected) > 0 {
			return rejected.Err()
		}
		if note.Text == old.Text && note.Page == old.Page {
			return txn.ErrNoChange
		}
		return nil
	}, func(t *store.Tx) error {
		at := s.v.Now()
		note.Version, note.UpdatedAt = note.Version+1, nextUpdateTime(at, note.UpdatedAt)
		return errors.Join(t.PutNote(note), s.v.AddEvent(t, at, actor, "note.changed", note.Record, map[string]string{"note": fmt.Sprint(id)}))
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return note, err
}

// Delete permanently deletes a note. The audit log keeps who wrote it, but not its text.
func (s *Notes) Delete(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	var note model.Note
	return s.v.UpdateFromReserve(ctx, actor, func(t *store.Tx) (err error) {
		if note, _, err = liveNote(t, id); err != nil {
			return err
		}
		return match.check(note.Version)
	}, func(t *store.Tx) error {
		return errors.Join(t.RemoveNote(id), s.v.AddEvent(t, s.v.Now(), actor, "note.deleted", note.Record,
			map[string]string{"note": fmt.Sprint(id), "author": note.By.Record()}))
	})
}
