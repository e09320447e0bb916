package server

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// limitedListener is a TCP listener whose connections share the slots of a crowd. Unlike
// netutil.LimitListener it takes a new connection before it has a slot for it, so that an
// idle one can make way, and it leaves connections their ReadFrom, without which net/http
// sends no file by sendfile.
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
		_ = limited.Close() // Its address has enough, or the listener is closed.
	}
}

func (l *limitedListener) Close() error {
	l.closed.Do(func() { close(l.done) })
	return l.TCPListener.Close()
}

// limitedConn gives its slot back when it is closed.
type limitedConn struct {
	*net.TCPConn
	limiter *connLimiter
	group   netip.Prefix // its place
	hasSlot bool         // it has one
	closed  sync.Once
	// Of the crowd, whose lock guards them.
	counted     bool          // among those of its place
	sequence    uint64        // when it came to wait
	idleElement *list.Element // of its place's list; nil while it has a request
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
