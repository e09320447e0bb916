package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
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
	ended   bool
}

func newPacedBody(w http.ResponseWriter, r *http.Request, limits Limits) *pacedBody {
	return &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), limits: limits}
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
	n, err := b.ReadCloser.Read(p)
	b.count += int64(n)
	switch {
	case err == nil:
		return n, b.tooSlow(now)
	case errors.Is(err, io.EOF):
		// The server goes on reading the connection, to learn when the client leaves,
		// and must not take an old deadline for that.
		b.deadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errTooSlow
	default:
		err = fmt.Errorf("%w: %w", errBrokeOff, err)
	}
	b.ended = true
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

// Patient gives a body that its handler leaves alone an end: net/http reads the
// rest before it answers, and would wait for ever. A handler that reads moves the
// deadline on.
func Patient(next http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 { // -1: unknown
			// As above.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(stall))
		}
		next.ServeHTTP(w, r)
	})
}

const (
	drainBytes = 64 << 20
	drainTime  = 10 * time.Second
)

// drain reads a bounded rest of a body that was refused, so that a client which is
// still sending gets to read why instead of a broken connection.
func (b *pacedBody) drain() {
	if b.ended || b.ReadCloser == http.NoBody {
		return
	}
	end := time.Now().Add(drainTime)
	buffer := make([]byte, 64<<10)
	for total := 0; total < drainBytes && time.Now().Before(end); {
		n, err := b.Read(buffer)
		if err != nil {
			return
		}
		total += n
	}
}
