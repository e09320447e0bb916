package store

import (
	"bytes"
	"fmt"

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
	return titleWork.put(t, w.AbstractID, w)
}

// RemoveTitleWork deletes the title work of an abstract, if there is any.
func (t *Tx) RemoveTitleWork(abstract uint64) error {
	old, found, err := titleWork.find(t, abstract)
	if err != nil || !found {
		return err
	}
	if old.OrderID != 0 {
		if err := t.bucket(bucketOrderAbstracts).Delete(orderAbstractKey(&old)); err != nil {
			return fmt.Errorf("unlink abstract %d from its order: %w", abstract, err)
		}
	}
	return titleWork.remove(t, abstract)
}

// AbstractsOfOrder returns the IDs of the abstracts that are linked to an order, live or in the
// trash.
func (t *Tx) AbstractsOfOrder(order uint64) (list []uint64) {
	prefix := encodeUint64(order)
	c := t.bucket(bucketOrderAbstracts).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		if id, ok := idSuffix(key); ok {
			list = append(list, id)
		}
	}
	return list
}

// orderAbstractKey returns the key of an abstract in the index of abstracts by order.
func orderAbstractKey(w *model.TitleWork) []byte {
	return append(encodeUint64(w.OrderID), encodeUint64(w.AbstractID)...)
}

// notes contains the notes about abstracts, orders, and documents.
var notes = table[model.Note]{bucketNotes, "note"}

// NewNoteID returns the ID for a new note.
func (t *Tx) NewNoteID() (uint64, error) { return notes.nextID(t) }

// Note returns a note. The error has kind errs.NotFound if it doesn't exist.
func (t *Tx) Note(id uint64) (model.Note, error) { return notes.get(t, id) }

// PutNote creates or updates a note. The record of a note never changes.
func (t *Tx) PutNote(n model.Note) error {
	if err := putKeyOnly(t.bucket(bucketRecordNotes), noteKey(&n)); err != nil {
		return fmt.Errorf("index note %d: %w", n.ID, err)
	}
	return notes.put(t, n.ID, n)
}

// RemoveNote permanently deletes a note. The error has kind errs.NotFound if it doesn't exist.
func (t *Tx) RemoveNote(id uint64) error {
	old, err := notes.get(t, id)
	if err != nil {
		return err
	}
	if err := t.bucket(bucketRecordNotes).Delete(noteKey(&old)); err != nil {
		return fmt.Errorf("remove note %d: %w", id, err)
	}
	return notes.remove(t, id)
}

// NotesOf returns up to limit notes about a record, such as "abstract:7", oldest first, starting
// with ID from.
func (t *Tx) NotesOf(record string, from uint64, limit int) (list []model.Note, err error) {
	prefix := notePrefix(record)
	c := t.bucket(bucketRecordNotes).Cursor()
	for key, _ := c.Seek(append(bytes.Clone(prefix), encodeUint64(from)...)); bytes.HasPrefix(key, prefix) && len(list) < limit; key, _ = c.Next() {
		id, _ := idSuffix(key)
		n, found, err := notes.find(t, id)
		if err != nil {
			return nil, err
		}
		if found {
			list = append(list, n)
		}
	}
	return list, nil
}

// RemoveNotesOf deletes all notes about a record.
func (t *Tx) RemoveNotesOf(record string) error {
	for {
		list, err := t.NotesOf(record, 0, 100)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, n := range list {
			if err := t.RemoveNote(n.ID); err != nil {
				return err
			}
		}
	}
}

// notePrefix returns the prefix of the keys of a record's notes.
func notePrefix(record string) []byte { return append([]byte(record), 0) }

// noteKey returns the key of a note in the index of notes by record.
func noteKey(n *model.Note) []byte { return append(notePrefix(n.Record), encodeUint64(n.ID)...) }
