package server

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// limitedListener is a TCP listener that limits the number of open connections with a
// connLimiter. Unlike netutil.LimitListener, it accepts a new connection even if the limit
// is reached, so that it can close an idle connection to make a slot available. Its
// connections keep the ReadFrom method, which net/http needs to send files with sendfile.
type limitedListener struct {
	*net.TCPListener
	limiter *connLimiter
	done    chan struct{}
	closed  sync.Once
}

func newLimitedListener(listener *net.TCPListener, c *connLimiter) *limitedListener {
	return &limitedListener{TCPListener: listener, limiter: c, done: make(chan struct{})}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		limited := &limitedConn{TCPConn: conn, limiter: l.limiter}
		if l.limiter.acquire(limited, l.done) {
			l.limiter.markIdle(limited)
			return limited, nil
		}
		_ = limited.Close() // its address has reached the limit, or the listener is closed
	}
}

func (l *limitedListener) Close() error {
	l.closed.Do(func() { close(l.done) })
	return l.TCPListener.Close()
}

// limitedConn releases its slot when it is closed.
type limitedConn struct {
	*net.TCPConn
	limiter *connLimiter
	group   netip.Prefix // the address group that the connection counts toward
	hasSlot bool         // the connection has taken a slot
	closed  sync.Once
	// The fields below are guarded by the limiter's lock.
	counted     bool          // included in the group's number of open connections
	sequence    uint64        // sorts idle connections by when they became idle
	idleElement *list.Element // in the group's list; nil while a request is in progress
}

func (c *limitedConn) Close() error {
	err := c.TCPConn.Close()
	c.closed.Do(func() {
		c.limiter.removeIdle(c, true)
		if c.hasSlot {
			<-c.limiter.slots
		}
	})
	return err
}
