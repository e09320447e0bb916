package api

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// window counts what happens in a minute under a name. A limit of 0 counts nothing.
type window struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex
	seen  map[string]span
	swept time.Time
}

type span struct {
	since time.Time
	count int
}

// mostSpans bounds the memory of a window: beyond it, spans that ended are dropped,
// and if none has, all are.
const mostSpans = 10_000

func newWindow(limit int, now func() time.Time) *window {
	return &window{limit: limit, now: now, seen: map[string]span{}}
}

// take counts one, and tells how many are left and, when none was, after how many
// seconds to come back.
func (w *window) take(name string) (left, retryAfter int, ok bool) {
	if w.limit <= 0 {
		return 0, 0, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.sweep(now)
	s := w.seen[name]
	if now.Sub(s.since) >= time.Minute {
		s = span{since: now}
	}
	if s.count >= w.limit {
		wait := s.since.Add(time.Minute).Sub(now)
		return 0, max(1, int(math.Ceil(wait.Seconds()))), false
	}
	s.count++
	w.seen[name] = s
	return w.limit - s.count, 0, true
}

func (w *window) sweep(now time.Time) {
	if now.Sub(w.swept) < time.Minute && len(w.seen) < mostSpans {
		return
	}
	w.swept = now
	for name, s := range w.seen {
		if now.Sub(s.since) >= time.Minute {
			delete(w.seen, name)
		}
	}
	if len(w.seen) >= mostSpans {
		clear(w.seen)
	}
}

func rateHeaders(c *gin.Context, limit, left int) {
	c.Header("X-RateLimit-Limit", strconv.Itoa(limit))
	c.Header("X-RateLimit-Remaining", strconv.Itoa(left))
}
