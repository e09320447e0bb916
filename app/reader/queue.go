package reader

import (
	"container/list"
	"context"
	"errors"
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

// queue hands out the slots of a pool, one for each child. Within a class the
// owners take turns, so that one owner's hundred documents cost another's one
// the time of one. Background work holds all slots only where there is but one,
// and so does an owner with a name whose documents have proved slow, for as long
// as he has any here.
//
//	class ── ring of owners, the next first ── each with its documents, the oldest first
type queue struct {
	mu         sync.Mutex
	slots      int
	free       int
	background int // slots that Background work may still take
	most       int // waiting tickets of one class
	lanes      [classes]lane
	held       map[string]int  // slots by owner
	slow       map[string]bool // owners
}

// slowWork is how long a document takes at least that makes its owner slow.
const slowWork = 500 * time.Millisecond

func newQueue(slots, most int) *queue {
	q := &queue{
		slots: slots, free: slots, background: max(1, slots-1), most: most,
		held: make(map[string]int), slow: make(map[string]bool),
	}
	for i := range q.lanes {
		q.lanes[i] = lane{ring: list.New(), byOwner: make(map[string]*list.Element)}
	}
	return q
}

// acquire waits for a slot. It returns ctx's error, or ErrBusy when the class is
// full and the owner has no claim to the place of another.
func (q *queue) acquire(ctx context.Context, class Class, owner string) error {
	t, err := q.enter(class, owner)
	if err != nil {
		return err
	}
	select {
	case <-t.called:
		return t.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-t.called: // both at once
		if t.err == nil {
			q.giveBack(class, owner)
		}
	default:
		q.lanes[class].remove(t)
		q.forget(owner)
	}
	return ctx.Err()
}

func (q *queue) enter(class Class, owner string) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.lanes[class]
	t := &ticket{class: class, owner: owner, called: make(chan struct{})}
	if l.waiting >= q.most && !l.makeRoom(owner) {
		return nil, ErrBusy
	}
	l.add(t)
	q.grant()
	return t, nil
}

// release gives a slot back that was held for so long.
func (q *queue) release(class Class, owner string, took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if took >= slowWork && owner != "" {
		q.slow[owner] = true
	}
	q.giveBack(class, owner)
}

func (q *queue) giveBack(class Class, owner string) {
	q.free++
	if class == Background {
		q.background++
	}
	if q.held[owner]--; q.held[owner] == 0 {
		delete(q.held, owner)
	}
	q.forget(owner)
	q.grant()
}

// forget drops what is remembered of an owner who has nothing here any more.
func (q *queue) forget(owner string) {
	for i := range q.lanes {
		if q.lanes[i].byOwner[owner] != nil {
			return
		}
	}
	if q.held[owner] == 0 {
		delete(q.slow, owner)
	}
}

// may reports whether an owner may hold one slot more.
func (q *queue) may(owner string) bool {
	return q.slots == 1 || !q.slow[owner] || q.held[owner] < q.slots-1
}

// grant calls tickets as long as there are slots for them.
func (q *queue) grant() {
	for q.free > 0 {
		t := q.next()
		if t == nil {
			return
		}
		q.free--
		q.held[t.owner]++
		if t.class == Background {
			q.background--
		}
		close(t.called)
	}
}

// next takes the ticket whose turn it is, or returns nil.
func (q *queue) next() *ticket {
	for class := classes - 1; class >= 0; class-- {
		if class == Background && q.background == 0 {
			return nil
		}
		if t := q.lanes[class].next(q.may); t != nil {
			return t
		}
	}
	return nil
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
