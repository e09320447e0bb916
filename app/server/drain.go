package server

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
)

// drainer counts the requests in progress. After close, it responds to new requests with 503
// and Retry-After, so that clients get a response and try again later while the stopping
// server finishes its work.
type drainer struct {
	mu       sync.Mutex
	busy     int
	closed   bool
	drained  chan struct{} // closed when the drainer is closed and the last request has completed
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

// close makes the drainer reject new requests and waits for those in progress to complete, up
// to the duration within.
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
