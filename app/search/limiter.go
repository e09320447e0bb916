package search

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"deedkeep/app/errs"
)

// limiter limits the number of concurrent searches, which also limits their memory use. Excess searches
// wait in order of arrival. No client gets more than half of the slots, so at least one is always left
// for other clients.
type limiter struct {
	slots chan struct{} // contains a value for each running search

	mu      sync.Mutex
	clients map[string]*clientSlots // of the clients that search or wait
}

type clientSlots struct {
	slots    chan struct{} // contains a value for each running search, and for the next one that waits for limiter.slots
	searches int           // running or waiting
}

func newLimiter(maxConcurrent int) *limiter {
	if maxConcurrent <= 0 {
		maxConcurrent = 2 * runtime.GOMAXPROCS(0)
	}
	return &limiter{slots: make(chan struct{}, maxConcurrent), clients: make(map[string]*clientSlots)}
}

// ErrTooManySearches is in the chain of the error that Acquire returns if no slot became free in time.
var ErrTooManySearches = errors.New("too many searches at the same time")

var errTooMany = errs.NotNow(errs.Busy, "Too many searches are running. Try again soon.", ErrTooManySearches)

// acquire waits for a slot. The caller must call release. acquire returns Unavailable if the deadline
// of ctx passes first.
func (l *limiter) acquire(ctx context.Context, client string) (release func(), err error) {
	l.mu.Lock()
	c := l.clients[client]
	if c == nil {
		c = &clientSlots{slots: make(chan struct{}, max(1, cap(l.slots)/2))}
		l.clients[client] = c
	}
	c.searches++
	l.mu.Unlock()
	var acquired []chan struct{}
	release = func() {
		for _, slots := range acquired {
			<-slots
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.searches--; c.searches == 0 {
			delete(l.clients, client)
		}
	}
	for _, slots := range []chan struct{}{c.slots, l.slots} {
		select {
		case slots <- struct{}{}: // a free slot is taken even if the deadline has passed
			acquired = append(acquired, slots)
			continue
		default:
		}
		select {
		case slots <- struct{}{}:
			acquired = append(acquired, slots)
			continue
		case <-ctx.Done():
		}
		release()
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err() // the client disconnected
		}
		return nil, errTooMany
	}
	return release, nil
}
