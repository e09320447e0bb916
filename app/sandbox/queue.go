package sandbox

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrBusy says that more work waits than is remembered. It is our fault and not
// the document's: the same call may succeed a little later.
var ErrBusy = errors.New("too many documents are waiting to be read")

// Class says how urgent work is; the zero value is the humblest.
type Class int

// Classes. Work of a higher one goes first, whatever waits below.
const (
	Background Class = iota // processing: nobody waits
	View                    // somebody waits to look at a page
	Upload                  // inspection: somebody waits to be told that a file is taken
	numClasses
)

// queue hands out the slots of a pool, one for each child. Within a class, the owner
// who has had the least time goes first (used, level). An owner is slow from when one
// of the documents has had a child for slowAfter, until as much time has passed after
// its end as it took. In a class and those above it, a slow owner gets one slot at
// most, and all slow owners together never get the last one where there is more than
// one.
//
// What is slow is known only after a while, and may hold every slot by then. When a
// quick owner waits, slow work above that measure, of the same class or a lower one, is
// stopped and waits again at the head of its owner's line. So a quick owner waits for
// slow ones of the same class no longer than slowAfter and the start of a child. Where
// there is only one slot, work is stopped maxPreemptions times and then completes. Work
// without an owner is never slow.
//
//	class ── ring of owners ── each with its documents, the oldest first
type queue struct {
	mu          sync.Mutex
	slots       int
	maxWaiting  int // waiting tickets of one class
	classes     [numClasses]classQueue
	running     []*waiter
	slotTime    map[string]time.Duration // time that owners have had slots, since the queue was last empty
	minSlotTime time.Duration            // what the owner had used who got the last slot; new owners begin with it
	slowCount   map[string]int           // owners, and how many of their documents make them slow
}

const (
	// slowAfter is how long a document takes at least that makes its owner slow.
	slowAfter = 500 * time.Millisecond
	// maxPreemptions is how often the work on one document is stopped for others where
	// there is no second slot, so that it completes however many they are.
	maxPreemptions = 3
)

func newQueue(slots, most int) *queue {
	q := &queue{slots: slots, maxWaiting: most, slotTime: make(map[string]time.Duration), slowCount: make(map[string]int)}
	for i := range q.classes {
		q.classes[i] = classQueue{owners: list.New(), byOwner: make(map[string]*list.Element)}
	}
	return q
}

// acquire waits for a slot. It returns ctx's error, or ErrBusy when the class is
// full and the owner has no claim to the place of another. The work with the slot
// ends soon after t.stop is called; the slot is given back by release.
func (q *queue) acquire(ctx context.Context, t *waiter) error {
	if err := q.enqueue(t); err != nil {
		return err
	}
	select {
	case <-t.ready:
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-t.ready:
		switch {
		case t.err != nil:
			q.scheduleQuick(t)
			return t.err
		case ctx.Err() == nil:
			return nil
		}
		q.releaseLocked(t, false) // both at the same time
	default:
		q.classes[t.class].remove(t)
		q.scheduleQuick(t)
	}
	return ctx.Err()
}

func (q *queue) enqueue(t *waiter) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.classes[t.class]
	t.ready = make(chan struct{})
	if t.preemptions == 0 && l.waiting >= q.maxWaiting && !l.dropFromLongest(t.owner) {
		return ErrBusy
	}
	q.slotTime[t.owner] = max(q.slotTime[t.owner], q.minSlotTime)
	l.add(t)
	q.grant()
	return nil
}

// started says that a child has the document: its time counts from now on.
func (q *queue) started(t *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.slowTimer != nil || t.owner == "" {
		return
	}
	t.startedAt = time.Now()
	t.slowTimer = time.AfterFunc(slowAfter, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.markIfSlow(t)
		q.grant()
	})
}

// markIfSlow makes the owner slow when the document has proved to be.
func (q *queue) markIfSlow(t *waiter) {
	if t.slowTimer != nil && !t.slow && time.Since(t.startedAt) >= slowAfter {
		t.slow = true
		q.slowCount[t.owner]++
	}
}

// release gives a slot back. stopped says that the work did not come to its end because
// of t.stop; where that was for others, the ticket waits again.
func (q *queue) release(t *waiter, stopped bool) (again bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	again = stopped && t.preempted
	q.releaseLocked(t, again)
	return again
}

