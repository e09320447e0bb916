package store

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// trashedAt returns the value of Trashed for a record deleted the given number of hours after
// testTime.
func trashedAt(hours int, with string) *model.Trashed {
	return &model.Trashed{At: testTime.Add(time.Duration(hours) * time.Hour), By: model.SystemActor(), With: with}
}

func TestTrash(t *testing.T) {
	s := openNew(t)
	fill(t, s, 3)
	update(t, s, func(tx *Tx) error {
		a, errA := tx.Abstract(1)
		f, errF := tx.File(1)
		o, errO := tx.Order(2)
		a.Trashed, f.Trashed, o.Trashed = trashedAt(2, ""), trashedAt(2, "abstract:1"), trashedAt(1, "")
		return errors.Join(errA, errF, errO, tx.PutAbstract(a), tx.PutFile(f), tx.PutOrder(o))
	})
	entries := []TrashEntry{{"order", 2, testTime.Add(time.Hour)}, {"abstract", 1, testTime.Add(2 * time.Hour)}}
	view(t, s, func(tx *Tx) error {
		_, abstract := tx.Abstract(1)
		_, order := tx.Order(2)
		_, file := tx.File(1)
		for _, err := range []error{abstract, order, file} {
			if errs.KindOf(err) != errs.NotFound {
				t.Errorf("record in the trash: got %v, want errs.NotFound", err)
			}
		}
		_, abstract = tx.AbstractIncludingTrash(1)
		_, order = tx.OrderIncludingTrash(2)
		_, file = tx.FileIncludingTrash(1)
		if err := errors.Join(abstract, order, file); err != nil {
			t.Errorf("read from the trash: %v", err)
		}
		if tx.OrderNumberTaken("A-1") || !tx.OrderNumberTaken("A-2") || !tx.DigestInUse([32]byte{}) {
			t.Error("got a taken number from the trash, a free live one, or an unused digest of the trash, want none of these")
		}
		page, err := tx.ListTrash(Query{Limit: 9})
		if err != nil || !slices.Equal(page.Items, entries) {
			t.Errorf("ListTrash = %+v, %v; want %+v", page, err, entries)
		}
		for hours, n := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2} {
			list, err := tx.TrashedBefore(testTime.Add(time.Duration(hours)*time.Hour), TrashEntry{}, 9)
			if err != nil || !slices.Equal(list, entries[:n]) && n > 0 || len(list) != n {
				t.Errorf("trashed before hour %d: got %+v, %v; want %+v", hours, list, err, entries[:n])
			}
		}
		if list, err := tx.TrashedBefore(testTime.Add(9*time.Hour), TrashEntry{}, 1); err != nil || !slices.Equal(list, entries[:1]) {
			t.Errorf("oldest entry: got %+v, %v; want %+v", list, err, entries[:1])
		}
		for i, e := range entries { // check the entries that come after each one
			list, err := tx.TrashedBefore(testTime.Add(9*time.Hour), e, 9)
			if err != nil || len(list) != 1-i || i == 0 && list[0] != entries[1] {
				t.Errorf("entries after %+v: got %+v, %v; want %+v", e, list, err, entries[i+1:])
			}
		}
		if tx.Count(CountTrashed) != 2 || tx.Count(CountAbstracts) != 2 || tx.Count(CountOrders) != 2 || tx.Count(CountFiles) != 2 ||
			tx.Count(CountBytes) != 50 || tx.Count(CountFileRecords) != 3 {
			t.Error("got wrong counters, want 2 in the trash, 2 abstracts, 2 orders, 2 files of 50 bytes, 3 file records")
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { // the file has two tasks, one of them added in this transaction
		return errors.Join(tx.AddTask(model.ProcessingTask{FileID: 1}), tx.RemoveFile(1), tx.RemoveAbstract(1), tx.RemoveOrder(2))
	})
	view(t, s, func(tx *Tx) error {
		if tx.Count(CountTrashed) != 0 || tx.Count(CountTasks) != 2 || tx.Count(CountFileRecords) != 2 || tx.DigestInUse([32]byte{}) {
			t.Errorf("after the purge: got %d in the trash, %d tasks; want 0 and 2", tx.Count(CountTrashed), tx.Count(CountTasks))
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { // IDs are not reused
		id, err := tx.NewOrderID()
		if id != 4 {
			t.Errorf("NewOrderID() = %d, want 4", id)
		}
		return err
	})
}

func TestRemoveMissingRecords(t *testing.T) {
	s := openNew(t)
	update(t, s, func(tx *Tx) error {
		for name, err := range map[string]error{"abstract": tx.RemoveAbstract(9), "order": tx.RemoveOrder(9), "file": tx.RemoveFile(9),
			"folder": tx.RemoveFolder(9)} {
			if errs.KindOf(err) != errs.NotFound {
				t.Errorf("%s: got %v, want errs.NotFound", name, err)
			}
		}
		return nil
	})
}

func TestRemoveFileRemovesItsTasks(t *testing.T) {
	s := openNew(t)
	fill(t, s, 3)
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.RemoveTask(2), tx.RemoveFile(3), tx.RemoveAbstract(3), tx.AddTask(model.ProcessingTask{FileID: 1}),
			tx.AddTask(model.ProcessingTask{FileID: 2}),
			tx.RemoveFile(1), tx.RemoveAbstract(1))
	})
	view(t, s, func(tx *Tx) error {
		if list, err := tx.Tasks(9); err != nil || len(list) != 1 || list[0].FileID != 2 || tx.Count(CountTasks) != 1 {
			t.Errorf("got tasks %+v, %v; want one of file 2", list, err)
		}
		return nil
	})
}

