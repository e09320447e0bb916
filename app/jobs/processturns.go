package jobs

import (
	"container/heap"
	"sync"
	"time"

	"deedkeep/app/model"
)

// turns is whose task is processed next: the oldest of the owner with the fewest in
// hand. It knows all tasks of the queue, those that are due by their numbers alone, so
// that no owner's many hide another's one.
type turns struct {
	mu    sync.Mutex
	seen  uint64              // number of the last task that was added
	lines map[string][]uint64 // owners who have tasks that are due: their numbers, the oldest first
	later notDue              // tasks that are not due yet
	hands map[string]int      // owners who have tasks in hand: how many
	all   int                 // in hand
}

// oneTurn is one task.
type oneTurn struct {
	seq   uint64
	owner string
	at    time.Time // when it is due
}

// add notes a task that has come.
func (t *turns) add(task model.ProcessingTask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = task.Seq
	heap.Push(&t.later, oneTurn{task.Seq, task.Owner, task.DueAt})
}

// due moves the tasks that are due into their lines, and returns how long until the
// next one is; 0 when there is none.
func (t *turns) due(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.later) > 0 {
		if wait := t.later[0].at.Sub(now); wait > 0 {
			return wait
		}
		one := heap.Pop(&t.later).(oneTurn)
		t.lines[one.owner] = append(t.lines[one.owner], one.seq)
	}
	return 0
}

// take puts the task whose turn it is in hand.
func (t *turns) take() (one oneTurn, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == processHands {
		return one, false
	}
	for owner, line := range t.lines {
		fewer := t.hands[owner] - t.hands[one.owner]
		if t.hands[owner] < processShare && (!ok || fewer < 0 || fewer == 0 && line[0] < one.seq) {
			one, ok = oneTurn{seq: line[0], owner: owner}, true
		}
	}
	if !ok {
		return one, false
	}
	if rest := t.lines[one.owner][1:]; len(rest) > 0 {
		t.lines[one.owner] = rest
	} else {
		delete(t.lines, one.owner)
	}
	t.hands[one.owner]++
	t.all++
	return one, true
}

// give puts a task out of hand. One that did not end is still in the queue, and is due
// again at the given time.
func (t *turns) give(one oneTurn, ended bool, again time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.hands[one.owner]--; t.hands[one.owner] == 0 {
		delete(t.hands, one.owner)
	}
	if !ended {
		one.at = again
		heap.Push(&t.later, one)
	}
}

// idle reports that no task is known.
func (t *turns) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all == 0 && len(t.lines) == 0 && len(t.later) == 0
}

// notDue is a heap of tasks, the one that is due first in front.
type notDue []oneTurn

func (l notDue) Len() int { return len(l) }
func (l notDue) Less(i, j int) bool {
	if at := l[i].at.Compare(l[j].at); at != 0 {
		return at < 0
	}
	return l[i].seq < l[j].seq
}
func (l notDue) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push is of heap.Interface.
func (l *notDue) Push(one any) { *l = append(*l, one.(oneTurn)) }

// Pop is of heap.Interface.
func (l *notDue) Pop() any {
	n := len(*l) - 1
	one := (*l)[n]
	*l = (*l)[:n]
	return one
}
