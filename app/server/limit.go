package server

import (
	"net"
	"sync"
)

// limited is a TCP listener that has at most so many connections open; whoever
// comes then waits in the kernel's queue. Unlike netutil.LimitListener it leaves
// them their ReadFrom, without which net/http sends no file by sendfile.
type limited struct {
	*net.TCPListener
	crowd  *crowd
	slots  chan struct{}
	done   chan struct{}
	closed sync.Once
}

func limit(listener *net.TCPListener, connections int, c *crowd) *limited {
	return &limited{TCPListener: listener, crowd: c, slots: make(chan struct{}, connections), done: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			<-l.slots
			return nil, err
		}
		limited := &limitedConn{TCPConn: conn, crowd: l.crowd, slots: l.slots}
		if l.crowd.enter(limited) {
			l.crowd.wait(limited)
			return limited, nil
		}
		_ = conn.Close() // Its address has enough; the slot is the next one's.
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
	slots  chan struct{}
	closed sync.Once
	// Of the crowd, whose lock guards them.
	left    bool // for good
	counted bool // among those of its address
}

func (c *limitedConn) Close() error {
	err := c.TCPConn.Close()
	c.closed.Do(func() {
		c.crowd.leave(c, true)
		<-c.slots
	})
	return err
}
