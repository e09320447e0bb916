package sandbox

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// classQueue holds the waiting calls of one class.
type classQueue struct {
	owners  []*ownerQueue // the owner that was served least recently first
	waiting int
}

// ownerQueue holds the waiting calls of one owner, the oldest first. It is never empty.
type ownerQueue struct {
	owner   string
	waiters []*waiter
}

// waiter is a call that waits for a slot or holds one.
type waiter struct {
	class Class
	owner string
	stop  context.CancelFunc // preempts the work by canceling its context
	ready chan struct{}      // closed when a slot is granted or err is set
	err   error              // ErrBusy if the waiter was dropped from the queue, else nil

	slotSince   time.Time     // when it got the current slot
	slotTime    time.Duration // total time in previous slots
	startedAt   time.Time     // when a worker first got the document
	slowTimer   *time.Timer   // expires after slowAfter; nil while no worker has the document
	slow        bool          // the document has run for slowAfter, now or before a preemption
	preempted   bool          // the work is being stopped and is about to release its slot
	preemptions int           // number of preemptions
}

// add appends t to its owner's queue, or puts it at the front if it was preempted.
func (l *classQueue) add(t *waiter) {
	i := l.find(t.owner)
	if i < 0 {
		i = len(l.owners)
		l.owners = append(l.owners, &ownerQueue{owner: t.owner})
	}
	q := l.owners[i]
	if t.preemptions > 0 {
		q.waiters = slices.Insert(q.waiters, 0, t)
	} else {
		q.waiters = append(q.waiters, t)
	}
	l.waiting++
}

// find returns the index of an owner's queue, or -1.
func (l *classQueue) find(owner string) int {
	return slices.IndexFunc(l.owners, func(q *ownerQueue) bool { return q.owner == owner })
}

// remove removes t from its owner's queue.
func (l *classQueue) remove(t *waiter) {
	i := l.find(t.owner)
	q := l.owners[i]
	q.waiters = slices.DeleteFunc(q.waiters, func(w *waiter) bool { return w == t })
	if l.waiting--; len(q.waiters) == 0 {
		l.owners = slices.Delete(l.owners, i, i+1)
	}
}

// next removes and returns the oldest waiter of the owner with the least slot time among the owners
// that may have a slot. On a tie, the owner that was served least recently goes first. It returns
// nil if no such owner is waiting.
func (l *classQueue) next(may func(owner string) bool, used map[string]time.Duration) *waiter {
	first := -1
	for i, q := range l.owners {
		if may(q.owner) && (first < 0 || used[q.owner] < used[l.owners[first].owner]) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	q := l.owners[first]
	l.owners = append(slices.Delete(l.owners, first, first+1), q)
	t := q.waiters[0]
	l.remove(t)
	return t
}

// dropFromLongest drops the newest waiter from the longest owner queue, with ErrBusy, to make room
// for another call of owner. It drops nothing and returns false if owner's queue would then be at
// least as long as the longest one. This way, an owner that floods the queue only affects its own
// calls.
func (l *classQueue) dropFromLongest(owner string) bool {
	if len(l.owners) == 0 {
		return false
	}
	own := 0
	if i := l.find(owner); i >= 0 {
		own = len(l.owners[i].waiters)
	}
	longest := slices.MaxFunc(l.owners, func(a, b *ownerQueue) int { return cmp.Compare(len(a.waiters), len(b.waiters)) }).waiters
	if len(longest) <= own+1 {
		return false
	}
	t := longest[len(longest)-1]
	l.remove(t)
	t.err = ErrBusy
	close(t.ready)
	return true
}
