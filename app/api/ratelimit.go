package api

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// rateLimiter counts what happens in a minute under a name. A limit of 0 counts nothing.
type rateLimiter struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex
	seen  map[string]rateWindow
	swept time.Time
}

type rateWindow struct {
	since time.Time
	count int
}

// maxWindows bounds the memory of a window: beyond it, spans that ended are dropped,
// and if none has, all are.
const maxWindows = 10_000

func newRateLimiter(limit int, now func() time.Time) *rateLimiter {
	return &rateLimiter{limit: limit, now: now, seen: map[string]rateWindow{}}
}

// allow counts one, and tells how many are left and, when none was, after how many
// seconds to come back.
func (w *rateLimiter) allow(name string) (left, retryAfter int, ok bool) {
	if w.limit <= 0 {
		return 0, 0, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.sweep(now)
	s := w.seen[name]
	if now.Sub(s.since) >= time.Minute {
		s = rateWindow{since: now}
	}
	if s.count >= w.limit {
		wait := s.since.Add(time.Minute).Sub(now)
		return 0, max(1, int(math.Ceil(wait.Seconds()))), false
	}
	s.count++
	w.seen[name] = s
	return w.limit - s.count, 0, true
}

func (w *rateLimiter) sweep(now time.Time) {
	if now.Sub(w.swept) < time.Minute && len(w.seen) < maxWindows {
		return
	}
	w.swept = now
	for name, s := range w.seen {
		if now.Sub(s.since) >= time.Minute {
			delete(w.seen, name)
		}
	}
	if len(w.seen) >= maxWindows {
		clear(w.seen)
	}
}

func rateHeaders(c *gin.Context, limit, left int) {
	c.Header("X-RateLimit-Limit", strconv.Itoa(limit))
	c.Header("X-RateLimit-Remaining", strconv.Itoa(left))
}
