package api

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// rateLimiter limits the number of events per name in fixed windows of one minute. If limit
// is 0, there is no limit.
type rateLimiter struct {
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

// maxWindows limits the memory of a rateLimiter. When it is reached, expired windows are
// dropped. If there are still too many, all windows are dropped.
const maxWindows = 10_000

func newRateLimiter(limit int, now func() time.Time) *rateLimiter {
	return &rateLimiter{limit: limit, now: now, windows: map[string]rateWindow{}}
}

// allow counts one event for name and reports whether it is within the limit. It returns
// the number of events left in the window, or the number of seconds until a retry may
// succeed.
func (l *rateLimiter) allow(name string) (left, retryAfter int, ok bool) {
	if l.limit <= 0 {
		return 0, 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.sweep(now)
	window := l.windows[name]
	if now.Sub(window.since) >= time.Minute {
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

// sweep drops expired windows. It runs at most once a minute unless there are maxWindows
// windows.
func (l *rateLimiter) sweep(now time.Time) {
	if now.Sub(l.lastSweep) < time.Minute && len(l.windows) < maxWindows {
		return
	}
	l.lastSweep = now
	for name, window := range l.windows {
		if now.Sub(window.since) >= time.Minute {
			delete(l.windows, name)
		}
	}
	if len(l.windows) >= maxWindows {
		clear(l.windows)
	}
}

func setRateHeaders(c *gin.Context, limit, left int) {
	c.Header("X-RateLimit-Limit", strconv.Itoa(limit))
	c.Header("X-RateLimit-Remaining", strconv.Itoa(left))
}
