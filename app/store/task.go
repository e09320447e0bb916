package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// AddTask adds a task to the processing queue and sets its Seq. A file's Processing field
// is true as long as it has a task.
func (t *Tx) AddTask(task model.ProcessingTask) error {
	var err error
	if task.Seq, err = tasks.nextID(t); err != nil {
		return err
	}
	t.addCount(CountTasks, 1)
	if t.tasksByFile != nil {
		t.tasksByFile[task.FileID] = append(t.tasksByFile[task.FileID], task.Seq)
	}
	return tasks.put(t, task.Seq, task)
}

// Tasks returns up to limit tasks, oldest first. It skips damaged ones.
func (t *Tx) Tasks(limit int) ([]model.ProcessingTask, error) { return t.TasksAfter(0, limit) }

// TasksAfter is like Tasks but returns only tasks with a sequence number greater than seq.
func (t *Tx) TasksAfter(seq uint64, limit int) (list []model.ProcessingTask, err error) {
	if seq > 0 {
		seq++
	}
	tasks.each(t, seq, func(_ uint64, task model.ProcessingTask, e error) bool {
		if e != nil {
			return true // skip damaged tasks so that they don't block later ones; Check reports them
		}
		list = append(list, task)
		return len(list) < limit
	})
	return list, err
}

// Task returns a task. The error has kind errs.NotFound if the task doesn't exist and wraps
// ErrDamaged if it can't be decoded.
func (t *Tx) Task(seq uint64) (model.ProcessingTask, error) { return tasks.get(t, seq) }

// RemoveTask removes a task from the queue. It is not an error if the task doesn't exist.
func (t *Tx) RemoveTask(seq uint64) error {
	if !tasks.has(t, seq) {
		return nil
	}
	t.addCount(CountTasks, -1)
	return tasks.remove(t, seq)
}

// removeTasksOfFile removes the tasks of a file. Reading the queue blocks other writers, so
// it is read only once per transaction, and never for files that aren't Processing.
func (t *Tx) removeTasksOfFile(file uint64) error {
	t.loadTasksByFile()
	for _, seq := range t.tasksByFile[file] {
		if err := t.RemoveTask(seq); err != nil {
			return err
		}
	}
	delete(t.tasksByFile, file)
	return nil
}

// loadTasksByFile reads the queue unless this transaction has already read it.
func (t *Tx) loadTasksByFile() {
	if t.tasksByFile != nil {
		return
	}
	t.tasksByFile = map[uint64][]uint64{}
	tasks.each(t, 0, func(seq uint64, task model.ProcessingTask, err error) bool {
		if err == nil { // Check reports damaged tasks
			t.tasksByFile[task.FileID] = append(t.tasksByFile[task.FileID], seq)
		}
		return true
	})
}

// HasTask reports whether a file has a task.
func (t *Tx) HasTask(file uint64) bool {
	t.loadTasksByFile()
	return len(t.tasksByFile[file]) > 0
}

// FilesWithoutTask returns up to limit IDs of files, starting with ID from, whose
// Processing field is true but that have no task. It includes files in the trash and skips
// damaged records.
func (t *Tx) FilesWithoutTask(from uint64, limit int) (list []uint64) {
	files.each(t, from, func(id uint64, f model.File, err error) bool {
		if err == nil && f.Processing && !t.HasTask(id) {
			list = append(list, id)
		}
		return len(list) < limit
	})
	return list
}

// RemoveOrphanTasks removes up to limit tasks that can't be processed and returns how many
// it removed. These are tasks of missing files and damaged tasks, whose content is also in
// the file's record. Call it after a Rebuild, which doesn't count damaged tasks.
func (t *Tx) RemoveOrphanTasks(limit int) (count int, err error) {
	var orphans [][]byte
	c := t.bucket(bucketTasks).Cursor()
	for key, raw := c.First(); key != nil && len(orphans) < limit; key, raw = c.Next() {
		var task model.ProcessingTask
		_, validKey := decodeUint64(key)
		valid := validKey && decodeRecord(bucketTasks, key, raw, &task) == nil
		if valid && files.has(t, task.FileID) {
			continue
		}
		if orphans = append(orphans, bytes.Clone(key)); valid {
			t.addCount(CountTasks, -1)
		}
	}
	for _, key := range orphans {
		if err := t.bucket(bucketTasks).Delete(key); err != nil {
			return 0, fmt.Errorf("remove orphaned task: %w", err)
		}
	}
	t.tasksByFile = nil
	return len(orphans), nil
}

// OCROwner identifies the user or API key that uploaded a file. It is the start of the file's key
// in the OCR queue.
type OCROwner string

const (
	ocrWithoutOwner OCROwner = "\x00" // files that were uploaded before schema 10
	ocrTrash        OCROwner = "\x01" // files in the trash, whatever their owner is
	ocrOwnerTag     OCROwner = "\x02" // before the hash of an owner
)

// OCROwnerOf returns the owner of a file that is not in the trash.
func OCROwnerOf(f *model.File) OCROwner {
	if f.Owner == "" {
		return ocrWithoutOwner
	}
	return ocrOwnerTag + OCROwner(encodeUint64(fnv1a(f.Owner)))
}

// ocrQueueKey returns the key of a file in the OCR queue. Newer files of an owner come first.
func ocrQueueKey(f *model.File) []byte {
	owner := ocrTrash
	if f.Trashed == nil {
		owner = OCROwnerOf(f)
	}
	return append([]byte(owner), encodeUint64(math.MaxUint64-f.ID)...)
}

