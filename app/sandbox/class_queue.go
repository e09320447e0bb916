package sandbox

import (
	"container/list"
	"context"
	"time"
)

// classQueue is what waits of one class.
type classQueue struct {
	owners  *list.List // of *line: the owners who wait
	byOwner map[string]*list.Element
	waiting int
}

// ownerQueue is what waits of one owner.
type ownerQueue struct {
	owner   string
	waiters *list.List // of *ticket
}

// waiter is one call that waits, or has a slot.
type waiter struct {
	class   Class
	owner   string
	stop    context.CancelFunc // stops the work that has its slot
	element *list.Element      // in its line
	ready   chan struct{}      // closed when granted or turned away
	err     error              // ErrBusy: turned away

	slotSince   time.Time     // when it got the slot that it has
	slotTime    time.Duration // with slots that it has given back
	startedAt   time.Time     // when a child got the document
	slowTimer   *time.Timer   // runs out when it is late; nil: no child has the document
	slow        bool          // a child has had it for slowAfter, now or before it gave way
	preempted   bool          // it has been stopped and is about to give its slot back
	preemptions int           // how often it has given way
}

// add puts t at the end of its owner's line, or at its head when it has given way.
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

// remove takes t out of its line, wherever it stands.
func (l *classQueue) remove(t *waiter) {
	e := l.byOwner[t.owner]
	tickets := e.Value.(*ownerQueue).waiters
	tickets.Remove(t.element)
	l.waiting--
	if tickets.Len() == 0 {
		l.owners.Remove(e)
		delete(l.byOwner, t.owner)
	}
}

// next takes the oldest ticket of the owner who has used the least of those who may
// have a slot, and of several such owners of the one whose turn is the longest ago;
// nil when there is none.
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

// hasOwner reports whether one of the owners who wait is so.
func (l *classQueue) hasOwner(so func(owner string) bool) bool {
	for e := l.owners.Front(); e != nil; e = e.Next() {
		if so(e.Value.(*ownerQueue).owner) {
			return true
		}
	}
	return false
}

// dropFromLongest turns the youngest ticket of the longest line away when that line is
// longer than the owner's would be: a flood drowns nobody but itself.
func (l *classQueue) dropFromLongest(owner string) bool {
	own := 0
	if e := l.byOwner[owner]; e != nil {
		own = e.Value.(*ownerQueue).waiters.Len()
	}
	var longest *list.List
	for e := l.owners.Front(); e != nil; e = e.Next() {
		if tickets := e.Value.(*ownerQueue).waiters; longest == nil || tickets.Len() > longest.Len() {
			longest = tickets
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
