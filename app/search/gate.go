package search

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"deedkeep/app/errs"
)

// gate lets a few searches into the index at once, so that their memory is
// bounded whatever is asked: the others wait, those who came first go first. Nobody
// has more than half of the places, however much he asks, so there is always one for
// somebody else.
type gate struct {
	most, each int

	mu      sync.Mutex
	inside  int
	of      map[string]int // asker → his places; never 0
	waiting []*waiter
}

type waiter struct {
	asker string
	in    chan struct{} // closed when it has its place
}

func newGate(most int) *gate {
	if most <= 0 {
		most = 2 * runtime.GOMAXPROCS(0)
	}
	return &gate{most: most, each: max(1, most/2), of: make(map[string]int)}
}

// ErrMany is in the chain of the error of Enter where no place was to be had in time.
var ErrMany = errors.New("too many searches at once")

var errManySearches = &errs.Error{Kind: errs.Unavailable, Message: "Too many searches are under way; try again soon.", Err: ErrMany}

// enter waits for a place, which leave gives back. Closing when there is none before
// ctx's deadline.
func (g *gate) enter(ctx context.Context, asker string) (leave func(), err error) {
	w := &waiter{asker: asker, in: make(chan struct{})}
	leave = func() { g.leave(asker) }
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.admit()
	g.mu.Unlock()
	select {
	case <-w.in:
		return leave, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	at := slices.Index(g.waiting, w)
	if at >= 0 {
		g.waiting = slices.Delete(g.waiting, at, at+1)
	}
	g.mu.Unlock()
	if at < 0 { // it had its place in the same moment
		return leave, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err() // who asked has left
	}
	return nil, errManySearches
}

func (g *gate) leave(asker string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.of[asker]--; g.of[asker] == 0 {
		delete(g.of, asker)
	}
	g.admit()
}

// admit gives places to those who waited longest and may have one.
func (g *gate) admit() {
	g.waiting = slices.DeleteFunc(g.waiting, func(w *waiter) bool {
		if g.inside == g.most || g.of[w.asker] == g.each {
			return false
		}
		g.inside++
		g.of[w.asker]++
		close(w.in)
		return true
	})
}
