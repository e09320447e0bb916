package server

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/httpx"
)

// gate counts the requests under way, and, once closed, tells those that come then to
// come again later. So a service that stops says so, instead of refusing connections,
// as long as it has something to finish.
type gate struct {
	mu     sync.Mutex
	busy   int
	closed bool
	empty  chan struct{} // closed when closed and not busy
	shut   http.Handler
}

func newGate() *gate {
	return &gate{empty: make(chan struct{}), shut: httpx.WithRequestID(http.HandlerFunc(stopping), rand.Reader)}
}

func (g *gate) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.enter() {
			g.shut.ServeHTTP(w, r)
			return
		}
		defer g.leave()
		next.ServeHTTP(w, r)
	})
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.busy++
	}
	return !g.closed
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy--; g.closed && g.busy == 0 {
		close(g.empty)
	}
}

// close lets nobody in any more, and waits for those inside, no longer than within.
func (g *gate) close(within time.Duration) {
	g.mu.Lock()
	g.closed = true
	if g.busy == 0 {
		close(g.empty)
	}
	g.mu.Unlock()
	over := time.NewTimer(within)
	defer over.Stop()
	select {
	case <-g.empty:
	case <-over.C:
	}
}

func stopping(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", "10")
	drain(w, r)
	answerJSON(w, http.StatusServiceUnavailable, apitypes.Failure{Message: "The service is stopping; try again in a moment."})
}
