package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// titleWork contains a record for each abstract that has title work besides its instruments. The
// key is the ID of the abstract.
var titleWork = table[model.TitleWork]{bucketTitleWork, "title work"}

// TitleWork returns the title work of an abstract. It is empty if there is none.
func (t *Tx) TitleWork(abstract uint64) (model.TitleWork, error) {
	w, _, err := titleWork.find(t, abstract)
	w.AbstractID = abstract
	return w, err
}

// PutTitleWork creates or replaces the title work of an abstract.
func (t *Tx) PutTitleWork(w model.TitleWork) error {
	old, err := t.TitleWork(w.AbstractID)
	if err != nil {
		return err
	}
	index := t.bucket(bucketOrderAbstracts)
	if old.OrderID != 0 && old.OrderID != w.OrderID {
		if err := index.Delete(orderAbstractKey(&old)); err != nil {
			return fmt.Errorf("unlink abstract %d from its order: %w", w.AbstractID, err)
		}
	}
	if w.OrderID != 0 {
		if err := putKeyOnly(index, orderAbstractKey(&w)); err != nil {
			return fmt.Errorf("link abstract %d to its order: %w", w.AbstractID, err)
		}
	}
	open, err := t.needsWork(w.AbstractID)
	if err != nil {
		return err
	}
	if err := t.updateUserAbstracts(&old, &w, open); err != nil {
		return err
	}
	return titleWork.put(t, w.AbstractID, w)
}

// removeTitleWork deletes the title work of an abstract, if there is any.
func (t *Tx) removeTitleWork(abstract uint64) error {
	old, found, err := titleWork.find(t, abstract)
	if err != nil || !found {
		return err
	}
	if old.OrderID != 0 {
		if err := t.bucket(bucketOrderAbstracts).Delete(orderAbstractKey(&old)); err != nil {
			return fmt.Errorf("unlink abstract %d from its order: %w", abstract, err)
		}
	}
	if err := t.updateUserAbstracts(&old, &old, false); err != nil {
		return err
	}
	err = titleWork.remove(t, abstract)
	for _, part := range undoParts {
		err = errors.Join(err, t.removeStoredResponse(UndoSlot(model.RecordRef(abstracts.typeName, abstract), part)))
	}
	return err
}

// isOpenAbstract reports whether an abstract needs work: it isn't in the trash, and its status is
// open (model.IsOpenStatus).
func isOpenAbstract(a *model.Abstract) bool { return a.Trashed == nil && model.IsOpenStatus(a.Status) }

// needsWork reports whether a stored abstract is open.
func (t *Tx) needsWork(abstract uint64) (bool, error) {
	a, found, err := abstracts.find(t, abstract)
	return found && isOpenAbstract(&a), err
}

// noWorkDue represents a missing due date in the index of open abstracts by user. It sorts after
// all dates.
const noWorkDue = "9999-99-99"

// userAbstractKeys returns the keys of an abstract in the index of open abstracts by user, one for
// each person who works on it.
func userAbstractKeys(w *model.TitleWork) (keys [][]byte) {
	a := w.Assignment
	for n, user := range []uint64{a.SearcherID, a.ExaminerID} {
		if user == 0 || n == 1 && user == a.SearcherID {
			continue
		}
		key := append(encodeUint64(user), cmp.Or(a.DueDate, noWorkDue)...)
		keys = append(keys, append(key, encodeUint64(w.AbstractID)...))
	}
	return keys
}

// updateUserAbstracts replaces the entries of an abstract in the index of open abstracts by user.
// open says whether the abstract still needs work.
func (t *Tx) updateUserAbstracts(before, after *model.TitleWork, open bool) error {
	b := t.bucket(bucketUserAbstracts)
	for _, key := range userAbstractKeys(before) {
		if err := b.Delete(key); err != nil {
			return fmt.Errorf("unassign abstract %d: %w", before.AbstractID, err)
		}
	}
	if !open {
		return nil
	}
	for _, key := range userAbstractKeys(after) {
		if err := putKeyOnly(b, key); err != nil {
			return fmt.Errorf("assign abstract %d: %w", after.AbstractID, err)
		}
	}
	return nil
}

// AbstractsOfUser returns the IDs of up to limit open abstracts that a user searches or examines,
// by due date. Those without a due date come last.
func (t *Tx) AbstractsOfUser(user uint64, limit int) (list []uint64) {
	for id := range t.idsUnder(bucketUserAbstracts, encodeUint64(user)) {
		if list = append(list, id); len(list) >= limit {
			break
		}
	}
	return list
}

// AbstractsOfOrder returns the IDs of the abstracts that are linked to an order, live or in the
// trash.
func (t *Tx) AbstractsOfOrder(order uint64) []uint64 {
	return slices.Collect(t.idsUnder(bucketOrderAbstracts, encodeUint64(order)))
}

