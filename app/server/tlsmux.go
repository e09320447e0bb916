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

// tlsMux accepts TLS and plain HTTP connections on one TCP port. Accept returns every connection as a TLS connection.
// If the first byte isn't the start of a TLS handshake, the connection is passed to the plain listener. The first byte
// is read during the handshake, which net/http runs in the goroutine of the connection and limits with
// ReadHeaderTimeout.
type tlsMux struct {
	*limitedListener
	config *tls.Config
	plain  *plainListener
}

func newTLSMux(l *limitedListener, config *tls.Config) *tlsMux {
	return &tlsMux{limitedListener: l, config: config, plain: &plainListener{limitedListener: l, conns: make(chan net.Conn), ended: make(chan struct{})}}
}

func (t *tlsMux) Accept() (net.Conn, error) {
	conn, err := t.limitedListener.Accept()
	if err != nil {
		return nil, err
	}
	limited, ok := conn.(*limitedConn)
	if !ok {
		return conn, nil // not reached: limitedListener returns only *limitedConn
	}
	return tls.Server(&sniffedConn{limitedConn: limited, plain: t.plain}, t.config), nil
}

// plainListener returns the connections of a tlsMux that don't use TLS. Closing it stops only Accept, because the port
// belongs to the tlsMux.
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

// handshake is the content type of the first record of a TLS connection (RFC 8446, section 5.1).
const handshake = 22

// sniffedConn checks the first byte that it reads to detect TLS. After it has passed a plain connection to the plain
// listener, calls by the TLS layer no longer affect that connection.
type sniffedConn struct {
	*limitedConn
	plain      *plainListener
	known      bool // the first byte has been checked; used only by the goroutine of the handshake
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
	// Clear the handshake deadlines so that they don't apply to the plain server.
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

// plainConn is a connection that sniffedConn has passed to the plain listener. Read first returns the bytes that
// sniffedConn has already read.
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
