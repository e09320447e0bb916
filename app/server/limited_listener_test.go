package server

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"deedkeep/app/config"
)

func limitedTCP(t *testing.T, connections int) *limitedListener {
	t.Helper()
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return newLimitedListener(tcp, newConnLimiter(config.Limits{ConnectionsPerAddress: 1, Connections: connections}, nil))
}

// net/http sends by sendfile only through a connection that has a ReadFrom.
func TestLimitKeepsReadFrom(t *testing.T) {
	l := limitedTCP(t, 1)
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := conn.(io.ReaderFrom); !ok {
		t.Errorf("%T has no ReadFrom", conn)
	}
	// Closed twice, it gives back one slot.
	if err := errors.Join(conn.Close(), near.Close()); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err == nil || len(l.limiter.slots) != 0 {
		t.Errorf("closed again: %v, %d slots taken", err, len(l.limiter.slots))
	}
}

// Close ends an Accept that waits for a slot.
func TestLimitEnds(t *testing.T) {
	l := limitedTCP(t, 1)
	l.limiter.slots <- struct{}{}
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	l.waits(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Accept still waits")
	}
}
