package stats

import (
	"maps"
	"math"
	"sync"
	"time"
)

// RateLimiter limits the number of events per name in fixed windows of one minute. It is safe
// for concurrent use. Package golang.org/x/time/rate has no windows, so it can't report how many
// events are left.
type RateLimiter struct {
	limit int
	now   func() time.Time

	mu        sync.Mutex
	windows   map[string]rateWindow
	lastSweep time.Time
}

type rateWindow struct {
	since time.Time
	count int
}

// current reports whether the window includes now. A window in the future started before the
// clock was set back.
func (w rateWindow) current(now time.Time) bool {
	passed := now.Sub(w.since)
	return passed >= 0 && passed < time.Minute
}

// maxWindows limits the memory of a RateLimiter. When it is reached, expired windows are
// dropped. If there are still too many, all windows are dropped.
const maxWindows = 10_000

// NewRateLimiter returns a RateLimiter that allows limit events per minute and name. If limit
// is 0, it allows all events.
func NewRateLimiter(limit int, now func() time.Time) *RateLimiter {
	return &RateLimiter{limit: limit, now: now, windows: map[string]rateWindow{}}
}

// Limit returns the maximum number of events per minute, or 0.
func (l *RateLimiter) Limit() int { return l.limit }

// Allow counts one event for name and reports whether it is within the limit. It returns
// the number of events left in the window, or the number of seconds until a retry may
// succeed.
func (l *RateLimiter) Allow(name string) (left, retryAfter int, ok bool) {
	if l.limit <= 0 {
		return 0, 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.sweep(now)
	window := l.windows[name]
	if !window.current(now) {
		window = rateWindow{since: now}
	}
	if window.count >= l.limit {
		wait := window.since.Add(time.Minute).Sub(now)
		return 0, max(1, int(math.Ceil(wait.Seconds()))), false
	}
	window.count++
	l.windows[name] = window
	return l.limit - window.count, 0, true
}

// Reached reports whether the next event for name would exceed the limit.
func (l *RateLimiter) Reached(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	window := l.windows[name]
	return window.count >= l.limit && window.current(l.now())
}

// sweep drops expired windows. It runs at most once a minute unless there are maxWindows
// windows.
func (l *RateLimiter) sweep(now time.Time) {
	if (rateWindow{since: l.lastSweep}).current(now) && len(l.windows) < maxWindows {
		return
	}
	l.lastSweep = now
	maps.DeleteFunc(l.windows, func(_ string, window rateWindow) bool { return !window.current(now) })
	if len(l.windows) >= maxWindows {
		clear(l.windows)
	}
}
