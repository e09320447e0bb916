package server

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"deedkeep/app/fairqueue"
	"deedkeep/app/httpx"
)

// pace says how fast a client receives what the server sends. Only the goroutine that watches the connections changes
// it, while it holds the lock of the connLimiter.
type pace struct {
	delivered int64         // bytes that the client has received, at the last measurement
	waiting   time.Duration // how long the client has had bytes to receive, without a pause
	rate      float64       // bytes per second lately, while waiting
	behind    time.Duration // how long the client has been slower than the minimum rate; a faster client catches up
}

// measure updates the pace. delivered is the number of bytes that the client has received until now, and pending says
// whether it hasn't received all that was sent.
func (p *pace) measure(elapsed time.Duration, delivered int64, pending bool, minRate int64) {
	received := float64(delivered - p.delivered)
	p.delivered = delivered
	if !pending {
		p.waiting, p.behind = 0, 0
		return
	}
	rate := received / elapsed.Seconds()
	if p.waiting == 0 {
		p.rate = rate
	}
	p.waiting += elapsed
	p.rate += (rate - p.rate) / 4
	p.behind = max(0, p.behind+elapsed-time.Duration(received/float64(minRate)*float64(time.Second)))
}

const (
	minSendRate   = 1 << 10         // minimum of minRate, in bytes per second
	watchInterval = time.Second     // maximum time between measurements
	slowRate      = 16 << 10        // a client below this rate may be disconnected if the server is full; half of 256 kbit/s
	slowAfter     = 2 * time.Second // if it has been waiting for this time
)

func (p *pace) isSlow() bool { return p.waiting >= slowAfter && p.rate < slowRate }

// watch measures the pace of all clients until done is closed. It closes the connections of clients that received less
// than the minimum rate, measured over stall. Each listener of the limiter runs it.
func (c *connLimiter) watch(done <-chan struct{}) {
	tick := time.NewTicker(c.watchInterval())
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case now := <-tick.C:
			c.measure(now)
		}
	}
}

func (c *connLimiter) watchInterval() time.Duration { return min(watchInterval, c.stall/4) }

func (c *connLimiter) measure(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	elapsed, interval := now.Sub(c.measuredAt), c.watchInterval()
	if elapsed < interval/2 {
		return // the watcher of another listener has just measured
	}
	c.measuredAt = now
	elapsed = min(elapsed, 2*interval) // a longer pause means that the server didn't run, which is not the client's fault
	for _, group := range c.groups {
		for conn := range group.conns {
			delivered, pending := conn.progress()
			conn.pace.measure(elapsed, delivered, pending, c.minRate)
			if conn.pace.behind >= c.stall {
				c.disconnect(conn)
			}
		}
	}
	c.changed.Broadcast() // a client may have become slow
}

// slowest returns the connection of the slowest client in the groups, or nil if none is slow. The caller must hold
// c.mu.
func slowest(groups ...*connGroup) (found *limitedConn) {
	for _, group := range groups {
		for conn := range group.conns {
			if conn.pace.isSlow() && (found == nil || conn.pace.rate < found.pace.rate) {
				found = conn
			}
		}
	}
	return found
}

// disconnectSlowest closes the connection of the slowest client, if there is a slow one.
func (c *connLimiter) disconnectSlowest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn := c.slowestOfAll(); conn != nil {
		c.disconnect(conn)
	}
}

func (c *connLimiter) slowestOfAll() *limitedConn {
	return slowest(slices.Collect(maps.Values(c.groups))...)
}

// disconnect closes a connection and discards what the client hasn't received. The caller must hold c.mu.
func (c *connLimiter) disconnect(conn *limitedConn) {
	_ = conn.SetLinger(0) // an error means that the client is gone
	c.closeLocked(conn)
}

// sentBytes counts what the server has written to a connection.
type sentBytes struct {
	total   atomic.Int64
	writing atomic.Int32 // number of writes in progress
}

// Write counts the bytes. On systems that don't say what the client has received, the watcher depends on that.
func (c *limitedConn) Write(p []byte) (n int, err error) {
	c.sent.writing.Add(1)
	defer c.sent.writing.Add(-1)
	for n < len(p) && err == nil {
		var part int
		part, err = c.TCPConn.Write(p[n:min(len(p), n+maxPart)])
		n += part
		c.sent.total.Add(int64(part))
	}
	return n, err
}

// ReadFrom sends a file without a copy in memory, if the system can do that (sendfile).
func (c *limitedConn) ReadFrom(r io.Reader) (n int64, err error) {
	limited, ok := r.(*io.LimitedReader)
	if !ok {
		limited = &io.LimitedReader{R: r, N: 1 << 62}
	}
	c.sent.writing.Add(1)
	defer c.sent.writing.Add(-1)
	for limited.N > 0 && err == nil {
		size := min(limited.N, maxPart)
		var part int64
		part, err = c.TCPConn.ReadFrom(&io.LimitedReader{R: limited.R, N: size})
		n, limited.N = n+part, limited.N-part
		c.sent.total.Add(part)
		if part < size {
			break
		}
	}
	return n, err
}

// unreceived is the number of bytes that may be on their way to a client when the server handles its next request.
const unreceived = 16 << 10

// awaitReceived calls next after the client has received the previous response. A client that sends many requests and
// doesn't read the responses makes the server create one of them. Requests that arrived together with the previous one
// take turns, so that they don't delay clients that wait for each response.
func awaitReceived(next http.Handler) http.Handler {
	turns := fairqueue.NewTurns(maxPipelined, httpx.ErrBusy)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, ok := r.Context().Value(connKey{}).(*limitedConn)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		if conn.awaitReceived(r.Context()) != nil {
			panic(http.ErrAbortHandler)
		}
		if !conn.arrived.Swap(false) {
			ctx, cancel := context.WithTimeout(r.Context(), maxPipelinedWait)
			defer cancel()
			done, err := turns.Take(ctx, conn.group.String())
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			defer done()
		}
		next.ServeHTTP(w, r)
	})
}

const (
	maxPipelined     = 4 // requests that arrived with the previous one and are handled at the same time; an address has half
	maxPipelinedWait = 10 * time.Second
)

// Read records that bytes of a new request have arrived.
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if n > 0 {
		c.arrived.Store(true)
	}
	return n, err
}

func (c *limitedConn) awaitReceived(ctx context.Context) error {
	if c.sent.total.Load()-c.received < unreceived {
		return nil
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		pending, err := c.pending()
		if err != nil || pending == 0 {
			c.received = c.sent.total.Load()
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

type connKey struct{}

// withConn is the ConnContext of servers that use a limitedListener.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	if limited := limitedConnOf(conn); limited != nil {
		return context.WithValue(ctx, connKey{}, limited)
	}
	return ctx
}
