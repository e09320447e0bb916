package vault

import (
	"context"
	"sync"
	"time"
)

// arrivals knows whether documents are arriving, so that background work leaves the
// processors to those who wait for an answer.
type arrivals struct {
	mu   sync.Mutex
	open int       // trays
	last time.Time // when the last one was closed
}

const (
	// calm is how long nothing must have arrived: between two uploads of one caller
	// there is a gap, which is no end.
	calm = 250 * time.Millisecond
	// forbearance is how long one piece of background work stands back, so that it
	// goes on, slowly, while documents never stop arriving.
	forbearance = time.Second
)

func (a *arrivals) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open++
}

func (a *arrivals) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	a.last = time.Now()
}

// unrest is how long to wait before looking again; 0 when nothing arrives.
func (a *arrivals) unrest(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open > 0 {
		return calm
	}
	return max(0, calm-now.Sub(a.last))
}

// wait returns when nothing arrives any more, after the forbearance, or with ctx.
func (a *arrivals) wait(ctx context.Context) { a.waitAtMost(ctx, forbearance) }

// waitAtMost is wait for what has less time.
func (a *arrivals) waitAtMost(ctx context.Context, most time.Duration) {
	for end := time.Now().Add(most); ; {
		now := time.Now()
		pause := min(a.unrest(now), end.Sub(now))
		if pause <= 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
