package jobs

import (
	"container/heap"
	"sync"
	"time"

	"deedkeep/app/fairqueue"
	"deedkeep/app/model"
)

// fairQueue selects the task to run next, which is the oldest task of the owner with the
// fewest running tasks. If several owners have as few, they take turns. It contains all tasks in the database, so that one owner's backlog
// can't hide another owner's task.
type fairQueue struct {
	mu      sync.Mutex
	lastSeq uint64                      // sequence number of the last task that was added
	ready   fairqueue.Queue[queuedTask] // tasks that are due
	delayed delayedTasks                // heap of tasks that are not due yet
	running map[string]int              // number of running tasks by owner
	total   int                         // number of running tasks
}

// queuedTask is a task in the queue.
type queuedTask struct {
	seq   uint64
	owner string
	dueAt time.Time // earliest time to run the task
}

// add adds a task that was read from the database.
func (f *fairQueue) add(task model.ProcessingTask) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastSeq = task.Seq
	heap.Push(&f.delayed, queuedTask{task.Seq, task.Owner, task.DueAt})
}

// promoteDue moves the delayed tasks that are due to the ready tasks. It returns the time
// until the next delayed task is due, or 0 if there are no delayed tasks.
func (f *fairQueue) promoteDue(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.delayed) > 0 {
		if wait := f.delayed[0].dueAt.Sub(now); wait > 0 {
			return wait
		}
		task := heap.Pop(&f.delayed).(queuedTask)
		f.ready.Add(task.owner, task, false)
	}
	return 0
}

// next removes the next task from the queue and counts it as running. ok is false if no
// task is ready or all ready tasks have to wait because of a limit.
func (f *fairQueue) next() (task queuedTask, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.total == maxRunning {
		return task, false
	}
	task, ok = f.ready.Next(func(owner string) (int64, bool) {
		return int64(f.running[owner]), f.running[owner] < maxRunningPerOwner
	})
	if !ok {
		return task, false
	}
	f.running[task.owner]++
	f.total++
	return task, true
}

// release ends a running task. If the task isn't done, it is still in the database and can
// run again at retryAt.
func (f *fairQueue) release(task queuedTask, done bool, retryAt time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total--
	if f.running[task.owner]--; f.running[task.owner] == 0 {
		delete(f.running, task.owner)
	}
	if !done {
		task.dueAt = retryAt
		heap.Push(&f.delayed, task)
	}
}

// empty reports whether there are no queued or running tasks.
func (f *fairQueue) empty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total == 0 && f.ready.Len() == 0 && len(f.delayed) == 0
}

// delayedTasks is a heap of tasks ordered by due time, then by sequence number.
type delayedTasks []queuedTask

func (d delayedTasks) Len() int { return len(d) }
func (d delayedTasks) Less(i, j int) bool {
	if order := d[i].dueAt.Compare(d[j].dueAt); order != 0 {
		return order < 0
	}
	return d[i].seq < d[j].seq
}
func (d delayedTasks) Swap(i, j int) { d[i], d[j] = d[j], d[i] }

// Push implements heap.Interface.
func (d *delayedTasks) Push(task any) { *d = append(*d, task.(queuedTask)) }

// Pop implements heap.Interface.
func (d *delayedTasks) Pop() any {
	n := len(*d) - 1
	task := (*d)[n]
	*d = (*d)[:n]
	return task
}
