package server

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"deedkeep/app/config"
)

// limitedTCP listens on a free port of this machine and limits the number of connections.
func limitedTCP(t *testing.T, connections int) *limitedListener {
	t.Helper()
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	limits := config.Limits{ConnectionsPerAddress: 1, Connections: connections}
	return newLimitedListener(tcp, newConnLimiter(limits, config.Default().Timeouts, nil))
}

// Connections implement io.ReaderFrom. Otherwise, net/http doesn't use sendfile.
func TestLimitedConnImplementsReaderFrom(t *testing.T) {
	l := limitedTCP(t, 1)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatalf("accept: %v", err)
	}
	if _, ok := conn.(io.ReaderFrom); !ok {
		t.Errorf("%T has no ReadFrom", conn)
	}
	// Closing a connection twice is counted once.
	if err := errors.Join(conn.Close(), client.Close()); err != nil {
		t.Fatalf("close both ends: %v", err)
	}
	if err := conn.Close(); err == nil || l.limiter.openCount() != 0 {
		t.Errorf("second Close = %v with %d connections counted, want an error and 0", err, l.limiter.openCount())
	}
}

// Close interrupts an Accept that waits for a slot.
func TestCloseInterruptsAccept(t *testing.T) {
	l := limitedTCP(t, 1)
	l.limiter.open++
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	defer client.Close()
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	time.Sleep(waitsForSlot)
	if err := l.Close(); err != nil {
		t.Fatalf("close listener: %v", err)
	}
	select {
	case err := <-accepted:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept = %v, want net.ErrClosed", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Accept still waits after Close")
	}
}
