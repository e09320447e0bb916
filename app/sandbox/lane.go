package sandbox

import (
	"container/list"
	"context"
	"time"
)

// lane is what waits of one class.
type lane struct {
	ring    *list.List // of *line: the owners who wait
	byOwner map[string]*list.Element
	waiting int
}

// line is what waits of one owner.
type line struct {
	owner   string
	tickets *list.List // of *ticket
}

// ticket is one call that waits, or has a slot.
type ticket struct {
	class  Class
	owner  string
	stop   context.CancelFunc // stops the work that has its slot
	place  *list.Element      // in its line
	called chan struct{}      // closed when granted or turned away
	err    error              // ErrBusy: turned away

	since    time.Time     // when it got the slot that it has
	took     time.Duration // with slots that it has given back
	began    time.Time     // when a child got the document
	timer    *time.Timer   // runs out when it is late; nil: no child has the document
	late     bool          // a child has had it for slowWork, now or before it gave way
	yielding bool          // it has been stopped and is about to give its slot back
	yields   int           // how often it has given way
}

// add puts t at the end of its owner's line, or at its head when it has given way.
func (l *lane) add(t *ticket) {
	e := l.byOwner[t.owner]
	if e == nil {
		e = l.ring.PushBack(&line{owner: t.owner, tickets: list.New()})
		l.byOwner[t.owner] = e
	}
	if t.yields > 0 {
		t.place = e.Value.(*line).tickets.PushFront(t)
	} else {
		t.place = e.Value.(*line).tickets.PushBack(t)
	}
	l.waiting++
}

// remove takes t out of its line, wherever it stands.
func (l *lane) remove(t *ticket) {
	e := l.byOwner[t.owner]
	tickets := e.Value.(*line).tickets
	tickets.Remove(t.place)
	l.waiting--
	if tickets.Len() == 0 {
		l.ring.Remove(e)
		delete(l.byOwner, t.owner)
	}
}

// next takes the oldest ticket of the owner who has used the least of those who may
// have a slot, and of several such owners of the one whose turn is the longest ago;
// nil when there is none.
func (l *lane) next(may func(owner string) bool, used map[string]time.Duration) *ticket {
	var first *list.Element
	for e := l.ring.Front(); e != nil; e = e.Next() {
		owner := e.Value.(*line).owner
		if may(owner) && (first == nil || used[owner] < used[first.Value.(*line).owner]) {
			first = e
		}
	}
	if first == nil {
		return nil
	}
	t := first.Value.(*line).tickets.Front().Value.(*ticket)
	l.ring.MoveToBack(first)
	l.remove(t)
	return t
}

// has reports whether one of the owners who wait is so.
func (l *lane) has(so func(owner string) bool) bool {
	for e := l.ring.Front(); e != nil; e = e.Next() {
		if so(e.Value.(*line).owner) {
			return true
		}
	}
	return false
}

// makeRoom turns the youngest ticket of the longest line away when that line is
// longer than the owner's would be: a flood drowns nobody but itself.
func (l *lane) makeRoom(owner string) bool {
	own := 0
	if e := l.byOwner[owner]; e != nil {
		own = e.Value.(*line).tickets.Len()
	}
	var longest *list.List
	for e := l.ring.Front(); e != nil; e = e.Next() {
		if tickets := e.Value.(*line).tickets; longest == nil || tickets.Len() > longest.Len() {
			longest = tickets
		}
	}
	if longest == nil || longest.Len() <= own+1 {
		return false
	}
	t := longest.Back().Value.(*ticket)
	l.remove(t)
	t.err = ErrBusy
	close(t.called)
	return true
}
