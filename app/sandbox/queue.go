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
	classes
)

// queue hands out the slots of a pool, one for each child. Within a class, the owner
// who has had the least time goes first (used, level). An owner is slow from when one
// of the documents has had a child for slowWork, until as much time has passed after
// its end as it took. In a class and those above it, a slow owner gets one slot at
// most, and all slow owners together never get the last one where there is more than
// one.
//
// What is slow is known only after a while, and may hold every slot by then. When a
// quick owner waits, slow work above that measure, of the same class or a lower one, is
// stopped and waits again at the head of its owner's line. So a quick owner waits for
// slow ones of the same class no longer than slowWork and the start of a child. Where
// there is only one slot, work is stopped mostYields times and then completes. Work
// without an owner is never slow.
//
//	class ── ring of owners ── each with its documents, the oldest first
type queue struct {
	mu      sync.Mutex
	slots   int
	most    int // waiting tickets of one class
	lanes   [classes]lane
	holders []*ticket
	used    map[string]time.Duration // time that owners have had slots, since the queue was last empty
	level   time.Duration            // what the owner had used who got the last slot; new owners begin with it
	slow    map[string]int           // owners, and how many of their documents make them slow
}

const (
	// slowWork is how long a document takes at least that makes its owner slow.
	slowWork = 500 * time.Millisecond
	// mostYields is how often the work on one document is stopped for others where
	// there is no second slot, so that it completes however many they are.
	mostYields = 3
)

func newQueue(slots, most int) *queue {
	q := &queue{slots: slots, most: most, used: make(map[string]time.Duration), slow: make(map[string]int)}
	for i := range q.lanes {
		q.lanes[i] = lane{ring: list.New(), byOwner: make(map[string]*list.Element)}
	}
	return q
}

// acquire waits for a slot. It returns ctx's error, or ErrBusy when the class is
// full and the owner has no claim to the place of another. The work with the slot
// ends soon after t.stop is called; the slot is given back by release.
func (q *queue) acquire(ctx context.Context, t *ticket) error {
	if err := q.enter(t); err != nil {
		return err
	}
	select {
	case <-t.called:
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-t.called:
		switch {
		case t.err != nil:
			q.settle(t)
			return t.err
		case ctx.Err() == nil:
			return nil
		}
		q.giveBack(t, false) // both at the same time
	default:
		q.lanes[t.class].remove(t)
		q.settle(t)
	}
	return ctx.Err()
}

func (q *queue) enter(t *ticket) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.lanes[t.class]
	t.called = make(chan struct{})
	if t.yields == 0 && l.waiting >= q.most && !l.makeRoom(t.owner) {
		return ErrBusy
	}
	q.used[t.owner] = max(q.used[t.owner], q.level)
	l.add(t)
	q.grant()
	return nil
}

// begin says that a child has the document: its time counts from now on.
func (q *queue) begin(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.timer != nil || t.owner == "" {
		return
	}
	t.began = time.Now()
	t.timer = time.AfterFunc(slowWork, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.judge(t)
		q.grant()
	})
}

// judge makes the owner slow when the document has proved to be.
func (q *queue) judge(t *ticket) {
	if t.timer != nil && !t.late && time.Since(t.began) >= slowWork {
		t.late = true
		q.slow[t.owner]++
	}
}

// release gives a slot back. stopped says that the work did not come to its end because
// of t.stop; where that was for others, the ticket waits again.
func (q *queue) release(t *ticket, stopped bool) (again bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	again = stopped && t.yielding
	q.giveBack(t, again)
	return again
}

// giveBack ends the turn of a ticket, and the ticket unless it waits again.
func (q *queue) giveBack(t *ticket, again bool) {
	q.judge(t)
	took := time.Since(t.since)
	q.holders = slices.DeleteFunc(q.holders, func(h *ticket) bool { return h == t })
	q.used[t.owner] += took
	t.took += took
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer, t.yielding = nil, false
	if !again {
		q.settle(t)
	}
	q.grant()
	if len(q.holders) == 0 && !slices.ContainsFunc(q.lanes[:], func(l lane) bool { return l.waiting > 0 }) {
		clear(q.used)
		q.level = 0
	}
}