// releaseLocked ends the turn of a ticket, and the ticket unless it waits again.
func (q *queue) releaseLocked(t *waiter, again bool) {
	q.markIfSlow(t)
	took := time.Since(t.slotSince)
	q.running = slices.DeleteFunc(q.running, func(h *waiter) bool { return h == t })
	q.slotTime[t.owner] += took
	t.slotTime += took
	if t.slowTimer != nil {
		t.slowTimer.Stop()
	}
	t.slowTimer, t.preempted = nil, false
	if !again {
		q.scheduleQuick(t)
	}
	q.grant()
	if len(q.running) == 0 && !slices.ContainsFunc(q.classes[:], func(l classQueue) bool { return l.waiting > 0 }) {
		clear(q.slotTime)
		q.minSlotTime = 0
	}
}

// scheduleQuick lets the owner of a ticket that ends be slow for as long again as it took.
func (q *queue) scheduleQuick(t *waiter) {
	if !t.slow {
		return
	}
	t.slow = false
	time.AfterFunc(t.slotTime, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.slowCount[t.owner]--; q.slowCount[t.owner] == 0 {
			delete(q.slowCount, t.owner)
		}
		q.grant()
	})
}

// grant calls tickets as long as there are slots for them, and has slow work give way
// where there are none.
func (q *queue) grant() {
	for len(q.running) < q.slots {
		t := q.next()
		if t == nil {
			return
		}
		t.slotSince = time.Now()
		q.minSlotTime = max(q.minSlotTime, q.slotTime[t.owner])
		q.running = append(q.running, t)
		close(t.ready)
	}
	q.preempt()
}

// next takes the ticket whose turn it is, or returns nil.
func (q *queue) next() *waiter {
	for class := numClasses - 1; class >= 0; class-- {
		if class == Background && !q.mayRunBackground(nil) {
			return nil
		}
		slow := q.count(nil, func(h *waiter) bool { return h.class >= class && q.slowCount[h.owner] > 0 })
		may := func(owner string) bool {
			own := func(h *waiter) bool { return h.class >= class && h.owner == owner }
			return q.slowCount[owner] == 0 || slow < q.sharedSlots() && q.count(nil, own) == 0
		}
		if t := q.classes[class].next(may, q.slotTime); t != nil {
			return t
		}
	}
	return nil
}

// sharedSlots is how many slots Background work may have, and slow owners: the last one is
// for the others where there is more than one.
func (q *queue) sharedSlots() int { return max(1, q.slots-1) }

// mayRunBackground reports whether Background work may have one slot more, when but has
// given its own back. One document of a quick owner always may: the quick do not wait
// because the slow have all that is shared.
func (q *queue) mayRunBackground(but *waiter) bool {
	all := q.count(but, func(h *waiter) bool { return h.class == Background })
	quick := q.count(but, func(h *waiter) bool { return h.class == Background && q.slowCount[h.owner] == 0 })
	return all < q.sharedSlots() || quick == 0
}

func (q *queue) count(but *waiter, is func(*waiter) bool) (n int) {
	for _, h := range q.running {
		if h != but && is(h) {
			n++
		}
	}
	return n
}

// preempt stops work of a slow owner when a quick one waits, one at a time.
func (q *queue) preempt() {
	if q.count(nil, func(h *waiter) bool { return h.preempted }) > 0 {
		return
	}
	for class := numClasses - 1; class >= 0; class-- {
		if !q.classes[class].hasOwner(func(owner string) bool { return q.slowCount[owner] == 0 }) {
			continue
		}
		if t := q.victim(class); t != nil {
			t.preempted = true
			t.preemptions++
			t.stop()
			return
		}
	}
}

// victim is the work that gives way to a class: every slot is held by slow owners, or
// its owner has more than one. Work of the lowest class goes first, then what has given
// way the least, then what has begun last.
func (q *queue) victim(class Class) (found *waiter) {
	slow := q.count(nil, func(h *waiter) bool { return q.slowCount[h.owner] > 0 })
	for _, h := range q.running {
		own := q.count(nil, func(o *waiter) bool { return o.owner == h.owner })
		switch {
		case q.slowCount[h.owner] == 0, h.class > class, own == 1 && slow < q.slots:
		case class == Background && !q.mayRunBackground(h): // no one would gain
		case q.slots == 1 && h.preemptions >= maxPreemptions:
		case found == nil, cmp.Or(cmp.Compare(h.class, found.class), cmp.Compare(h.preemptions, found.preemptions), found.slotSince.Compare(h.slotSince)) <= 0:
			found = h
		}
	}
	return found
}

// waiting returns how many calls wait.
func (q *queue) waiting() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.classes {
		n += q.classes[i].waiting
	}
	return n
}
