package txn

import (
	"context"
	"sync"
	"time"
)

// Activity knows whether documents are arriving, so that background work leaves the
// processors to those who wait for an answer.
type Activity struct {
	mu            sync.Mutex
	activeUploads int       // trays
	lastEnded     time.Time // when the last one was closed
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
	a.activeUploads++
}

func (a *Activity) End() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.activeUploads--
	a.lastEnded = time.Now()
}

// IdleDelay is how long to wait before looking again; 0 when nothing arrives.
func (a *Activity) IdleDelay(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.activeUploads > 0 {
		return quietPeriod
	}
	return max(0, quietPeriod-now.Sub(a.lastEnded))
}

// WaitIdle returns when nothing arrives any more, after the forbearance, or with ctx.
func (a *Activity) WaitIdle(ctx context.Context) { a.WaitIdleMax(ctx, maxYield) }

// WaitIdleMax is wait for what has less time.
func (a *Activity) WaitIdleMax(ctx context.Context, most time.Duration) {
	for end := time.Now().Add(most); ; {
		now := time.Now()
		pause := min(a.IdleDelay(now), end.Sub(now))
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

// maxPause bounds one rest, so that a slow disk does not make it endless.
const maxPause = time.Second

// Throttle lets uploads go first: while documents arrive, it rests three times as long as
// the work since its last step took.
type Throttle struct {
	Activity *Activity
	last     time.Time
}

func (p *Throttle) Pause(ctx context.Context) {
	now := time.Now()
	if !p.last.IsZero() && p.Activity.IdleDelay(now) > 0 {
		rest := time.NewTimer(min(3*now.Sub(p.last), maxPause))
		select {
		case <-ctx.Done():
			rest.Stop()
		case <-rest.C:
		}
	}
	p.last = time.Now()
}
