package secret

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/fairqueue"
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
type fairQueue struct {
	limits QueueLimits

	mu      sync.Mutex
	free    int
	running map[string]bool // owners with a running job
	waiting fairqueue.Queue[*waiter]
}

// waiter is one waiting request. ready is closed when the request may run or was evicted.
type waiter struct {
	owner   string
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
	if err != nil {
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
	t.cancel(w)
	return err
}

// enqueue adds a waiter, which is ready if the owner may run a job immediately. If the
// queue is full, it evicts a waiter of the owner with the most waiters.
func (t *fairQueue) enqueue(owner string) (*waiter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &waiter{owner: owner, ready: make(chan struct{})}
	if t.waiting.Len() >= t.limits.length() && (t.free == 0 || t.running[owner]) {
		evicted, ok := t.waiting.DropNewest(owner)
		if !ok {
			return nil, ErrBusy
		}
		evicted.evicted = true
		close(evicted.ready)
	}
	t.waiting.Add(owner, w, false)
	t.startNext()
	return w, nil
}

// cancel removes a waiter. If the waiter became ready at the same moment, cancel releases
// its slot.
func (t *fairQueue) cancel(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.waiting.Remove(w.owner, w) && !w.evicted {
		t.releaseLocked(w.owner)
	}
}

// release ends an owner's job.
func (t *fairQueue) release(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseLocked(owner)
}

func (t *fairQueue) releaseLocked(owner string) {
	delete(t.running, owner)
	t.free++
	t.startNext()
}

// startNext starts jobs of the owners that don't have a running job.
func (t *fairQueue) startNext() {
	for t.free > 0 {
		next, ok := t.waiting.Next(func(owner string) (int64, bool) { return 0, !t.running[owner] })
		if !ok {
			return
		}
		t.free--
		t.running[next.owner] = true
		close(next.ready)
	}
}
