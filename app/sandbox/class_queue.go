package sandbox

import (
	"container/list"
	"context"
	"time"
)

// classQueue holds the waiting calls of one class.
type classQueue struct {
	owners  *list.List // of *ownerQueue
	byOwner map[string]*list.Element
	waiting int
}

// ownerQueue holds the waiting calls of one owner.
type ownerQueue struct {
	owner   string
	waiters *list.List // of *waiter
}

// waiter is a call that waits for a slot or holds one.
type waiter struct {
	class   Class
	owner   string
	stop    context.CancelFunc // preempts the work by canceling its context
	element *list.Element      // in ownerQueue.waiters
	ready   chan struct{}      // closed when a slot is granted or err is set
	err     error              // ErrBusy if the waiter was dropped from the queue, else nil

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
	e := l.byOwner[t.owner]
	if e == nil {
		e = l.owners.PushBack(&ownerQueue{owner: t.owner, waiters: list.New()})
		l.byOwner[t.owner] = e
	}
	if t.preemptions > 0 {
		t.element = e.Value.(*ownerQueue).waiters.PushFront(t)
	} else {
		t.element = e.Value.(*ownerQueue).waiters.PushBack(t)
	}
	l.waiting++
}

// remove removes t from its owner's queue.
func (l *classQueue) remove(t *waiter) {
	e := l.byOwner[t.owner]
	waiters := e.Value.(*ownerQueue).waiters
	waiters.Remove(t.element)
	l.waiting--
	if waiters.Len() == 0 {
		l.owners.Remove(e)
		delete(l.byOwner, t.owner)
	}
}

// next removes and returns the oldest waiter of the owner with the least slot time among the owners
// that may have a slot. On a tie, the owner that was served least recently goes first. It returns
// nil if no such owner is waiting.
func (l *classQueue) next(may func(owner string) bool, used map[string]time.Duration) *waiter {
	var first *list.Element
	for e := l.owners.Front(); e != nil; e = e.Next() {
		owner := e.Value.(*ownerQueue).owner
		if may(owner) && (first == nil || used[owner] < used[first.Value.(*ownerQueue).owner]) {
			first = e
		}
	}
	if first == nil {
		return nil
	}
	t := first.Value.(*ownerQueue).waiters.Front().Value.(*waiter)
	l.owners.MoveToBack(first)
	l.remove(t)
	return t
}

// hasOwner reports whether an owner with waiting calls satisfies the condition.
func (l *classQueue) hasOwner(matches func(owner string) bool) bool {
	for e := l.owners.Front(); e != nil; e = e.Next() {
		if matches(e.Value.(*ownerQueue).owner) {
			return true
		}
	}
	return false
}

// dropFromLongest drops the newest waiter from the longest owner queue, with ErrBusy, to make room
// for another call of owner. It drops nothing and returns false if owner's queue would then be at
// least as long as the longest one. This way, an owner that floods the queue only affects its own
// calls.
func (l *classQueue) dropFromLongest(owner string) bool {
	own := 0
	if e := l.byOwner[owner]; e != nil {
		own = e.Value.(*ownerQueue).waiters.Len()
	}
	var longest *list.List
	for e := l.owners.Front(); e != nil; e = e.Next() {
		if waiters := e.Value.(*ownerQueue).waiters; longest == nil || waiters.Len() > longest.Len() {
			longest = waiters
		}
	}
	if longest == nil || longest.Len() <= own+1 {
		return false
	}
	t := longest.Back().Value.(*waiter)
	l.remove(t)
	t.err = ErrBusy
	close(t.ready)
	return true
}