// settle lets the owner of a ticket that ends be slow for as long again as it took.
func (q *queue) settle(t *ticket) {
	if !t.late {
		return
	}
	t.late = false
	time.AfterFunc(t.took, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.slow[t.owner]--; q.slow[t.owner] == 0 {
			delete(q.slow, t.owner)
		}
		q.grant()
	})
}

// grant calls tickets as long as there are slots for them, and has slow work give way
// where there are none.
func (q *queue) grant() {
	for len(q.holders) < q.slots {
		t := q.next()
		if t == nil {
			return
		}
		t.since = time.Now()
		q.level = max(q.level, q.used[t.owner])
		q.holders = append(q.holders, t)
		close(t.called)
	}
	q.makeWay()
}

// next takes the ticket whose turn it is, or returns nil.
func (q *queue) next() *ticket {
	for class := classes - 1; class >= 0; class-- {
		if class == Background && !q.background(nil) {
			return nil
		}
		slow := q.count(nil, func(h *ticket) bool { return h.class >= class && q.slow[h.owner] > 0 })
		may := func(owner string) bool {
			own := func(h *ticket) bool { return h.class >= class && h.owner == owner }
			return q.slow[owner] == 0 || slow < q.shared() && q.count(nil, own) == 0
		}
		if t := q.lanes[class].next(may, q.used); t != nil {
			return t
		}
	}
	return nil
}

// shared is how many slots Background work may have, and slow owners: the last one is
// for the others where there is more than one.
func (q *queue) shared() int { return max(1, q.slots-1) }

// background reports whether Background work may have one slot more, when but has
// given its own back. One document of a quick owner always may: the quick do not wait
// because the slow have all that is shared.
func (q *queue) background(but *ticket) bool {
	all := q.count(but, func(h *ticket) bool { return h.class == Background })
	quick := q.count(but, func(h *ticket) bool { return h.class == Background && q.slow[h.owner] == 0 })
	return all < q.shared() || quick == 0
}

func (q *queue) count(but *ticket, is func(*ticket) bool) (n int) {
	for _, h := range q.holders {
		if h != but && is(h) {
			n++
		}
	}
	return n
}

// makeWay stops work of a slow owner when a quick one waits, one at a time.
func (q *queue) makeWay() {
	if q.count(nil, func(h *ticket) bool { return h.yielding }) > 0 {
		return
	}
	for class := classes - 1; class >= 0; class-- {
		if !q.lanes[class].has(func(owner string) bool { return q.slow[owner] == 0 }) {
			continue
		}
		if t := q.excess(class); t != nil {
			t.yielding = true
			t.yields++
			t.stop()
			return
		}
	}
}

// excess is the work that gives way to a class: every slot is held by slow owners, or
// its owner has more than one. Work of the lowest class goes first, then what has given
// way the least, then what has begun last.
func (q *queue) excess(class Class) (found *ticket) {
	slow := q.count(nil, func(h *ticket) bool { return q.slow[h.owner] > 0 })
	for _, h := range q.holders {
		own := q.count(nil, func(o *ticket) bool { return o.owner == h.owner })
		switch {
		case q.slow[h.owner] == 0, h.class > class, own == 1 && slow < q.slots:
		case class == Background && !q.background(h): // no one would gain
		case q.slots == 1 && h.yields >= mostYields:
		case found == nil, cmp.Or(cmp.Compare(h.class, found.class), cmp.Compare(h.yields, found.yields), found.since.Compare(h.since)) <= 0:
			found = h
		}
	}
	return found
}

// waiting returns how many calls wait.
func (q *queue) waiting() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.lanes {
		n += q.lanes[i].waiting
	}
	return n
}
