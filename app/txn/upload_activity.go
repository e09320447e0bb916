package txn

import (
	"context"
	"sync"
	"time"
)

// Activity counts the uploads in progress so that background work can leave the CPU to
// them.
type Activity struct {
	mu            sync.Mutex
	activeUploads int       // number of uploads in progress
	lastEnded     time.Time // when the last upload ended
}

const (
	// quietPeriod is the time after the last upload until the server counts as idle. It is
	// longer than the time between two uploads of the same client.
	quietPeriod = 250 * time.Millisecond
	// maxYield is the maximum time that one piece of background work waits for uploads. It
	// ensures that background work makes progress under constant load.
	maxYield = time.Second
)

// Begin records the start of an upload.
func (a *Activity) Begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.activeUploads++
}

// End records the end of an upload.
func (a *Activity) End() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.activeUploads--
	a.lastEnded = time.Now()
}

// IdleDelay returns 0 if the server is idle. Otherwise, it returns how long to wait before
// calling it again.
func (a *Activity) IdleDelay(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.activeUploads > 0 {
		return quietPeriod
	}
	return max(0, quietPeriod-now.Sub(a.lastEnded))
}

// WaitIdle waits until the server is idle, ctx ends, or maxYield has passed.
func (a *Activity) WaitIdle(ctx context.Context) { a.WaitIdleMax(ctx, maxYield) }

// WaitIdleMax waits until the server is idle, ctx ends, or limit has passed.
func (a *Activity) WaitIdleMax(ctx context.Context, limit time.Duration) {
	for end := time.Now().Add(limit); ; {
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

// maxPause is the maximum duration of one pause of a Throttle. Without it, a slow step on a
// slow disk would cause a very long pause.
const maxPause = time.Second

// Throttle slows down background work during uploads. After each step, it pauses three
// times as long as the step took.
type Throttle struct {
	Activity *Activity
	last     time.Time
}

// Pause must be called after each step of the work. It returns immediately if there are no
// uploads, and early if ctx ends.
func (t *Throttle) Pause(ctx context.Context) {
	now := time.Now()
	if !t.last.IsZero() && t.Activity.IdleDelay(now) > 0 {
		timer := time.NewTimer(min(3*now.Sub(t.last), maxPause))
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
	t.last = time.Now()
}
