package store

import "deedkeep/app/title"

// AddTask puts a file, which is Processing as long as it has a task, into the queue;
// Seq is set here.
func (t *Tx) AddTask(task title.Task) error {
	var err error
	if task.Seq, err = tasks.next(t); err != nil {
		return err
	}
	t.add(CountTasks, 1)
	if t.queued != nil {
		t.queued[task.FileID] = append(t.queued[task.FileID], task.Seq)
	}
	return tasks.put(t, task.Seq, task)
}

// Tasks reads at most limit tasks, the oldest first, without those that are damaged.
func (t *Tx) Tasks(limit int) (list []title.Task, err error) {
	tasks.each(t, 0, func(_ uint64, task title.Task, e error) bool {
		if e != nil {
			return true // those behind a damaged one need not wait; Check reports it
		}
		list = append(list, task)
		return len(list) < limit
	})
	return list, err
}

// RemoveTask takes a task out of the queue; one that is gone already is no error.
func (t *Tx) RemoveTask(seq uint64) error {
	if !tasks.has(t, seq) {
		return nil
	}
	t.add(CountTasks, -1)
	return tasks.remove(t, seq)
}

// removeTasksOf takes what waits for a file that is Processing out of the queue. The
// queue is read once a transaction, while others wait to write: of other files it is
// not read at all.
func (t *Tx) removeTasksOf(file uint64) error {
	if t.queued == nil {
		t.queued = map[uint64][]uint64{}
		tasks.each(t, 0, func(seq uint64, task title.Task, err error) bool {
			if err == nil { // Check reports a damaged one
				t.queued[task.FileID] = append(t.queued[task.FileID], seq)
			}
			return true
		})
	}
	for _, seq := range t.queued[file] {
		if err := t.RemoveTask(seq); err != nil {
			return err
		}
	}
	delete(t.queued, file)
	return nil
}
