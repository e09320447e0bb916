package secret

import (
	"context"
	"slices"
	"sync"
	"time"
)

// QueueLimits limits the queue of password checks.
type QueueLimits struct {
	MaxLength int           // maximum number of waiting requests; 0: 512
	MaxWait   time.Duration // maximum time that a request waits; 0: 30 seconds
}

func (q QueueLimits) length() int {
	if q.MaxLength == 0 {
		return 512
	}
	return q.MaxLength
}

func (q QueueLimits) wait() time.Duration {
	if q.MaxWait == 0 {
		return 30 * time.Second
	}
	return q.MaxWait
}

// fairQueue limits the number of concurrent jobs and shares it fairly among owners. Each
// owner runs at most one job at a time, and waiting owners are served round-robin. A
// burst of requests from one owner delays each other owner by at most one job.
//
//	owners ── next one first ── each with its waiters, oldest first
type fairQueue struct {
	limits QueueLimits

	mu      sync.Mutex
	free    int
	waiting int             // total number of waiters
	running map[string]bool // owners with a running job
	owners  []*ownerQueue   // owners with waiters
}

type ownerQueue struct {
	owner   string
	waiters []*waiter
}

// waiter is one waiting request. ready is closed when the request may run or was evicted.
type waiter struct {
	ready   chan struct{}
	evicted bool
}

func newFairQueue(slots int, limits QueueLimits) *fairQueue {
	return &fairQueue{limits: limits, free: slots, running: map[string]bool{}}
}

// acquire waits until the owner may run a job. It returns a context error, or ErrBusy if
// the queue is full or the wait takes too long.
func (t *fairQueue) acquire(ctx context.Context, owner string) error {
	w, err := t.enqueue(owner)
	if err != nil || w == nil {
		return err
	}
	timeout := time.NewTimer(t.limits.wait())
	defer timeout.Stop()
	select {
	case <-w.ready:
		if w.evicted {
			return ErrBusy
		}
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timeout.C:
		err = ErrBusy
	}
	t.cancel(owner, w)
	return err
}

// enqueue adds a waiter. It returns nil if the owner may run a job immediately.
func (t *fairQueue) enqueue(owner string) (*waiter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 && !t.running[owner] {
		t.free--
		t.running[owner] = true
		return nil, nil
	}
	at := slices.IndexFunc(t.owners, func(l *ownerQueue) bool { return l.owner == owner })
	own := 0
	if at >= 0 {
		own = len(t.owners[at].waiters)
	}
	if t.waiting >= t.limits.length() && !t.evictNewest(own) {
		return nil, ErrBusy
	}
	if at < 0 {
		at = len(t.owners)
		t.owners = append(t.owners, &ownerQueue{owner: owner})
	}
	w := &waiter{ready: make(chan struct{})}
	t.owners[at].waiters = append(t.owners[at].waiters, w)
	t.waiting++
	return w, nil
}

// evictNewest makes space for a new waiter. It evicts the newest waiter of the owner with
// the most waiters, but only if that owner has more waiters than the new waiter's owner
// would have. own is the current number of the latter's waiters. It reports whether it
// evicted a waiter.
func (t *fairQueue) evictNewest(own int) bool {
	longest := slices.MaxFunc(t.owners, func(a, b *ownerQueue) int { return len(a.waiters) - len(b.waiters) })
	last := len(longest.waiters) - 1
	if last <= own {
		return false
	}
	evicted := longest.waiters[last]
	longest.waiters, evicted.evicted = longest.waiters[:last], true
	t.waiting--
	close(evicted.ready)
	return true
}

// cancel removes a waiter. If the waiter became ready at the same moment, cancel releases
// its slot.
func (t *fairQueue) cancel(owner string, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, l := range t.owners {
		if i := slices.Index(l.waiters, w); i >= 0 {
			l.waiters = slices.Delete(l.waiters, i, i+1)
			t.waiting--
			if len(l.waiters) == 0 {
				t.owners = slices.Delete(t.owners, at, at+1)
			}
			return
		}
	}
	if !w.evicted {
		t.releaseLocked(owner)
	}
}

// release ends an owner's job.
func (t *fairQueue) release(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseLocked(owner)
}

// releaseLocked frees an owner's slot and starts the next owners that don't have a
// running job.
func (t *fairQueue) releaseLocked(owner string) {
	delete(t.running, owner)
	t.free++
	for t.free > 0 {
		at := slices.IndexFunc(t.owners, func(l *ownerQueue) bool { return !t.running[l.owner] })
		if at < 0 {
			return
		}
		l := t.owners[at]
		t.owners = slices.Delete(t.owners, at, at+1)
		next := l.waiters[0]
		if l.waiters = l.waiters[1:]; len(l.waiters) > 0 {
			t.owners = append(t.owners, l)
		}
		t.free--
		t.waiting--
		t.running[l.owner] = true
		close(next.ready)
	}
}
