// Package httpx contains the parts that the HTTP transports share: request IDs, protection against slow clients,
// client addresses of proxied requests, the memory budget for request bodies, and the mapping from errors to
// statuses.
//
// Request bodies have no total time limit, because a large document may take a long time on a slow connection. A
// client is disconnected if it sends nothing for a while or sends more slowly than a minimum rate. No read waits
// longer than the limits allow. A read deadline is removed when its body ends.
package httpx

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Errors that Body.Read returns if the client caused them.
var (
	ErrIncomplete = errors.New("request body ended before its declared length")
	ErrTooSlow    = errors.New("request body arrived too slowly")
)

// Limits contains the slow-client limits for a request body.
type Limits struct {
	Stall   time.Duration // max time without receiving a byte
	MinRate int64         // min bytes per second, measured over each Stall
}

// Body reads a request body and sets a deadline for each read. It is not safe for concurrent use.
type Body struct {
	io.ReadCloser
	control        *http.ResponseController
	limits         Limits
	extended       time.Time // when the deadline was last extended
	since          time.Time // start of the current rate measurement
	count          int64     // bytes read since then
	awaitsContinue bool      // the client sends the body only after "100 Continue"
	ended          bool
	complete       bool // the entire body has been read
}

// NewBody returns a Body that replaces r.Body.
func NewBody(w http.ResponseWriter, r *http.Request, limits Limits) *Body {
	return &Body{
		ReadCloser: r.Body, control: http.NewResponseController(w), limits: limits,
		awaitsContinue: strings.EqualFold(r.Header.Get("Expect"), "100-continue"),
	}
}

// extendEvery is the minimum time between extensions of the read deadline. Each extension calls the network poller,
// so extending at every read would slow down fast uploads.
const extendEvery = time.Second

// Read reads from the body. If the client caused the error, the error wraps ErrTooSlow or ErrIncomplete.
func (b *Body) Read(p []byte) (int, error) {
	now := time.Now()
	if b.since.IsZero() {
		b.since = now
	}
	if !b.ended && now.Sub(b.extended) > extendEvery {
		b.extended = now
		b.deadline(now.Add(b.limits.Stall + extendEvery))
	}
	b.awaitsContinue = false
	n, err := b.ReadCloser.Read(p)
	b.count += int64(n)
	switch {
	case err == nil:
		return n, b.tooSlow(now)
	case errors.Is(err, io.EOF):
		// net/http keeps reading from the connection to detect when the client disconnects. The old deadline must not
		// interrupt that read.
		b.deadline(time.Time{})
		b.complete = true
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = ErrTooSlow
	default:
		err = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	b.ended = true
	return n, err
}

// tooSlow measures the rate at the end of each Stall. It returns ErrTooSlow if the rate is too low.
func (b *Body) tooSlow(now time.Time) error {
	over := now.Sub(b.since)
	if over < b.limits.Stall {
		return nil
	}
	if float64(b.count) < float64(b.limits.MinRate)*over.Seconds() {
		b.ended = true
		b.deadline(now) // otherwise, net/http would read the rest of the body before it responds
		return ErrTooSlow
	}
	b.since, b.count = now, 0
	return nil
}

func (b *Body) deadline(at time.Time) {
	// An error means that deadlines aren't supported. In that case, there is no network connection that could stall.
	_ = b.control.SetReadDeadline(at)
}

// LimitStall lowers the stall limit for a body that has memory reserved. 0 doesn't change the limit. LimitStall also
// restarts the rate measurement, because the client may have waited for that memory.
func (b *Body) LimitStall(stall time.Duration) {
	if stall > 0 {
		b.limits.Stall = min(b.limits.Stall, stall)
	}
	b.extended, b.since, b.count = time.Time{}, time.Time{}, 0
}

// Drain reads and discards the rest of a rejected body so that a client that is still sending can read the response.
// It reads at most n bytes and stops after timeout. It reports whether it reached the end of the body. If it didn't,
// the caller must close the connection.
func (b *Body) Drain(n int64, timeout time.Duration) bool {
	if b.ReadCloser == http.NoBody {
		return true
	}
	if b.ended || b.awaitsContinue {
		return b.complete
	}
	b.extended = time.Now().Add(min(timeout, b.limits.Stall)) // one deadline for all reads
	b.deadline(b.extended)
	// b.complete is true if the end of the body was reached.
	_, _ = io.CopyN(io.Discard, b, n)
	return b.complete
}

// DrainBody reads up to 1 MiB of the body of a request that is rejected before it reaches a handler.
// If the connection were closed with unread data, the client might not get the response.
func DrainBody(w http.ResponseWriter, r *http.Request) {
	NewBody(w, r, Limits{Stall: time.Second}).Drain(1<<20, time.Second)
}
