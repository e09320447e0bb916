package server

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
)

// drainer counts the requests under way, and, once closed, tells those that come then to
// come again later. So a service that stops says so, instead of refusing connections,
// as long as it has something to finish.
type drainer struct {
	mu       sync.Mutex
	busy     int
	closed   bool
	drained  chan struct{} // closed when closed and not busy
	stopping http.Handler
}

func newDrainer() *drainer {
	return &drainer{drained: make(chan struct{}), stopping: httpx.WithRequestID(http.HandlerFunc(respondStopping), rand.Reader)}
}

func (g *drainer) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.begin() {
			g.stopping.ServeHTTP(w, r)
			return
		}
		defer g.end()
		next.ServeHTTP(w, r)
	})
}

func (g *drainer) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.busy++
	}
	return !g.closed
}

func (g *drainer) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy--; g.closed && g.busy == 0 {
		close(g.drained)
	}
}

// close lets nobody in any more, and waits for those inside, no longer than within.
func (g *drainer) close(within time.Duration) {
	g.mu.Lock()
	g.closed = true
	if g.busy == 0 {
		close(g.drained)
	}
	g.mu.Unlock()
	over := time.NewTimer(within)
	defer over.Stop()
	select {
	case <-g.drained:
	case <-over.C:
	}
}

func respondStopping(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", "10")
	drainBody(w, r)
	respondJSON(w, http.StatusServiceUnavailable, apitypes.Failure{Message: "The service is stopping; try again in a moment."})
}