// cutOCRQueueKey returns the owner and the file ID in a key of the OCR queue. The ID is 0 if the key is
// invalid.
func cutOCRQueueKey(key []byte) (owner OCROwner, id uint64) {
	at := len(key) - 8
	if at != len(ocrWithoutOwner) && at != len(ocrOwnerTag)+8 {
		return "", 0
	}
	inverse, _ := decodeUint64(key[at:])
	return OCROwner(key[:at]), math.MaxUint64 - inverse
}

// updateOCRQueue updates the OCR queue and its counters. The arguments are those of
// updateFileCounters.
func (t *Tx) updateOCRQueue(old, f *model.File, existed, exists bool) error {
	before, after := existed && old.WaitsForOCR(), exists && f.WaitsForOCR()
	var oldKey []byte
	oldPages := 0
	queue := t.bucket(bucketOCRQueue)
	if before {
		oldKey, oldPages = ocrQueueKey(old), old.PagesWaitingForOCR()
		t.addOCRCount(old, -1, -oldPages)
	}
	if after {
		pages := f.PagesWaitingForOCR()
		t.addOCRCount(f, 1, pages)
		key := ocrQueueKey(f)
		if bytes.Equal(key, oldKey) && pages == oldPages {
			return nil
		}
		if err := queue.Put(key, encodeUint64(uint64(pages))); err != nil || bytes.Equal(key, oldKey) { // not negative
			return err
		}
	}
	if before {
		return queue.Delete(oldKey)
	}
	return nil
}

// addOCRCount changes the counters of the OCR queue by a file and its pages. They don't count the
// trash.
func (t *Tx) addOCRCount(f *model.File, count int64, pages int) {
	if f.Trashed == nil {
		t.addCount(CountOCRFiles, count)
		t.addCount(CountOCRPages, int64(pages))
	}
}

// OCROwners returns the owners of the files in the OCR queue, without those that are in the trash. It
// takes the same time no matter how many files they have.
func (t *Tx) OCROwners() (list []OCROwner) {
	c := t.bucket(bucketOCRQueue).Cursor()
	for key, _ := c.First(); key != nil; {
		owner, id := cutOCRQueueKey(key)
		if id == 0 {
			key, _ = c.Next() // Check reports it
			continue
		}
		if owner != ocrTrash {
			list = append(list, owner)
		}
		key, _ = c.Seek(append([]byte(owner), bytes.Repeat([]byte{0xFF}, 9)...)) // after the last file of the owner
	}
	return list
}

// NextForOCR returns the newest file of an owner in the OCR queue for which skip returns false. found
// is false if there is none. Damaged records are skipped; Check reports them.
func (t *Tx) NextForOCR(owner OCROwner, skip func(id uint64) bool) (file model.File, found bool, err error) {
	err = t.eachForOCR(owner, skip, func(f model.File) (more bool, err error) {
		file, found = f, true
		return false, nil
	})
	return file, found, err
}

// EachForOCR passes the files in the OCR queue to visit until visit returns an error. It omits files in
// the trash.
func (t *Tx) EachForOCR(visit func(model.File) error) error {
	none := func(uint64) bool { return false }
	for _, owner := range t.OCROwners() {
		if err := t.eachForOCR(owner, none, func(f model.File) (bool, error) { return true, visit(f) }); err != nil {
			return err
		}
	}
	return nil
}

// eachForOCR passes the files of an owner for which skip returns false to visit, until visit returns
// false or an error.
func (t *Tx) eachForOCR(owner OCROwner, skip func(id uint64) bool, visit func(model.File) (more bool, err error)) error {
	c := t.bucket(bucketOCRQueue).Cursor()
	for key, _ := c.Seek([]byte(owner)); bytes.HasPrefix(key, []byte(owner)); key, _ = c.Next() {
		_, id := cutOCRQueueKey(key)
		if id == 0 || skip(id) {
			continue
		}
		file, err := files.get(t, id)
		switch {
		case errs.KindOf(err) == errs.NotFound, errors.Is(err, ErrDamaged):
		case err != nil:
			return err
		case file.WaitsForOCR() && file.Trashed == nil:
			if more, err := visit(file); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// SetOCR stores the progress of OCR and the number of pages with text of a file. changed says
// whether the text of the file changed, so that the search index has to read it again. SetOCR
// does nothing if the file is being processed, because processing stores both at its end. The
// error has kind errs.NotFound if the file doesn't exist.
func (t *Tx) SetOCR(id uint64, ocr model.OCR, textPages int, changed bool) error {
	old, err := files.get(t, id)
	if err != nil || old.Processing {
		return err
	}
	file := old
	file.OCR, file.TextPages = &ocr, &textPages
	if changed {
		return t.PutFile(file)
	}
	if err := t.updateFileCounters(&old, &file, true, true); err != nil {
		return fmt.Errorf("index file %d: %w", id, err)
	}
	return files.put(t, id, file)
}

// ResetOCR queues up to limit files with this content digest for OCR because results of their
// pages are missing. It does nothing for files that are being processed or have no page images.
func (t *Tx) ResetOCR(digest [32]byte, limit int) error {
	c := t.bucket(bucketFileDigests).Cursor()
	var ids []uint64
	for k, _ := c.Seek(digest[:]); bytes.HasPrefix(k, digest[:]) && len(ids) < limit; k, _ = c.Next() {
		if id, ok := decodeUint64(k[len(digest):]); ok {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		file, err := files.get(t, id)
		switch {
		case errs.KindOf(err) == errs.NotFound, errors.Is(err, ErrDamaged):
			continue // Check reports it
		case err != nil:
			return err
		case file.OCR == nil || !file.ShownAsImages() || file.Processing:
			continue
		}
		file.OCR = nil
		if err := t.PutFile(file); err != nil {
			return err
		}
	}
	return nil
}
