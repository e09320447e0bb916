package store

import (
	"errors"
	"slices"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// gone is a time in the trash, hours after the test's.
func gone(hours int, with string) *model.Trashed {
	return &model.Trashed{At: testTime.Add(time.Duration(hours) * time.Hour), By: model.SystemActor(), With: with}
}

func TestTrash(t *testing.T) {
	s := openNew(t)
	fill(t, s, 3)
	update(t, s, func(tx *Tx) error {
		a, errA := tx.Abstract(1)
		f, errF := tx.File(1)
		o, errO := tx.Order(2)
		a.Trashed, f.Trashed, o.Trashed = gone(2, ""), gone(2, "abstract:1"), gone(1, "")
		return errors.Join(errA, errF, errO, tx.PutAbstract(a), tx.PutFile(f), tx.PutOrder(o))
	})
	entries := []TrashEntry{{"order", 2, testTime.Add(time.Hour)}, {"abstract", 1, testTime.Add(2 * time.Hour)}}
	view(t, s, func(tx *Tx) error {
		_, abstract := tx.Abstract(1)
		_, order := tx.Order(2)
		_, file := tx.File(1)
		for _, err := range []error{abstract, order, file} {
			if errs.KindOf(err) != errs.NotFound {
				t.Errorf("of what is in the trash: %v", err)
			}
		}
		_, abstract = tx.AbstractIncludingTrash(1)
		_, order = tx.OrderIncludingTrash(2)
		_, file = tx.FileIncludingTrash(1)
		if err := errors.Join(abstract, order, file); err != nil {
			t.Error(err)
		}
		if tx.OrderNumberTaken("A-1") || !tx.OrderNumberTaken("A-2") || !tx.DigestInUse([32]byte{}) {
			t.Error("a number in the trash is taken, or one that is not is free, or bytes in the trash are nobody's")
		}
		page, err := tx.ListTrash(Query{Limit: 9})
		if err != nil || !slices.Equal(page.Items, entries) {
			t.Errorf("listed %+v, %v", page, err)
		}
		for hours, n := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2} {
			list, err := tx.TrashedBefore(testTime.Add(time.Duration(hours)*time.Hour), TrashEntry{}, 9)
			if err != nil || !slices.Equal(list, entries[:n]) && n > 0 || len(list) != n {
				t.Errorf("trashed before %d: %+v, %v", hours, list, err)
			}
		}
		if list, err := tx.TrashedBefore(testTime.Add(9*time.Hour), TrashEntry{}, 1); err != nil || !slices.Equal(list, entries[:1]) {
			t.Errorf("the oldest: %+v, %v", list, err)
		}
		for i, e := range entries { // those behind each
			list, err := tx.TrashedBefore(testTime.Add(9*time.Hour), e, 9)
			if err != nil || len(list) != 1-i || i == 0 && list[0] != entries[1] {
				t.Errorf("behind %+v: %+v, %v", e, list, err)
			}
		}
		if tx.Count(CountTrashed) != 2 || tx.Count(CountAbstracts) != 2 || tx.Count(CountOrders) != 2 || tx.Count(CountFiles) != 2 || tx.Count(CountBytes) != 50 || tx.Count(CountFileRecords) != 3 {
			t.Error("counted wrongly")
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { // a file of two tasks, and one of the same transaction
		return errors.Join(tx.AddTask(model.ProcessingTask{FileID: 1}), tx.RemoveFile(1), tx.RemoveAbstract(1), tx.RemoveOrder(2))
	})
	view(t, s, func(tx *Tx) error {
		if tx.Count(CountTrashed) != 0 || tx.Count(CountTasks) != 2 || tx.Count(CountFileRecords) != 2 || tx.DigestInUse([32]byte{}) {
			t.Errorf("after the purge: %d in the trash, %d tasks", tx.Count(CountTrashed), tx.Count(CountTasks))
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { // numbers are not used again
		id, err := tx.NewOrderID()
		if id != 4 {
			t.Errorf("order %d", id)
		}
		return err
	})
}

func TestRemoveWhatIsNotThere(t *testing.T) {
	s := openNew(t)
	update(t, s, func(tx *Tx) error {
		for name, err := range map[string]error{"abstract": tx.RemoveAbstract(9), "order": tx.RemoveOrder(9), "file": tx.RemoveFile(9), "folder": tx.RemoveFolder(9)} {
			if errs.KindOf(err) != errs.NotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
}

func TestTasksOfRemovedFiles(t *testing.T) {
	s := openNew(t)
	fill(t, s, 3)
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.RemoveTask(2), tx.RemoveFile(3), tx.RemoveAbstract(3), tx.AddTask(model.ProcessingTask{FileID: 1}), tx.AddTask(model.ProcessingTask{FileID: 2}),
			tx.RemoveFile(1), tx.RemoveAbstract(1))
	})
	view(t, s, func(tx *Tx) error {
		if list, err := tx.Tasks(9); err != nil || len(list) != 1 || list[0].FileID != 2 || tx.Count(CountTasks) != 1 {
			t.Errorf("left: %+v, %v", list, err)
		}
		return nil
	})
}

func TestFolderInUse(t *testing.T) {
	s := openNew(t)
	fill(t, s, 2) // folders 5 and 6 are in 1
	file := model.File{ID: 1, Size: 10, Digest: digest(0), AbstractID: 1, FolderID: 2, CreatedAt: testTime}
	used := func(want string) {
		t.Helper()
		view(t, s, func(tx *Tx) error {
			got := ""
			for id := range uint64(6) {
				if tx.FolderInUse(id + 1) {
					got += string(rune('1' + id))
				}
			}
			if got != want {
				t.Errorf("in use: %s, want %s", got, want)
			}
			return nil
		})
	}
	used("1")
	update(t, s, func(tx *Tx) error { return tx.PutFile(file) })
	used("12")
	update(t, s, func(tx *Tx) error { return errors.Join(tx.RemoveFolder(5), tx.RemoveFolder(6)) })
	used("2")
	update(t, s, func(tx *Tx) error {
		a, err := tx.Abstract(1)
		a.Files, file.AbstractID, file.Trashed = nil, 0, gone(1, "")
		return errors.Join(err, tx.PutAbstract(a), tx.PutFile(file))
	})
	used("")
	update(t, s, func(tx *Tx) error { return tx.RemoveFolder(2) }) // a file in the trash may name it still
	view(t, s, func(tx *Tx) error {
		if tx.Count(CountFolders) != 3 || tx.FolderNameTaken(1, "Box 0") {
			t.Error("it is still there")
		}
		return nil
	})
}

// The queue may be long, and is read inside the transaction of a purge only for a file
// that may have a task.
func TestRemovingAFileDoesNotReadTheQueue(t *testing.T) {
	s := openNew(t)
	fill(t, s, 2)
	update(t, s, func(tx *Tx) error {
		file, err := tx.File(2)
		file.Processing = false
		if err := errors.Join(err, tx.RemoveTask(2), tx.PutFile(file), tx.RemoveFile(2), tx.RemoveAbstract(2)); err != nil {
			return err
		}
		if tx.tasksByFile != nil {
			t.Error("the queue was read for a file that is not processed")
		}
		if err := errors.Join(tx.RemoveFile(1), tx.RemoveAbstract(1)); err != nil {
			return err
		}
		if tx.Count(CountTasks) != 0 {
			t.Error("the task of a file that is gone stays")
		}
		return nil
	})
}
