package api

import (
	"errors"
	"io"
	"net/http"
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

func (b *pacedBody) Read(p []byte) (int, error) {
	now := time.Now()
	if b.since.IsZero() {
		b.since = now
	}
	if !b.ended && now.Sub(b.armed) > rearm {
		b.armed = now
		if err := b.control.SetReadDeadline(now.Add(b.limits.Stall + rearm)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return 0, err
		}
	}
	n, err := b.ReadCloser.Read(p)
	b.count += int64(n)
	if err != nil {
		b.finish()
		return n, err
	}
	if err := b.tooSlow(now); err != nil {
		b.finish()
		return n, err
	}
	return n, nil
}

// tooSlow looks at the bytes of each full Stall.
func (b *pacedBody) tooSlow(now time.Time) error {
	over := now.Sub(b.since)
	if over < b.limits.Stall {
		return nil
	}
	if float64(b.count) < float64(b.limits.MinRate)*over.Seconds() {
		return errTooSlow
	}
	b.since, b.count = now, 0
	return nil
}

// finish takes the deadline away: the server goes on reading the connection, to
// learn when the client leaves, and must not take an old deadline for that.
func (b *pacedBody) finish() {
	if b.ended {
		return
	}
	b.ended = true
	// Where deadlines are not supported none was set.
	_ = b.control.SetReadDeadline(time.Time{})
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
	b.finish()
}
