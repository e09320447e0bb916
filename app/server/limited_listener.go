package server

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// limitedListener is a TCP listener whose connections share the slots of a connLimiter.
// Unlike netutil.LimitListener, it accepts a connection before there is a slot, so that an
// idle connection can be closed for it, and it keeps the method ReadFrom of connections,
// which net/http needs to send files with sendfile.
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
		_ = limited.Close() // Its address has reached the limit, or the listener is closed.
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
	group   netip.Prefix // the address that it counts for
	hasSlot bool         // it holds a slot
	closed  sync.Once
	// The limiter's lock guards these.
	counted     bool          // included in the open connections of its group
	sequence    uint64        // orders idle connections by the start of their wait
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
