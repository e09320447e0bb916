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

// tlsMux accepts TLS and plain HTTP on one TCP port. Its Accept returns every connection as
// TLS. If the first byte isn't that of a TLS handshake, the connection is passed to the
// listener plain instead. The first byte is read as part of the handshake, so in the
// connection's goroutine of net/http and within ReadHeaderTimeout.
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
		return conn, nil // limitedListener returns no other type
	}
	return tls.Server(&sniffedConn{limitedConn: limited, plain: s.plain}, s.config), nil
}

// plainListener accepts the connections of a tlsMux that don't use TLS. Close ends only
// Accept; the tlsMux owns the port.
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

// handshake is the type of the first TLS record (RFC 8446, section 5.1).
const handshake = 22

// sniffedConn reads the first byte of a connection to detect TLS. After a plain connection
// is handed over, all calls of the TLS layer have no effect on it.
type sniffedConn struct {
	*limitedConn
	plain      *plainListener
	known      bool // the first byte has been read; only the goroutine of the handshake uses it
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
	// The deadlines of the handshake must not affect the plain server.
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

// plainConn is a handed-over connection. Read returns the bytes that were read for the detection first.
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
