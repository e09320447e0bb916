package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"deedkeep/app/memory"
)

// The server gives memory back after two minutes without requests, once, and again if it has grown.
func TestIdleServerGivesMemoryBack(t *testing.T) {
	now, used, trims := time.Unix(1_800_000_000, 0), int64(300<<20), 0
	i := &idleTrimmer{
		now: func() time.Time { return now }, usage: func() memory.Usage { return memory.Usage{Total: used} },
		trim: func() { trims++; used = 60 << 20 },
	}
	h := i.watch(http.NotFoundHandler())
	i.touch()
	for n, step := range []struct {
		path  string
		after time.Duration
		grows int64
		want  int
	}{
		{"/v1/orders", time.Minute, 0, 0},
		{"/orders", idleTime - time.Second, 0, 0},
		{"/metrics", time.Second, 0, 1},
		{"/healthz", time.Minute, 8 << 20, 1},
		{"/readyz", time.Minute, 8 << 20, 2},
		{"/", time.Minute, 100 << 20, 2},
		{"/healthz", idleTime, 0, 3},
	} {
		if step.path == "/v1/orders" || step.path == "/orders" || step.path == "/" {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, step.path, nil))
		}
		now, used = now.Add(step.after), used+step.grows
		if step.path != "/v1/orders" && step.path != "/orders" && step.path != "/" {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, step.path, nil))
		}
		if i.check(); trims != step.want {
			t.Errorf("step %d: gave memory back %d times, want %d", n+1, trims, step.want)
		}
	}
}
