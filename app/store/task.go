package store

import (
	"bytes"
	"fmt"

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
