package txn

import (
	"context"
	"sync"
	"time"
)

// Activity counts the uploads in progress, so that background work can yield the CPU to
// them.
type Activity struct {
	mu            sync.Mutex
	activeUploads int       // in progress
	lastEnded     time.Time // when the last upload ended
}

const (
	// quietPeriod is the time without uploads after which the server counts as idle. It is
	// longer than the gap between two uploads of one client.
	quietPeriod = 250 * time.Millisecond
	// maxYield limits how long one piece of background work waits for uploads, so that it
	// makes progress under a constant load.
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

// IdleDelay returns how long to wait before checking again for uploads; 0 if the server is
// idle.
func (a *Activity) IdleDelay(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.activeUploads > 0 {
		return quietPeriod
	}
	return max(0, quietPeriod-now.Sub(a.lastEnded))
}

// WaitIdle waits until the server is idle, at most maxYield or until ctx ends.
func (a *Activity) WaitIdle(ctx context.Context) { a.WaitIdleMax(ctx, maxYield) }

// WaitIdleMax waits until the server is idle, at most limit or until ctx ends.
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

// maxPause limits one pause of a Throttle, so that a slow step on a slow disk does not
// cause a long one.
const maxPause = time.Second

// Throttle slows background work down during uploads: after each step, it pauses three times
// as long as the step took.
type Throttle struct {
	Activity *Activity
	last     time.Time
}

// Pause is called after each step of the work. It returns immediately if no upload is
// active, and early if ctx ends.
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
