package txn

import (
	"context"
	"sync"
	"time"
)

// Activity knows whether documents are arriving, so that background work leaves the
// processors to those who wait for an answer.
type Activity struct {
	mu      sync.Mutex
	uploads int       // trays
	last    time.Time // when the last one was closed
}

const (
	// quietPeriod is how long nothing must have arrived: between two uploads of one caller
	// there is a gap, which is no end.
	quietPeriod = 250 * time.Millisecond
	// maxYield is how long one piece of background work stands back, so that it
	// goes on, slowly, while documents never stop arriving.
	maxYield = time.Second
)

func (a *Activity) Begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.uploads++
}

func (a *Activity) End() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.uploads--
	a.last = time.Now()
}

// Busy is how long to wait before looking again; 0 when nothing arrives.
func (a *Activity) Busy(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.uploads > 0 {
		return quietPeriod
	}
	return max(0, quietPeriod-now.Sub(a.last))
}

// Wait returns when nothing arrives any more, after the forbearance, or with ctx.
func (a *Activity) Wait(ctx context.Context) { a.WaitMax(ctx, maxYield) }

// WaitMax is wait for what has less time.
func (a *Activity) WaitMax(ctx context.Context, most time.Duration) {
	for end := time.Now().Add(most); ; {
		now := time.Now()
		pause := min(a.Busy(now), end.Sub(now))
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

// longestRest bounds one rest, so that a slow disk does not make it endless.
const longestRest = time.Second

// Pace lets uploads go first: while documents arrive, it rests three times as long as
// the work since its last step took.
type Pace struct {
	Activity *Activity
	last     time.Time
}

func (p *Pace) Step(ctx context.Context) {
	now := time.Now()
	if !p.last.IsZero() && p.Activity.Busy(now) > 0 {
		rest := time.NewTimer(min(3*now.Sub(p.last), longestRest))
		select {
		case <-ctx.Done():
			rest.Stop()
		case <-rest.C:
		}
	}
	p.last = time.Now()
}
