// Package httpx reads request bodies at the pace of honest clients: one that is slow
// succeeds, one that stalls or trickles below a floor is cut off (PROMISES.md, row 13).
//
// It promises that no read waits longer than the limits allow, and that a deadline
// never outlives its body. It refuses to limit the time of a body as a whole: a
// document of 100 MB over a poor line takes what it takes.
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

// What goes wrong with a body and is the client's doing; one of them is in the chain.
var (
	ErrIncomplete = errors.New("the body broke off before its end")
	ErrTooSlow    = errors.New("the body arrived too slowly")
)

// Limits of a body.
type Limits struct {
	Stall   time.Duration // without a byte
	MinRate int64         // bytes a second, over any Stall
}

// ResponseTimeout is how long an answer may take to make and to be taken, once the request
// is there; a download sets its own time.
const ResponseTimeout = 2 * time.Minute

// Body reads a request's body with a deadline for each read. It is for one goroutine.
type Body struct {
	io.ReadCloser
	control *http.ResponseController
	limits  Limits
	armed   time.Time // when the deadline was last moved
	since   time.Time // of the bytes that are counted
	count   int64
	held    bool // the client waits to be told to send it
	ended   bool
	whole   bool // it ended with its end
}

// NewBody is the body of a request, which takes the place of r.Body.
func NewBody(w http.ResponseWriter, r *http.Request, limits Limits) *Body {
	return &Body{
		ReadCloser: r.Body, control: http.NewResponseController(w), limits: limits,
		held: strings.EqualFold(r.Header.Get("Expect"), "100-continue"),
	}
}

// rearm is how much older than Stall a deadline may get: moving it costs a call
// into the poller, which a fast upload need not pay for each read.
const rearm = time.Second

// Read reads on; what goes wrong is the client's and says so: ErrTooSlow, ErrIncomplete.
func (b *Body) Read(p []byte) (int, error) {
	now := time.Now()
	if b.since.IsZero() {
		b.since = now
	}
	if !b.ended && now.Sub(b.armed) > rearm {
		b.armed = now
		b.deadline(now.Add(b.limits.Stall + rearm))
	}
	b.held = false
	n, err := b.ReadCloser.Read(p)
	b.count += int64(n)
	switch {
	case err == nil:
		return n, b.tooSlow(now)
	case errors.Is(err, io.EOF):
		// The server goes on reading the connection, to learn when the client leaves,
		// and must not take an old deadline for that.
		b.deadline(time.Time{})
		b.whole = true
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = ErrTooSlow
	default:
		err = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	b.ended = true
	_ = b.control.SetWriteDeadline(now.Add(ResponseTimeout)) // as in deadline
	return n, err
}

// tooSlow looks at the bytes of each full Stall.
func (b *Body) tooSlow(now time.Time) error {
	over := now.Sub(b.since)
	if over < b.limits.Stall {
		return nil
	}
	if float64(b.count) < float64(b.limits.MinRate)*over.Seconds() {
		b.ended = true
		b.deadline(now) // net/http wants to read the rest before it answers
		return ErrTooSlow
	}
	b.since, b.count = now, 0
	return nil
}

func (b *Body) deadline(at time.Time) {
	// Where deadlines are not supported there is no network that could stall.
	_ = b.control.SetReadDeadline(at)
}

// LimitStall is for a body that holds memory: from here on it may stall no longer than this, if
// that is less; 0 changes nothing. The time since the last read counts for nothing, as the
// client may have waited for that memory.
func (b *Body) LimitStall(stall time.Duration) {
	if stall > 0 {
		b.limits.Stall = min(b.limits.Stall, stall)
	}
	b.armed, b.since, b.count = time.Time{}, time.Time{}, 0
}

// Drain is what is done about a body that was refused: so much of it is read in so
// long, that a client which is still sending gets to read why. It reports whether
// the body came to its end; a connection on which it did not must be closed.
func (b *Body) Drain(bytes int64, in time.Duration) bool {
	if b.ReadCloser == http.NoBody {
		return true
	}
	if b.ended || b.held {
		return b.whole
	}
	b.armed = time.Now().Add(min(in, b.limits.Stall)) // one deadline for all of it
	b.deadline(b.armed)
	// What went wrong shows in whole.
	_, _ = io.CopyN(io.Discard, b, bytes)
	return b.whole
}
