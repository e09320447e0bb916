package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// pacedBody reads a request's body with a deadline for each read, so that a slow
// but honest client succeeds and one that stalls, or trickles below the floor, is
// cut off (PROMISES.md, row 13). There is no limit on the time as a whole.
type pacedBody struct {
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

func newPacedBody(w http.ResponseWriter, r *http.Request, limits Limits) *pacedBody {
	return &pacedBody{
		ReadCloser: r.Body, control: http.NewResponseController(w), limits: limits,
		held: strings.EqualFold(r.Header.Get("Expect"), "100-continue"),
	}
}

// rearm is how much older than Stall a deadline may get: moving it costs a call
// into the poller, which a fast upload need not pay for each read.
const rearm = time.Second

// Read reads on; what goes wrong is the client's and says so: errTooSlow, errBrokeOff.
func (b *pacedBody) Read(p []byte) (int, error) {
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
		err = errTooSlow
	default:
		err = fmt.Errorf("%w: %w", errBrokeOff, err)
	}
	b.ended = true
	_ = b.control.SetWriteDeadline(now.Add(answering)) // as in deadline
	return n, err
}

// tooSlow looks at the bytes of each full Stall.
func (b *pacedBody) tooSlow(now time.Time) error {
	over := now.Sub(b.since)
	if over < b.limits.Stall {
		return nil
	}
	if float64(b.count) < float64(b.limits.MinRate)*over.Seconds() {
		b.ended = true
		b.deadline(now) // net/http wants to read the rest before it answers
		return errTooSlow
	}
	b.since, b.count = now, 0
	return nil
}

func (b *pacedBody) deadline(at time.Time) {
	// Where deadlines are not supported there is no network that could stall.
	_ = b.control.SetReadDeadline(at)
}

// answering is how long an answer may take to make and to be taken, once the
// request is there; a download sets its own time.
const answering = 2 * time.Minute

// Patient gives a body that its handler leaves alone an end: net/http reads the
// rest before it answers, and would wait for ever. A handler that reads moves the
// deadline on.
func Patient(next http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		// As above, for both.
		switch {
		case r.ContentLength == 0:
			_ = control.SetWriteDeadline(time.Now().Add(answering))
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			// Nothing reads it, and net/http would before it answers.
			w.Header().Set("Connection", "close")
			_ = control.SetWriteDeadline(time.Now().Add(answering))
		default:
			_ = control.SetWriteDeadline(time.Time{})
			_ = control.SetReadDeadline(time.Now().Add(stall))
		}
		next.ServeHTTP(w, r)
	})
}

// leave is what is done about a body that was refused: so much of it is read in so
// long, that a client which is still sending gets to read why. It reports whether
// the body came to its end; a connection on which it did not must be closed.
func (b *pacedBody) leave(bytes int64, within time.Duration) bool {
	if b.ReadCloser == http.NoBody {
		return true
	}
	if b.ended || b.held {
		return b.whole
	}
	b.armed = time.Now().Add(min(within, b.limits.Stall)) // one deadline for all of it
	b.deadline(b.armed)
	// What went wrong shows in whole.
	_, _ = io.CopyN(io.Discard, b, bytes)
	return b.whole
}

// Of a known caller's body more is read than of anybody's.
const (
	callersBytes  = 64 << 20
	callersTime   = 10 * time.Second
	anybodysBytes = 1 << 20
	anybodysTime  = time.Second
)
