// Package httpx contains the parts that the HTTP transports share: request IDs, protection against slow clients, addresses of
// clients behind proxies, the memory budget for request bodies, and the mapping from errors to statuses.
//
// Request bodies have no total time limit, because a large document may need a long time on a slow connection. A
// client that sends nothing for a while, or fewer bytes than a minimum rate, is disconnected. No read waits longer
// than the limits allow, and no deadline outlives its body.
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

// Errors of reading a body that the client caused.
var (
	ErrIncomplete = errors.New("the body broke off before its end")
	ErrTooSlow    = errors.New("the body arrived too slowly")
)

// Limits of a body.
type Limits struct {
	Stall   time.Duration // maximum time without a byte
	MinRate int64         // minimum bytes a second, measured over each Stall
}

// ResponseTimeout is how long creating and sending a response may take once the request has arrived. Downloads set
// their own time.
const ResponseTimeout = 2 * time.Minute

// Body reads the body of a request with a deadline for each read. It is not safe for concurrent use.
type Body struct {
	io.ReadCloser
	control        *http.ResponseController
	limits         Limits
	extended       time.Time // when the deadline was last extended
	since          time.Time // start of the current rate measurement
	count          int64     // bytes since then
	awaitsContinue bool      // the client waits for "100 Continue"
	ended          bool
	complete       bool // read to its end
}

// NewBody returns a body that replaces r.Body.
func NewBody(w http.ResponseWriter, r *http.Request, limits Limits) *Body {
	return &Body{
		ReadCloser: r.Body, control: http.NewResponseController(w), limits: limits,
		awaitsContinue: strings.EqualFold(r.Header.Get("Expect"), "100-continue"),
	}
}

// extendEvery is how old a deadline may get before a read extends it. Extending costs a call into the poller, which
// fast uploads need not pay for each read.
const extendEvery = time.Second

// Read reads from the body. Errors that the client caused wrap ErrTooSlow or ErrIncomplete.
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
		// net/http keeps reading the connection to notice when the client disconnects, which the old deadline
		// must not end.
		b.deadline(time.Time{})
		b.complete = true
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = ErrTooSlow
	default:
		err = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	b.ended = true
	_ = b.control.SetWriteDeadline(now.Add(ResponseTimeout)) // as in deadline
	return n, err
}

// tooSlow checks the rate after each full Stall.
func (b *Body) tooSlow(now time.Time) error {
	over := now.Sub(b.since)
	if over < b.limits.Stall {
		return nil
	}
	if float64(b.count) < float64(b.limits.MinRate)*over.Seconds() {
		b.ended = true
		b.deadline(now) // net/http would read the rest before it responds
		return ErrTooSlow
	}
	b.since, b.count = now, 0
	return nil
}

func (b *Body) deadline(at time.Time) {
	// Errors mean that deadlines aren't supported: then there is no network connection that could stall.
	_ = b.control.SetReadDeadline(at)
}

// LimitStall shortens the maximum stall, for a body that holds memory; 0 doesn't change it. It restarts the
// measurement, because the client may have waited for that memory.
func (b *Body) LimitStall(stall time.Duration) {
	if stall > 0 {
		b.limits.Stall = min(b.limits.Stall, stall)
	}
	b.extended, b.since, b.count = time.Time{}, time.Time{}, 0
}

// Drain reads and discards the rest of a rejected body, at most n bytes within timeout, so that a client that is still
// sending can read the response. It reports whether the body was read to its end; if not, the connection must be
// closed.
func (b *Body) Drain(n int64, timeout time.Duration) bool {
	if b.ReadCloser == http.NoBody {
		return true
	}
	if b.ended || b.awaitsContinue {
		return b.complete
	}
	b.extended = time.Now().Add(min(timeout, b.limits.Stall)) // one deadline for everything
	b.deadline(b.extended)
	// b.complete says whether it succeeded.
	_, _ = io.CopyN(io.Discard, b, n)
	return b.complete
}
