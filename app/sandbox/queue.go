package sandbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"deedkeep/app/fairqueue"
)

// ErrBusy reports that the queue is full. The document is not to blame. The same call may succeed
// later.
var ErrBusy = errors.New("too many documents are queued for processing")

// Class is the priority of work. The zero value is the lowest priority.
type Class int

// The classes, lowest first. Work of a higher class goes before work of a lower one.
const (
	Background Class = iota // processing that no user is waiting for
	View                    // a user is waiting to see a page
	Upload                  // inspection that a user is waiting for to complete an upload
	numClasses
)

// queue assigns the slots of a pool, one per worker. Within a class, the owner that has used the
// least slot time goes first (slotTime, minSlotTime). An owner becomes slow when one of its
// documents has been running for slowAfter. After that document ends, the owner stays slow for as
// long as the document took. Within a class and those above it, a slow owner gets at most one slot.
// If there are several slots, slow owners never get the last one.
//
// The queue finds out that work is slow only while it runs. By then, slow work may hold every slot.
// When a quick owner waits, slow work beyond these limits is preempted if its class is the same or
// lower: it is stopped and put at the front of its owner's queue. A quick owner therefore waits for
// slow work of the same class for at most slowAfter plus the time to start a worker. If there is
// only one slot, work is preempted up to maxPreemptions times and then completes. Work without an
// owner is never slow.
//
//	class -> list of owners -> each with its documents, the oldest first
type queue struct {
	mu          sync.Mutex
	slots       int
	maxWaiting  int // per class
	classes     [numClasses]fairqueue.Queue[*waiter]
	running     []*waiter
	slotTime    map[string]time.Duration // per owner, since the queue was last empty
	minSlotTime time.Duration            // slotTime of the last owner that got a slot; new owners start with this value
	slowCount   map[string]int           // per owner, the number of documents that make it slow
}

const (
	// slowAfter is how long a document may run before its owner counts as slow.
	slowAfter = 500 * time.Millisecond
	// maxPreemptions is how often one document can be preempted if there is only one slot. It
	// ensures that the document completes eventually.
	maxPreemptions = 3
)

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

func newQueue(slots, maxWaiting int) *queue {
	return &queue{slots: slots, maxWaiting: maxWaiting, slotTime: make(map[string]time.Duration), slowCount: make(map[string]int)}
}

// acquire waits for a slot. It returns ctx's error if ctx is canceled, or ErrBusy if the queue of
// the class is full and another owner's call isn't dropped instead. The queue calls t.stop to
// preempt the work. If acquire returns nil, the caller must release the slot.
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
		q.releaseLocked(t, false) // the slot was granted at the moment when ctx was canceled
	default:
		q.classes[t.class].Remove(t.owner, t)
		q.scheduleQuick(t)
	}
	return ctx.Err()
}

func (q *queue) enqueue(t *waiter) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.classes[t.class]
	t.ready = make(chan struct{})
	if t.preemptions == 0 && l.Len() >= q.maxWaiting {
		dropped, ok := l.DropNewest(t.owner)
		if !ok {
			return ErrBusy
		}
		dropped.err = ErrBusy
		close(dropped.ready)
	}
	q.slotTime[t.owner] = max(q.slotTime[t.owner], q.minSlotTime)
	l.Add(t.owner, t, t.preemptions > 0)
	q.grant()
	return nil
}

// started records when a worker first got the document, so that slow documents can be detected.
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

// markIfSlow marks the document and its owner as slow if the document has run for slowAfter.
func (q *queue) markIfSlow(t *waiter) {
	if t.slowTimer != nil && !t.slow && time.Since(t.startedAt) >= slowAfter {
		t.slow = true
		q.slowCount[t.owner]++
	}
}

// release frees the slot. stopped reports that t.stop stopped the work. If again is true, the work
// was preempted, and t must acquire a slot again.
func (q *queue) release(t *waiter, stopped bool) (again bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	again = stopped && t.preempted
	q.releaseLocked(t, again)
	return again
}

// releaseLocked frees the slot. If again is false, the call is complete.
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
	if len(q.running) == 0 && !slices.ContainsFunc(q.classes[:], func(l fairqueue.Queue[*waiter]) bool { return l.Len() > 0 }) {
		clear(q.slotTime)
		q.minSlotTime = 0
	}
}

// scheduleQuick makes the owner of a completed slow document quick again. The delay is the time
// that the document took.
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

// grant assigns free slots to waiters. If all slots are in use, it preempts slow work.
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

// next removes and returns the waiter that gets the next slot. It returns nil if no waiter may have
// one.
func (q *queue) next() *waiter {
	for class := numClasses - 1; class >= 0; class-- {
		if class == Background && !q.mayRunBackground(nil) {
			return nil
		}
		slow := q.count(nil, func(h *waiter) bool { return h.class >= class && q.slowCount[h.owner] > 0 })
		cost := func(owner string) (int64, bool) {
			own := func(h *waiter) bool { return h.class >= class && h.owner == owner }
			return int64(q.slotTime[owner]), q.slowCount[owner] == 0 || slow < q.sharedSlots() && q.count(nil, own) == 0
		}
		if t, ok := q.classes[class].Next(cost); ok {
			return t
		}
	}
	return nil
}

// sharedSlots is the number of slots that Background work may use, and also the number that slow
// owners may use. If there are several slots, it leaves one free.
func (q *queue) sharedSlots() int { return max(1, q.slots-1) }

// mayRunBackground reports whether Background work may get another slot. It does not count the slot
// of except. One document of a quick owner is always allowed, so that quick owners don't wait for
// slow ones.
func (q *queue) mayRunBackground(except *waiter) bool {
	all := q.count(except, func(h *waiter) bool { return h.class == Background })
	quick := q.count(except, func(h *waiter) bool { return h.class == Background && q.slowCount[h.owner] == 0 })
	return all < q.sharedSlots() || quick == 0
}

func (q *queue) count(except *waiter, is func(*waiter) bool) (n int) {
	for _, h := range q.running {
		if h != except && is(h) {
			n++
		}
	}
	return n
}

// preempt stops the work of a slow owner if a quick owner is waiting. It stops only one document at
// a time.
func (q *queue) preempt() {
	if q.count(nil, func(h *waiter) bool { return h.preempted }) > 0 {
		return
	}
	for class := numClasses - 1; class >= 0; class-- {
		if !q.classes[class].HasOwner(func(owner string) bool { return q.slowCount[owner] == 0 }) {
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

// victim returns the work to preempt for a waiter of the given class, or nil. It considers slow
// owners that hold more than one slot. If slow owners hold all slots, it considers all of them. It
// chooses the lowest class, then the least preempted work, then the work that got its slot last.
func (q *queue) victim(class Class) (found *waiter) {
	slow := q.count(nil, func(h *waiter) bool { return q.slowCount[h.owner] > 0 })
	for _, h := range q.running {
		own := q.count(nil, func(o *waiter) bool { return o.owner == h.owner })
		switch {
		case q.slowCount[h.owner] == 0, h.class > class, own == 1 && slow < q.slots:
		case class == Background && !q.mayRunBackground(h): // the waiter could not use the slot
		case q.slots == 1 && h.preemptions >= maxPreemptions:
		case found == nil, cmp.Or(cmp.Compare(h.class, found.class), cmp.Compare(h.preemptions, found.preemptions),
			found.slotSince.Compare(h.slotSince)) <= 0:
			found = h
		}
	}
	return found
}

// waiting returns the number of waiting calls.
func (q *queue) waiting() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.classes {
		n += q.classes[i].Len()
	}
	return n
}
