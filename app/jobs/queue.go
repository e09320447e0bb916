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
func (t *fairQueue) add(task model.ProcessingTask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastSeq = task.Seq
	heap.Push(&t.delayed, queuedTask{task.Seq, task.Owner, task.DueAt})
}

// promoteDue moves the delayed tasks that are due to the ready tasks. It returns the time
// until the next delayed task is due, or 0 if there are no delayed tasks.
func (t *fairQueue) promoteDue(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.delayed) > 0 {
		if wait := t.delayed[0].dueAt.Sub(now); wait > 0 {
			return wait
		}
		task := heap.Pop(&t.delayed).(queuedTask)
		t.ready.Add(task.owner, task, false)
	}
	return 0
}

// next removes the next task from the queue and counts it as running. ok is false if no
// task is ready or all ready tasks have to wait because of a limit.
func (t *fairQueue) next() (task queuedTask, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.total == maxRunning {
		return task, false
	}
	task, ok = t.ready.Next(func(owner string) (int64, bool) {
		return int64(t.running[owner]), t.running[owner] < maxRunningPerOwner
	})
	if !ok {
		return task, false
	}
	t.running[task.owner]++
	t.total++
	return task, true
}

// release ends a running task. If the task isn't done, it is still in the database and can
// run again at retryAt.
func (t *fairQueue) release(task queuedTask, done bool, retryAt time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total--
	if t.running[task.owner]--; t.running[task.owner] == 0 {
		delete(t.running, task.owner)
	}
	if !done {
		task.dueAt = retryAt
		heap.Push(&t.delayed, task)
	}
}

// empty reports whether there are no queued or running tasks.
func (t *fairQueue) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total == 0 && t.ready.Len() == 0 && len(t.delayed) == 0
}

// delayedTasks is a heap of tasks ordered by due time, then by sequence number.
type delayedTasks []queuedTask

func (l delayedTasks) Len() int { return len(l) }
func (l delayedTasks) Less(i, j int) bool {
	if order := l[i].dueAt.Compare(l[j].dueAt); order != 0 {
		return order < 0
	}
	return l[i].seq < l[j].seq
}
func (l delayedTasks) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push implements heap.Interface.
func (l *delayedTasks) Push(task any) { *l = append(*l, task.(queuedTask)) }

// Pop implements heap.Interface.
func (l *delayedTasks) Pop() any {
	n := len(*l) - 1
	task := (*l)[n]
	*l = (*l)[:n]
	return task
}
