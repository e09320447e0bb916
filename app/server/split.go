package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// split is one TCP port on which both TLS and plain HTTP are spoken. Its Accept gives
// TLS connections; those that turn out to be plain, by their first byte, come out of
// plain instead. The first byte is read where the handshake would be, in the server's
// own goroutine and within its time for a head.
type split struct {
	*limited
	config *tls.Config
	plain  *plainListener
}

func newSplit(l *limited, config *tls.Config) *split {
	return &split{limited: l, config: config, plain: &plainListener{limited: l, conns: make(chan net.Conn), ended: make(chan struct{})}}
}

func (s *split) Accept() (net.Conn, error) {
	conn, err := s.limited.Accept()
	if err != nil {
		return nil, err
	}
	limited, ok := conn.(*limitedConn)
	if !ok {
		return conn, nil // limit gives no other
	}
	return tls.Server(&sniffed{limitedConn: limited, plain: s.plain}, s.config), nil
}

// plainListener gives the connections that do not speak TLS. Closing it closes nothing:
// the port is the split's.
type plainListener struct {
	*limited
	conns  chan net.Conn
	ended  chan struct{}
	ending sync.Once
}

func (l *plainListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.ended:
	case <-l.done:
	}
	return nil, net.ErrClosed
}

func (l *plainListener) Close() error {
	l.ending.Do(func() { close(l.ended) })
	return nil
}

// handshake is the type of the first record of TLS (RFC 8446, section 5.1).
const handshake = 22

// sniffed is a connection whose first byte decides. Once it is given away, what TLS
// still does with it does nothing.
type sniffed struct {
	*limitedConn
	plain *plainListener
	known bool // read by one goroutine, that of the handshake
	gone  atomic.Bool
}

func (c *sniffed) Read(p []byte) (int, error) {
	if c.gone.Load() {
		return 0, io.EOF
	}
	n, err := c.limitedConn.Read(p)
	if c.known || n == 0 {
		return n, err
	}
	c.known = true
	if p[0] == handshake {
		return n, err
	}
	return 0, c.giveAway(p[:n])
}

func (c *sniffed) giveAway(first []byte) error {
	// The handshake's deadlines are not the next one's.
	if err := c.limitedConn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	c.gone.Store(true)
	conn := &plainConn{limitedConn: c.limitedConn, first: append([]byte(nil), first...)}
	select {
	case c.plain.conns <- conn:
		return io.EOF
	case <-c.plain.ended:
	case <-c.plain.done:
	}
	return errors.Join(io.EOF, conn.Close())
}

func (c *sniffed) Write(p []byte) (int, error) {
	if c.gone.Load() {
		return 0, io.ErrClosedPipe
	}
	return c.limitedConn.Write(p)
}

func (c *sniffed) Close() error {
	if c.gone.Load() {
		return nil
	}
	return c.limitedConn.Close()
}

func (c *sniffed) SetDeadline(t time.Time) error {
	if c.gone.Load() {
		return nil
	}
	return c.limitedConn.SetDeadline(t)
}

func (c *sniffed) SetReadDeadline(t time.Time) error {
	if c.gone.Load() {
		return nil
	}
	return c.limitedConn.SetReadDeadline(t)
}

func (c *sniffed) SetWriteDeadline(t time.Time) error {
	if c.gone.Load() {
		return nil
	}
	return c.limitedConn.SetWriteDeadline(t)
}

// plainConn gives first what was read to learn that it is plain.
type plainConn struct {
	*limitedConn
	first []byte
}

func (c *plainConn) Read(p []byte) (int, error) {
	if len(c.first) == 0 {
		return c.limitedConn.Read(p)
	}
	n := copy(p, c.first)
	c.first = c.first[n:]
	return n, nil
}
