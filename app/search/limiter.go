package search

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"deedkeep/app/errs"
)

// limiter lets a few searches into the index at once, so that their memory is
// bounded whatever is asked: the others wait, those who came first go first. Nobody
// has more than half of the places, however much he asks, so there is always one for
// somebody else.
type limiter struct {
	max, maxPerClient int

	mu        sync.Mutex
	active    int
	perClient map[string]int // asker → his places; never 0
	queue     []*waiter
}

type waiter struct {
	client   string
	admitted chan struct{} // closed when it has its place
}

func newLimiter(most int) *limiter {
	if most <= 0 {
		most = 2 * runtime.GOMAXPROCS(0)
	}
	return &limiter{max: most, maxPerClient: max(1, most/2), perClient: make(map[string]int)}
}

// ErrTooManySearches is in the chain of the error of Enter where no place was to be had in time.
var ErrTooManySearches = errors.New("too many searches at once")

var errTooMany = &errs.Error{Kind: errs.Unavailable, Message: "Too many searches are under way; try again soon.", Err: ErrTooManySearches}

// acquire waits for a place, which leave gives back. Closing when there is none before
// ctx's deadline.
func (g *limiter) acquire(ctx context.Context, asker string) (leave func(), err error) {
	w := &waiter{client: asker, admitted: make(chan struct{})}
	leave = func() { g.release(asker) }
	g.mu.Lock()
	g.queue = append(g.queue, w)
	g.admit()
	g.mu.Unlock()
	select {
	case <-w.admitted:
		return leave, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	at := slices.Index(g.queue, w)
	if at >= 0 {
		g.queue = slices.Delete(g.queue, at, at+1)
	}
	g.mu.Unlock()
	if at < 0 { // it had its place in the same moment
		return leave, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err() // who asked has left
	}
	return nil, errTooMany
}

func (g *limiter) release(asker string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	if g.perClient[asker]--; g.perClient[asker] == 0 {
		delete(g.perClient, asker)
	}
	g.admit()
}

// admit gives places to those who waited longest and may have one.
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
