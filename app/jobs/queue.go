package jobs

import (
	"container/heap"
	"sync"
	"time"

	"deedkeep/app/model"
)

// fairQueue is whose task is processed next: the oldest of the owner with the fewest in
// hand. It knows all tasks of the queue, those that are due by their numbers alone, so
// that no owner's many hide another's one.
type fairQueue struct {
	mu      sync.Mutex
	lastSeq uint64              // number of the last task that was added
	ready   map[string][]uint64 // owners who have tasks that are due: their numbers, the oldest first
	delayed delayedTasks        // tasks that are not due yet
	running map[string]int      // owners who have tasks in hand: how many
	total   int                 // in hand
}

// queuedTask is one task.
type queuedTask struct {
	seq   uint64
	owner string
	dueAt time.Time // when it is due
}

// add notes a task that has come.
func (t *fairQueue) add(task model.ProcessingTask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastSeq = task.Seq
	heap.Push(&t.delayed, queuedTask{task.Seq, task.Owner, task.DueAt})
}

// promoteDue moves the tasks that are due into their lines, and returns how long until the
// next one is; 0 when there is none.
func (t *fairQueue) promoteDue(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.delayed) > 0 {
		if wait := t.delayed[0].dueAt.Sub(now); wait > 0 {
			return wait
		}
		one := heap.Pop(&t.delayed).(queuedTask)
		t.ready[one.owner] = append(t.ready[one.owner], one.seq)
	}
	return 0
}

// next puts the task whose turn it is in hand.
func (t *fairQueue) next() (one queuedTask, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.total == maxRunning {
		return one, false
	}
	for owner, line := range t.ready {
		fewer := t.running[owner] - t.running[one.owner]
		if t.running[owner] < maxRunningPerOwner && (!ok || fewer < 0 || fewer == 0 && line[0] < one.seq) {
			one, ok = queuedTask{seq: line[0], owner: owner}, true
		}
	}
	if !ok {
		return one, false
	}
	if rest := t.ready[one.owner][1:]; len(rest) > 0 {
		t.ready[one.owner] = rest
	} else {
		delete(t.ready, one.owner)
	}
	t.running[one.owner]++
	t.total++
	return one, true
}

// release puts a task out of hand. One that did not end is still in the queue, and is due
// again at the given time.
func (t *fairQueue) release(one queuedTask, ended bool, again time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total--
	if t.running[one.owner]--; t.running[one.owner] == 0 {
		delete(t.running, one.owner)
	}
	if !ended {
		one.dueAt = again
		heap.Push(&t.delayed, one)
	}
}

// empty reports that no task is known.
func (t *fairQueue) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total == 0 && len(t.ready) == 0 && len(t.delayed) == 0
}

// delayedTasks is a heap of tasks, the one that is due first in front.
type delayedTasks []queuedTask

func (l delayedTasks) Len() int { return len(l) }
func (l delayedTasks) Less(i, j int) bool {
	if at := l[i].dueAt.Compare(l[j].dueAt); at != 0 {
		return at < 0
	}
	return l[i].seq < l[j].seq
}
func (l delayedTasks) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push is of heap.Interface.
func (l *delayedTasks) Push(one any) { *l = append(*l, one.(queuedTask)) }

// Pop is of heap.Interface.
func (l *delayedTasks) Pop() any {
	n := len(*l) - 1
	one := (*l)[n]
	*l = (*l)[:n]
	return one
}
