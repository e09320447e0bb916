package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// pacedBody reads a request's body with a deadline for each read, so that a slow
// but honest client succeeds and one that stalls, or trickles below the floor, is
// cut off (PROMISES.md, row 13). There is no limit on the time as a whole.
//
// Only the end of the body takes the deadline away: net/http reads what a handler
// has left of a body before it sends the answer, and without a deadline a client
// that stalls would hold answer and connection for ever.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	limits  Limits
	waits   bool      // the client sends nothing before it is asked to (100-continue)
	armed   time.Time // when the deadline was last moved
	since   time.Time // of the bytes that are counted
	count   int64
	ended   bool
}

func newPacedBody(w http.ResponseWriter, r *http.Request, limits Limits) *pacedBody {
	return &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), limits: limits,
		waits: strings.EqualFold(r.Header.Get("Expect"), "100-continue")}
}

// rearm is how much older than Stall a deadline may get: moving it costs a call
// into the poller, which a fast upload need not pay for each read.
const rearm = time.Second

// arm gives the next read its time.
func (b *pacedBody) arm(now time.Time) error {
	if b.ReadCloser == http.NoBody || now.Sub(b.armed) <= rearm {
		return nil
	}
	b.armed = now
	if err := b.control.SetReadDeadline(now.Add(b.limits.Stall + rearm)); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func (b *pacedBody) Read(p []byte) (int, error) {
	now := time.Now()
	if b.since.IsZero() {
		b.since = now
	}
	if !b.ended {
		if err := b.arm(now); err != nil {
			return 0, err
		}
	}
	n, err := b.ReadCloser.Read(p)
	b.count += int64(n)
	switch {
	case err == io.EOF:
		b.end(time.Time{}) // the server goes on reading, to learn when the client leaves
		return n, err
	case err == nil && b.tooSlow(now):
		err = errTooSlow
	case err == nil:
		return n, nil
	case !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: %w", errUnreadable, err)
	}
	b.end(now)
	return n, err
}

// tooSlow looks at the bytes of each full Stall.
func (b *pacedBody) tooSlow(now time.Time) bool {
	over := now.Sub(b.since)
	if over < b.limits.Stall {
		return false
	}
	if float64(b.count) < float64(b.limits.MinRate)*over.Seconds() {
		return true
	}
	b.since, b.count = now, 0
	return false
}

// end moves the deadline for the last time: the zero time takes it away, one that
// has come lets nobody wait for the rest.
func (b *pacedBody) end(deadline time.Time) {
	if b.ended {
		return
	}
	b.ended = true
	// Where deadlines are not supported none was set.
	_ = b.control.SetReadDeadline(deadline)
}

const (
	drainBytes = 64 << 20
	drainTime  = 10 * time.Second
)

// drain reads a bounded rest of a body that was refused, so that a client which is
// still sending gets to read why instead of a broken connection. One that waits to
// be asked for its body is not asked.
func (b *pacedBody) drain() {
	if b.ended || b.ReadCloser == http.NoBody || b.waits && b.since.IsZero() {
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

// pace stands before everything that may leave a body unread.
func (e *edge) pace(c *gin.Context) {
	body := newPacedBody(c.Writer, c.Request, e.Limits)
	if err := body.arm(time.Now()); err != nil {
		e.Log.Debug("read deadline", "error", err)
	}
	c.Request.Body = body
}

func drain(c *gin.Context) {
	if body, ok := c.Request.Body.(*pacedBody); ok {
		body.drain()
	}
}
