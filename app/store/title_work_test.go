package store

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"

	bolt "go.etcd.io/bbolt"
)

// The index of open abstracts by user follows the assignment, the status, and the trash. It is sorted
// by due date.
func TestAbstractsOfUser(t *testing.T) {
	s := openNew(t)
	want := func(what string, user uint64, ids ...uint64) {
		t.Helper()
		view(t, s, func(tx *Tx) error {
			if got := tx.AbstractsOfUser(user, 9); !slices.Equal(got, ids) {
				t.Errorf("%s: got %v, want %v", what, got, ids)
			}
			return nil
		})
		if findings := check(t, s); len(findings) > 0 {
			t.Errorf("%s: got findings %+v, want none", what, findings)
		}
	}
	work := func(id, searcher, examiner uint64, due string) model.TitleWork {
		return model.TitleWork{AbstractID: id, Assignment: model.Assignment{SearcherID: searcher, ExaminerID: examiner, DueDate: due}}
	}
	abstract := func(id uint64, status string, trashed *model.Trashed) model.Abstract {
		return model.Abstract{ID: id, Status: status, Version: 1, CreatedAt: testTime, Trashed: trashed}
	}
	update(t, s, func(tx *Tx) error {
		for range 3 {
			if _, err := tx.NewAbstractID(); err != nil {
				return err
			}
		}
		return errors.Join(tx.PutTitleWork(work(1, 5, 5, "")), tx.PutAbstract(abstract(1, "New", nil)), tx.PutAbstract(abstract(2, "New", nil)),
			tx.PutAbstract(abstract(3, "Complete", nil)), tx.PutTitleWork(work(2, 5, 6, "2026-12-01")), tx.PutTitleWork(work(3, 5, 0, "2026-11-01")))
	})
	want("new", 5, 2, 1)
	want("examiner", 6, 2)
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.PutAbstract(abstract(3, "In Exam", nil)), tx.PutTitleWork(work(2, 5, 7, "2027-01-01")))
	})
	want("reopened", 5, 3, 2, 1)
	want("no longer the examiner", 6)
	want("the new examiner", 7, 2)
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.PutAbstract(abstract(2, "New", trashedAt(1, ""))), tx.PutAbstract(abstract(3, "Complete", nil)))
	})
	want("trashed and completed", 5, 1)
	update(t, s, func(tx *Tx) error { return tx.PutAbstract(abstract(2, "New", nil)) })
	want("restored", 7, 2)
	update(t, s, func(tx *Tx) error { return errors.Join(tx.removeTitleWork(2), tx.RemoveAbstract(2)) })
	want("purged", 7)
}

// Up to schema 12, notes in the trash were in the part of the index that live notes have now. The migration moves them.
func TestTrashedNotesMove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, path)
	note := model.Note{ID: 1, Record: "order:1", Text: "x", Version: 1, CreatedAt: testTime, Trashed: trashedAt(1, "")}
	live := model.Note{ID: 2, Record: "order:1", Text: "y", Version: 1, CreatedAt: testTime}
	update(t, s, func(tx *Tx) error {
		_, err := tx.NewNoteID()
		_, e2 := tx.NewNoteID()
		_, e3 := tx.NewOrderID()
		return errors.Join(err, e2, e3, tx.PutOrder(model.Order{ID: 1, Number: "1", Status: "active", CreatedAt: testTime}),
			tx.PutNote(note), tx.PutNote(live))
	})
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	updateRaw(t, path, func(tx *bolt.Tx) error {
		b, id := tx.Bucket(bucketRecordNotes), string(encodeUint64(1))
		return errors.Join(b.Delete([]byte("order:1\x01"+id)), b.Put([]byte("order:1\x00"+id), []byte{}))
	})
	setSchema(t, path, 12)
	s = open(t, path)
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %+v, want none", findings)
	}
	view(t, s, func(tx *Tx) error {
		if list, err := tx.NotesOf("order:1", 9); err != nil || len(list) != 1 || list[0].ID != 2 {
			t.Errorf("NotesOf = %+v, %v; want note 2", list, err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.RemoveNotesOf("order:1") })
	view(t, s, func(tx *Tx) error {
		if _, err := tx.NoteIncludingTrash(1); errs.KindOf(err) != errs.NotFound {
			t.Errorf("note 1 after RemoveNotesOf: %v, want NotFound", err)
		}
		return nil
	})
}

// Notes in the trash cost nothing when the others are listed: none of them is read, which their damage proves.
// They are still purged with their record.
func TestTrashedNotesAreNotRead(t *testing.T) {
	s := openNew(t)
	const trashed = 3000
	note := func(id uint64, in *model.Trashed) model.Note {
		return model.Note{ID: id, Record: "order:1", Text: "x", Version: 1, CreatedAt: testTime, Trashed: in}
	}
	list := func() (ids []uint64) {
		t.Helper()
		view(t, s, func(tx *Tx) error {
			list, err := tx.NotesOf("order:1", 10)
			for _, n := range list {
				ids = append(ids, n.ID)
			}
			return err
		})
		return ids
	}
	damage := func(tx *Tx, n uint64, change byte) error {
		b, key := tx.bucket(bucketNotes), encodeUint64(n)
		raw := bytes.Clone(b.Get(key))
		raw[1] ^= change
		return b.Put(key, raw)
	}
	each := func(fn func(tx *Tx, n uint64) error) {
		t.Helper()
		update(t, s, func(tx *Tx) (err error) {
			for n := range uint64(trashed) {
				err = errors.Join(err, fn(tx, n+1))
			}
			return err
		})
	}
	each(func(tx *Tx, _ uint64) error { _, err := tx.NewNoteID(); return err })
	each(func(tx *Tx, n uint64) error { return tx.PutNote(note(n, nil)) })
	each(func(tx *Tx, n uint64) error { return tx.PutNote(note(n, trashedAt(1, ""))) })
	update(t, s, func(tx *Tx) error {
		_, err := tx.NewNoteID()
		_, e2 := tx.NewOrderID()
		return errors.Join(err, e2, tx.PutOrder(model.Order{ID: 1, Number: "1", Status: "active", CreatedAt: testTime}),
			tx.PutNote(note(trashed+1, nil)), tx.PutNote(note(7, nil)))
	})
	each(func(tx *Tx, n uint64) error {
		if n == 7 {
			return nil
		}
		return damage(tx, n, 0xff)
	})
	if got := list(); !slices.Equal(got, []uint64{7, trashed + 1}) {
		t.Errorf("notes = %v, want the live ones", got)
	}
	each(func(tx *Tx, n uint64) error {
		if n == 7 {
			return nil
		}
		return damage(tx, n, 0xff)
	})
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %+v, want none", findings[0])
	}
	update(t, s, func(tx *Tx) error { return tx.RemoveNotesOf("order:1") })
	view(t, s, func(tx *Tx) error {
		if _, err := tx.NoteIncludingTrash(3); err == nil {
			t.Error("a note in the trash is still there after RemoveNotesOf")
		}
		return nil
	})
}
