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

// tlsMux is one TCP port on which both TLS and plain HTTP are spoken. Its Accept gives
// TLS connections; those that turn out to be plain, by their first byte, come out of
// plain instead. The first byte is read where the handshake would be, in the server's
// own goroutine and within its time for a head.
type tlsMux struct {
	*limitedListener
	config *tls.Config
	plain  *plainListener
}

func newTLSMux(l *limitedListener, config *tls.Config) *tlsMux {
	return &tlsMux{limitedListener: l, config: config, plain: &plainListener{limitedListener: l, conns: make(chan net.Conn), ended: make(chan struct{})}}
}

func (s *tlsMux) Accept() (net.Conn, error) {
	conn, err := s.limitedListener.Accept()
	if err != nil {
		return nil, err
	}
	limited, ok := conn.(*limitedConn)
	if !ok {
		return conn, nil // limit gives no other
	}
	return tls.Server(&sniffedConn{limitedConn: limited, plain: s.plain}, s.config), nil
}

// plainListener gives the connections that do not speak TLS. Closing it closes nothing:
// the port is the split's.
type plainListener struct {
	*limitedListener
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

// sniffedConn is a connection whose first byte decides. Once it is given away, what TLS
// still does with it does nothing.
type sniffedConn struct {
	*limitedConn
	plain      *plainListener
	known      bool // read by one goroutine, that of the handshake
	handedOver atomic.Bool
}

func (c *sniffedConn) Read(p []byte) (int, error) {
	if c.handedOver.Load() {
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
	return 0, c.handOver(p[:n])
}

func (c *sniffedConn) handOver(first []byte) error {
	// The handshake's deadlines are not the next one's.
	if err := c.limitedConn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	c.handedOver.Store(true)
	conn := &plainConn{limitedConn: c.limitedConn, first: append([]byte(nil), first...)}
	select {
	case c.plain.conns <- conn:
		return io.EOF
	case <-c.plain.ended:
	case <-c.plain.done:
	}
	return errors.Join(io.EOF, conn.Close())
}

func (c *sniffedConn) Write(p []byte) (int, error) {
	if c.handedOver.Load() {
		return 0, io.ErrClosedPipe
	}
	return c.limitedConn.Write(p)
}

func (c *sniffedConn) Close() error {
	if c.handedOver.Load() {
		return nil
	}
	return c.limitedConn.Close()
}

func (c *sniffedConn) SetDeadline(t time.Time) error {
	if c.handedOver.Load() {
		return nil
	}
	return c.limitedConn.SetDeadline(t)
}

func (c *sniffedConn) SetReadDeadline(t time.Time) error {
	if c.handedOver.Load() {
		return nil
	}
	return c.limitedConn.SetReadDeadline(t)
}

func (c *sniffedConn) SetWriteDeadline(t time.Time) error {
	if c.handedOver.Load() {
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
