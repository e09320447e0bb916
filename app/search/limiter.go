package search

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"deedkeep/app/errs"
)

// limiter limits the number of concurrent searches, which also limits their memory use. Excess searches
// wait in order of arrival. No client gets more than half of the slots, so at least one is always left
// for other clients.
type limiter struct {
	max, maxPerClient int

	mu        sync.Mutex
	active    int
	perClient map[string]int // number of slots in use by each client; entries of 0 are deleted
	queue     []*waiter
}

type waiter struct {
	client   string
	admitted chan struct{} // closed when the client gets a slot
}

func newLimiter(maxConcurrent int) *limiter {
	if maxConcurrent <= 0 {
		maxConcurrent = 2 * runtime.GOMAXPROCS(0)
	}
	return &limiter{max: maxConcurrent, maxPerClient: max(1, maxConcurrent/2), perClient: make(map[string]int)}
}

// ErrTooManySearches is in the chain of the error that Acquire returns if no slot became free in time.
var ErrTooManySearches = errors.New("too many searches at once")

var errTooMany = &errs.Error{Kind: errs.Unavailable, Message: "Too many searches are under way; try again soon.", Err: ErrTooManySearches}

// acquire waits for a slot. The caller must call release. acquire returns Unavailable if the deadline
// of ctx passes first.
func (g *limiter) acquire(ctx context.Context, client string) (release func(), err error) {
	w := &waiter{client: client, admitted: make(chan struct{})}
	release = func() { g.release(client) }
	g.mu.Lock()
	g.queue = append(g.queue, w)
	g.admit()
	g.mu.Unlock()
	select {
	case <-w.admitted:
		return release, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.queue, w)
	if i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	}
	g.mu.Unlock()
	if i < 0 { // the client was admitted at the same time
		return release, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err() // the client disconnected
	}
	return nil, errTooMany
}

func (g *limiter) release(client string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	if g.perClient[client]--; g.perClient[client] == 0 {
		delete(g.perClient, client)
	}
	g.admit()
}

// admit assigns free slots to waiting clients in order of arrival. It skips clients that have reached
// their limit.
func (g *limiter) admit() {
	g.queue = slices.DeleteFunc(g.queue, func(w *waiter) bool {
		if g.active == g.max || g.perClient[w.client] == g.maxPerClient {
			return false
		}
		g.active++
		g.perClient[w.client]++
		close(w.admitted)
		return true
	})
}
