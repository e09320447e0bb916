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
	MaxWait   time.Duration // maximum time that a request waits; 0: 10 seconds
}

func (q QueueLimits) length() int {
	if q.MaxLength == 0 {
		return 512
	}
	return q.MaxLength
}

func (q QueueLimits) wait() time.Duration {
	if q.MaxWait == 0 {
		return 10 * time.Second
	}
	return q.MaxWait
}

// Requester is who waits for a password to be hashed.
type Requester struct {
	Owner string // shares its turns; for a sign-in, the client's network
	Known bool   // goes before requesters that aren't known; must not depend on the username
}

// fairQueue limits the number of concurrent jobs and shares it fairly among owners. Each
// owner runs at most one job at a time.
//
// Known requesters go first. Three of their jobs in a row are followed by a job of another
// requester, if one is waiting. Within each of the two groups, the owner with the fewest
// jobs since the queue was last idle goes first. A flood from many addresses therefore
// doesn't delay known requesters, and delays a new owner by at most one job of each address.
//
// A request that would have to wait longer than MaxWait is rejected immediately, or evicts a
// request of an owner that has used more.
type fairQueue struct {
	limits QueueLimits
	slots  int

	mu            sync.Mutex
	free          int
	running       map[string]bool // owners with a running job
	known, others fairqueue.Queue[*waiter]
	knownInRow    int            // jobs of known requesters since the last other job
	jobs          map[string]int // jobs of each owner since the queue was last idle
	average       time.Duration  // moving average of the duration of a job; 0 before the first
}

const (
	maxKnownInRow  = 3
	maxQueueOwners = 20_000 // maximum length of jobs; above it, all owners start over
)

// waiter is one waiting request. ready is closed when the request may run or was evicted.
type waiter struct {
	Requester
	ready   chan struct{}
	evicted bool
}

func newFairQueue(slots int, limits QueueLimits) *fairQueue {
	return &fairQueue{limits: limits, slots: slots, free: slots, running: map[string]bool{}, jobs: map[string]int{}}
}

// acquire waits until the requester may run a job. It returns a context error, or ErrBusy if
// the queue is full or the wait takes too long.
func (f *fairQueue) acquire(ctx context.Context, from Requester) error {
	w, err := f.enqueue(from)
	if err != nil {
		return err
	}
	timeout := time.NewTimer(f.limits.wait())
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
	f.cancel(w)
	return err
}

// enqueue adds a waiter, which is ready if the requester may run a job immediately. If the
// queue is full, it evicts a waiter that is not known, or else one of the owner that has
// used the queue most.
func (f *fairQueue) enqueue(from Requester) (*waiter, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := &waiter{Requester: from, ready: make(chan struct{})}
	if f.isFull(w) && (f.free == 0 || f.running[from.Owner]) {
		evicted, ok := f.evict(w)
		if !ok {
			return nil, ErrBusy
		}
		evicted.evicted = true
		close(evicted.ready)
	}
	f.queue(w).Add(from.Owner, w, false)
	f.startNext()
	return w, nil
}

// queue returns the queue of the waiter's group.
func (f *fairQueue) queue(w *waiter) *fairqueue.Queue[*waiter] {
	if w.Known {
		return &f.known
	}
	return &f.others
}

// isFull reports whether there is no place for another waiter. Those that are not known may
// only be as many as the server can serve within MaxWait.
func (f *fairQueue) isFull(w *waiter) bool {
	waiting := f.known.Len() + f.others.Len()
	if waiting >= f.limits.length() {
		return true
	}
	return !w.Known && f.average > 0 && f.others.Len() >= max(1, int(f.limits.wait()/f.average)*f.slots)
}

// evict removes a waiter to make room for w. ok is false if w doesn't go before any
// of the others.
func (f *fairQueue) evict(w *waiter) (evicted *waiter, ok bool) {
	used := func(owner string) int { return f.jobs[owner] }
	if w.Known {
		if evicted, ok = f.others.DropHeaviest(0, used); ok {
			return evicted, true
		}
	}
	q := f.queue(w)
	return q.DropHeaviest(q.Items(w.Owner)+used(w.Owner)+1, used)
}

// cancel removes a waiter. If the waiter became ready at the same moment, cancel releases
// its slot.
func (f *fairQueue) cancel(w *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.queue(w).Remove(w.Owner, w) && !w.evicted {
		f.releaseLocked(w.Owner)
	}
}

// release ends an owner's job, which took the given time.
func (f *fairQueue) release(owner string, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.average == 0 {
		f.average = took
	}
	f.average += (took - f.average) / 8
	f.releaseLocked(owner)
}

func (f *fairQueue) releaseLocked(owner string) {
	delete(f.running, owner)
	f.free++
	f.startNext()
	if len(f.jobs) > maxQueueOwners || f.isIdle() {
		clear(f.jobs)
	}
}

// idle reports whether no job runs or waits.
func (f *fairQueue) idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isIdle()
}

func (f *fairQueue) isIdle() bool { return f.free == f.slots && f.known.Len()+f.others.Len() == 0 }

// startNext starts jobs of the owners that don't have a running job.
func (f *fairQueue) startNext() {
	cost := func(owner string) (int64, bool) { return int64(f.jobs[owner]), !f.running[owner] }
	for f.free > 0 {
		first, second := &f.known, &f.others
		if f.knownInRow >= maxKnownInRow {
			first, second = second, first
		}
		next, ok := first.Next(cost)
		if !ok {
			next, ok = second.Next(cost)
		}
		if !ok {
			return
		}
		if f.knownInRow++; !next.Known {
			f.knownInRow = 0
		}
		f.free--
		f.running[next.Owner] = true
		f.jobs[next.Owner]++
		close(next.ready)
	}
}