// orderAbstractKey returns the key of an abstract in the index of abstracts by order.
func orderAbstractKey(w *model.TitleWork) []byte {
	return append(encodeUint64(w.OrderID), encodeUint64(w.AbstractID)...)
}

// notes contains the notes about abstracts, orders, and documents.
var notes = table[model.Note]{bucketNotes, "note"}

// NewNoteID returns the ID for a new note.
func (t *Tx) NewNoteID() (uint64, error) { return notes.nextID(t) }

// Note returns a live note. The error has kind errs.NotFound if it doesn't exist or is in the trash.
func (t *Tx) Note(id uint64) (model.Note, error) {
	n, err := notes.get(t, id)
	if err == nil && n.Trashed != nil {
		err = errs.RecordNotFound(notes.typeName, id)
	}
	return n, err
}

// NoteIncludingTrash returns a note that may be in the trash. The error has kind errs.NotFound if it
// doesn't exist.
func (t *Tx) NoteIncludingTrash(id uint64) (model.Note, error) { return notes.get(t, id) }

// PutNote creates or updates a note. The record of a note never changes.
func (t *Tx) PutNote(n model.Note) error {
	old, _, err := notes.find(t, n.ID)
	if err != nil {
		return err
	}
	if err := t.updateNoteTrash(&old, &n); err != nil {
		return err
	}
	index := t.bucket(bucketRecordNotes)
	if err := errors.Join(index.Delete(noteKey(&old)), putKeyOnly(index, noteKey(&n))); err != nil {
		return fmt.Errorf("index note %d: %w", n.ID, err)
	}
	return notes.put(t, n.ID, n)
}

// updateNoteTrash updates the entry of a note in the trash index.
func (t *Tx) updateNoteTrash(before, after *model.Note) error {
	was, is := noteTrashFields(t, before), noteTrashFields(t, after)
	t.countTransition(CountTrashed, was.listed, is.listed)
	return t.updateEntries(&trash.indexLayout, &was, &is)
}

// noteTrashFields returns the values of a note for the trash index. It returns the zero value for a
// note that isn't in the trash.
func noteTrashFields(t *Tx, n *model.Note) indexFields {
	if n.Trashed == nil {
		return indexFields{}
	}
	return t.trashFieldsOf(notes.typeName, n.ID, n.Trashed)
}

// RemoveNote permanently deletes a note, live or in the trash. The error has kind errs.NotFound if it
// doesn't exist.
func (t *Tx) RemoveNote(id uint64) error {
	old, err := notes.get(t, id)
	if err != nil {
		return err
	}
	if err := t.updateNoteTrash(&old, &model.Note{}); err != nil {
		return err
	}
	if err := t.bucket(bucketRecordNotes).Delete(noteKey(&old)); err != nil {
		return fmt.Errorf("remove note %d: %w", id, err)
	}
	return notes.remove(t, id)
}

// NotesOf returns up to limit live notes about a record, such as "abstract:7", oldest first. The cost
// doesn't depend on the number of notes in the trash.
func (t *Tx) NotesOf(record string, limit int) ([]model.Note, error) {
	return t.notesOf(record, liveNotes, limit)
}

func (t *Tx) notesOf(record string, part byte, limit int) ([]model.Note, error) {
	return notes.collect(t, t.idsUnder(bucketRecordNotes, notePrefix(record, part)), limit, nil)
}

// RemoveNotesOf deletes all notes about a record, live and in the trash.
func (t *Tx) RemoveNotesOf(record string) error {
	for _, part := range []byte{liveNotes, trashedNotes} {
		for {
			list, err := t.notesOf(record, part, 100)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				break
			}
			for _, n := range list {
				if err := t.RemoveNote(n.ID); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Parts of the index of notes by record. Notes in the trash have their own, so that they cost nothing when the
// others are listed.
const (
	liveNotes    = 0
	trashedNotes = 1
)

// notePrefix returns the prefix of the keys of a record's notes in a part of the index.
func notePrefix(record string, part byte) []byte { return append([]byte(record), part) }

// noteKey returns the key of a note in the index of notes by record.
func noteKey(n *model.Note) []byte {
	part := byte(liveNotes)
	if n.Trashed != nil {
		part = trashedNotes
	}
	return append(notePrefix(n.Record, part), encodeUint64(n.ID)...)
}

// RemoveTitleRecords permanently deletes what belongs to an abstract besides its documents: its
// instruments, title work, and notes.
func (t *Tx) RemoveTitleRecords(abstract uint64) error {
	list, err := t.InstrumentsOfAbstract(abstract, func(*model.Instrument) bool { return true })
	if err != nil {
		return err
	}
	for _, i := range list {
		if err := t.RemoveInstrument(i.ID); err != nil {
			return err
		}
	}
	if err := t.removeTitleWork(abstract); err != nil {
		return err
	}
	return t.RemoveNotesOf(model.RecordRef(abstracts.typeName, abstract))
}
