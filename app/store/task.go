package store

import (
	"bytes"
	"fmt"

	"deedkeep/app/model"
)

// AddTask puts a file, which is Processing as long as it has a task, into the queue;
// Seq is set here.
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

// Tasks reads at most limit tasks, the oldest first, without those that are damaged.
func (t *Tx) Tasks(limit int) ([]model.ProcessingTask, error) { return t.TasksAfter(0, limit) }

// TasksAfter is Tasks for those with a greater number; 0 is before all.
func (t *Tx) TasksAfter(seq uint64, limit int) (list []model.ProcessingTask, err error) {
	if seq > 0 {
		seq++
	}
	tasks.each(t, seq, func(_ uint64, task model.ProcessingTask, e error) bool {
		if e != nil {
			return true // those behind a damaged one need not wait; Check reports it
		}
		list = append(list, task)
		return len(list) < limit
	})
	return list, err
}

// Task reads one task: NotFound when it has ended, ErrDamaged when it can't be read.
func (t *Tx) Task(seq uint64) (model.ProcessingTask, error) { return tasks.get(t, seq) }

// RemoveTask takes a task out of the queue; one that is gone already is no error.
func (t *Tx) RemoveTask(seq uint64) error {
	if !tasks.has(t, seq) {
		return nil
	}
	t.addCount(CountTasks, -1)
	return tasks.remove(t, seq)
}

// removeTasksOfFile takes what waits for a file that is Processing out of the queue. The
// queue is read once a transaction, while others wait to write: of other files it is
// not read at all.
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

func (t *Tx) loadTasksByFile() {
	if t.tasksByFile != nil {
		return
	}
	t.tasksByFile = map[uint64][]uint64{}
	tasks.each(t, 0, func(seq uint64, task model.ProcessingTask, err error) bool {
		if err == nil { // Check reports a damaged one
			t.tasksByFile[task.FileID] = append(t.tasksByFile[task.FileID], seq)
		}
		return true
	})
}

// HasTask reports whether a task waits for a file.
func (t *Tx) HasTask(file uint64) bool {
	t.loadTasksByFile()
	return len(t.tasksByFile[file]) > 0
}

// FilesWithoutTask gives at most limit files from number from on that wait for their
// processing without a task, those in the trash too, without damaged ones.
func (t *Tx) FilesWithoutTask(from uint64, limit int) (list []uint64) {
	files.each(t, from, func(id uint64, f model.File, err error) bool {
		if err == nil && f.Processing && !t.HasTask(id) {
			list = append(list, id)
		}
		return len(list) < limit
	})
	return list
}

// RemoveOrphanTasks takes at most limit tasks out of the queue that lead nowhere, and
// tells how many: those of files that are missing, and, as what they said stands in
// the record of the file too, those that are damaged. It must follow a Rebuild, which
// counts no damaged ones.
func (t *Tx) RemoveOrphanTasks(limit int) (count int, err error) {
	var stray [][]byte
	c := t.bucket(bucketTasks).Cursor()
	for key, raw := c.First(); key != nil && len(stray) < limit; key, raw = c.Next() {
		var task model.ProcessingTask
		_, numbered := decodeUint64(key)
		sound := numbered && decodeRecord(bucketTasks, key, raw, &task) == nil
		if sound && files.has(t, task.FileID) {
			continue
		}
		if stray = append(stray, bytes.Clone(key)); sound {
			t.addCount(CountTasks, -1)
		}
	}
	for _, key := range stray {
		if err := t.bucket(bucketTasks).Delete(key); err != nil {
			return 0, fmt.Errorf("remove a stray task: %w", err)
		}
	}
	t.tasksByFile = nil
	return len(stray), nil
}
