package server

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// limited is a TCP listener whose connections share the slots of a crowd. Unlike
// netutil.LimitListener it takes a new connection before it has a slot for it, so that an
// idle one can make way, and it leaves connections their ReadFrom, without which net/http
// sends no file by sendfile.
type limited struct {
	*net.TCPListener
	crowd  *crowd
	done   chan struct{}
	closed sync.Once
}

func limit(listener *net.TCPListener, c *crowd) *limited {
	return &limited{TCPListener: listener, crowd: c, done: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		limited := &limitedConn{TCPConn: conn, crowd: l.crowd}
		if l.crowd.enter(limited, l.done) {
			l.crowd.wait(limited)
			return limited, nil
		}
		_ = limited.Close() // Its address has enough, or the listener is closed.
	}
}

func (l *limited) Close() error {
	l.closed.Do(func() { close(l.done) })
	return l.TCPListener.Close()
}

// limitedConn gives its slot back when it is closed.
type limitedConn struct {
	*net.TCPConn
	crowd  *crowd
	from   netip.Prefix // its place
	slot   bool         // it has one
	closed sync.Once
	// Of the crowd, whose lock guards them.
	counted bool          // among those of its place
	turn    uint64        // when it came to wait
	waits   *list.Element // of its place's list; nil while it has a request
}

func (c *limitedConn) Close() error {
	err := c.TCPConn.Close()
	c.closed.Do(func() {
		c.crowd.leave(c, true)
		if c.slot {
			<-c.crowd.slots
		}
	})
	return err
}