func TestFolderInUse(t *testing.T) {
	s := openNew(t)
	fill(t, s, 2) // folders 5 and 6 are in folder 1
	file := model.File{ID: 1, Size: 10, Digest: digest(0), AbstractID: 1, FolderID: 2, CreatedAt: testTime}
	checkUsed := func(want string) {
		t.Helper()
		view(t, s, func(tx *Tx) error {
			got := ""
			for id := range uint64(6) {
				if tx.FolderInUse(id + 1) {
					got += string(rune('1' + id))
				}
			}
			if got != want {
				t.Errorf("got folders in use %q, want %q", got, want)
			}
			return nil
		})
	}
	checkUsed("1")
	update(t, s, func(tx *Tx) error { return tx.PutFile(file) })
	checkUsed("12")
	update(t, s, func(tx *Tx) error { return errors.Join(tx.RemoveFolder(5), tx.RemoveFolder(6)) })
	checkUsed("2")
	update(t, s, func(tx *Tx) error {
		a, err := tx.Abstract(1)
		a.Files, file.AbstractID, file.Trashed = nil, 0, trashedAt(1, "")
		return errors.Join(err, tx.PutAbstract(a), tx.PutMovedFile(file))
	})
	checkUsed("")
	update(t, s, func(tx *Tx) error { return tx.RemoveFolder(2) }) // a file in the trash may still refer to it
	view(t, s, func(tx *Tx) error {
		if tx.Count(CountFolders) != 3 || tx.FolderNameTaken(1, "Box 0") {
			t.Error("removed folders are counted or their names taken, want neither")
		}
		return nil
	})
}

// RemoveFile reads the queue, which may be long, only for a file that may have a task.
func TestRemoveFileDoesNotReadQueue(t *testing.T) {
	s := openNew(t)
	fill(t, s, 2)
	update(t, s, func(tx *Tx) error {
		file, err := tx.File(2)
		file.Processing = false
		if err := errors.Join(err, tx.RemoveTask(2), tx.PutFile(file), tx.RemoveFile(2), tx.RemoveAbstract(2)); err != nil {
			return err
		}
		if tx.tasksByFile != nil {
			t.Error("the queue was read for a file that is not Processing, want it unread")
		}
		if err := errors.Join(tx.RemoveFile(1), tx.RemoveAbstract(1)); err != nil {
			return err
		}
		if tx.Count(CountTasks) != 0 {
			t.Errorf("%d tasks remain after the file was removed, want 0", tx.Count(CountTasks))
		}
		return nil
	})
}

// The end of a retention period never becomes earlier, and a file leaves its abstract only in
// PutMovedFile, whose caller has set the end.
func TestRetentionIsNotLost(t *testing.T) {
	until := testTime.AddDate(20, 0, 0)
	for _, row := range []struct {
		name   string
		change func(*model.File)
		put    func(*Tx, model.File) error
		want   string // substring of the error; "": none
	}{
		{"renamed", func(f *model.File) { f.Filename = "deed 2.pdf" }, (*Tx).PutFile, ""},
		{"retained longer", func(f *model.File) { f.RetainedUntil = until.Add(time.Second) }, (*Tx).PutFile, ""},
		{"deleted with its abstract", func(f *model.File) { f.Trashed = trashedAt(1, "abstract:1") }, (*Tx).PutFile, ""},
		{"retained shorter", func(f *model.File) { f.RetainedUntil = until.Add(-time.Second) }, (*Tx).PutFile, "can't become shorter"},
		{"not retained", func(f *model.File) { f.RetainedUntil = time.Time{} }, (*Tx).PutFile, "can't become shorter"},
		{"in no abstract", func(f *model.File) { f.AbstractID = 0 }, (*Tx).PutFile, "can't leave its abstract"},
		{"in another abstract", func(f *model.File) { f.AbstractID = 2 }, (*Tx).PutFile, "can't leave its abstract"},
		{"deleted", func(f *model.File) { f.Trashed = trashedAt(1, "") }, (*Tx).PutFile, "can't leave its abstract"},
		{"moved", func(f *model.File) { f.AbstractID = 2 }, (*Tx).PutMovedFile, ""},
		{"moved, retained shorter", func(f *model.File) { f.AbstractID, f.RetainedUntil = 2, time.Time{} }, (*Tx).PutMovedFile, "can't become shorter"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "vault.db"))
			defer s.Close() //nolint:errcheck // only read
			fill(t, s, 2)
			err := s.Update(t.Context(), nil, func(tx *Tx) error {
				f, err := tx.File(1)
				f.RetainedUntil = until
				if err := errors.Join(err, tx.PutFile(f)); err != nil {
					return err
				}
				row.change(&f)
				return row.put(tx, f)
			})
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got error %v, want %q", err, row.want)
			}
		})
	}
	s := openNew(t)
	fill(t, s, 1)
	update(t, s, func(tx *Tx) error {
		a, err := tx.Abstract(1)
		a.RetainedUntil = until
		id, idErr := tx.NewInstrumentID()
		i := model.Instrument{ID: id, AbstractID: 1, TypeID: 7, RetainedUntil: until, CreatedAt: testTime}
		if err := errors.Join(err, idErr, tx.PutAbstract(a), tx.PutInstrument(i)); err != nil {
			return err
		}
		a.RetainedUntil, i.RetainedUntil = time.Time{}, time.Time{}
		if tx.PutAbstract(a) == nil || tx.PutInstrument(i) == nil {
			t.Error("shorter retention of an abstract and an instrument: got no error, want one for each")
		}
		return nil
	})
}
