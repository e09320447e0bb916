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
	mu       sync.RWMutex // guards closed, and busy against new requests after close
	closed   bool
	busy     sync.WaitGroup
	stopping http.Handler
}

func newDrainer() *drainer {
	return &drainer{stopping: httpx.WithRequestID(http.HandlerFunc(respondStopping), rand.Reader)}
}

func (d *drainer) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.begin() {
			d.stopping.ServeHTTP(w, r)
			return
		}
		defer d.busy.Done()
		next.ServeHTTP(w, r)
	})
}

func (d *drainer) begin() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if !d.closed {
		d.busy.Add(1)
	}
	return !d.closed
}

// close makes the drainer reject new requests and waits for those in progress to complete, up
// to the duration within.
func (d *drainer) close(within time.Duration) {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	drained := make(chan struct{})
	go func() {
		d.busy.Wait()
		close(drained)
	}()
	select {
	case <-drained:
	case <-time.After(within):
	}
}

func respondStopping(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", "10")
	httpx.DrainBody(w, r)
	httpx.WriteJSON(w, http.StatusServiceUnavailable, apitypes.Failure{Message: "The server is stopping. Try again in a moment."})
}
