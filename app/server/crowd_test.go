package server

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"

	"deedkeep/app/config"
)

// from is a connection whose other end is said to be elsewhere.
func from(t *testing.T, l *limited, address string) (near net.Conn, conn *limitedConn, place netip.Prefix, counts bool) {
	t.Helper()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close() })
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	conn = accepted.(*limitedConn)
	place, counts = l.crowd.placeOf(netip.MustParseAddr(address))
	return near, conn, place, counts
}

func TestPlaces(t *testing.T) {
	c := newCrowd(1, 1000, []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")})
	for _, row := range []struct{ address, place string }{
		{"127.0.0.1", ""},
		{"::1", ""},
		{"::ffff:127.0.0.1", ""},
		{"10.1.2.3", ""},
		{"::ffff:10.1.2.3", ""},
		{"fd12::1", ""},
		{"10.2.2.3", "10.2.2.3/32"},
		{"::ffff:10.2.2.3", "10.2.2.3/32"},
		{"2001:db8:1:2:3::4", "2001:db8:1:2::/64"},
		{"fe80::1%eth0", "fe80::/64"},
	} {
		place, counts := c.placeOf(netip.MustParseAddr(row.address))
		if counts != (row.place != "") || counts && place.String() != row.place {
			t.Errorf("%s: %s, %v", row.address, place, counts)
		}
	}
	if _, counts := c.placeOf(netip.Addr{}); counts {
		t.Error("no address counts")
	}
}

// Everybody counts in these tests, this machine too; one address has its part of so
// many connections.
func crowded(t *testing.T, most, connections int) (*limited, func() net.Conn) {
	t.Helper()
	l := limitedTCP(t, 64)
	l.crowd = newCrowd(most, connections, nil)
	l.crowd.loopback = true
	opts := Options{Config: config.Default(), Log: slog.New(slog.DiscardHandler)}
	opts.Config.Timeouts.Header = 20 * time.Second
	server := newServer(opts, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // The test sees how it ends.
	}))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close()); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		if n := len(l.crowd.waiting); n != 0 {
			t.Errorf("%d addresses are still counted", n)
		}
		if n := len(l.crowd.open); n != 0 {
			t.Errorf("connections of %d addresses are still counted", n)
		}
	})
	return l, func() net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
}

// ask sends one request and reads its answer.
func ask(conn net.Conn, request string) error {
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return err
}

const short = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// closed says whether the server has closed a connection; one that is open stays so.
func isClosed(t *testing.T, conn net.Conn, now bool) bool {
	t.Helper()
	patience := 50 * time.Millisecond
	if now {
		patience = 10 * time.Second
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Read(make([]byte, 1))
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestCrowd(t *testing.T) {
	l, dial := crowded(t, 3, 1000)
	accepted := func(n int) {
		t.Helper()
		n++ // the slot of the next one
		for end := time.Now().Add(10 * time.Second); len(l.slots) != n; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d connections, want %d", len(l.slots), n)
			}
		}
	}
	silent, idle, busy := dial(), dial(), dial()
	accepted(3)
	if err := ask(idle, short); err != nil {
		t.Fatal(err)
	}
	// Its head is there, its body is not: it is at work, and counts no more.
	if _, err := io.WriteString(busy, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := http.ReadResponse(bufio.NewReader(busy), nil); err != nil || answer.StatusCode != 100 {
		t.Fatal(answer, err)
	}
	third := dial()
	accepted(4)
	fourth := dial()
	if !isClosed(t, silent, true) {
		t.Error("the oldest that says nothing stays")
	}
	accepted(4)
	for name, conn := range map[string]net.Conn{"idle": idle, "third": third, "fourth": fourth} {
		if isClosed(t, conn, false) {
			t.Errorf("%s was closed", name)
		}
	}
	for range 3 { // each of them is answered, and pushes an older one out
		if err := ask(dial(), short); err != nil {
			t.Error(err)
		}
	}
	if !isClosed(t, idle, true) || !isClosed(t, third, true) || !isClosed(t, fourth, true) {
		t.Error("an older one stays")
	}
	if err := ask(busy, "ok"); err != nil {
		t.Errorf("the one at work: %v", err)
	}
}

// Requests that never end hold no more than their address's part of all connections;
// one that says nothing makes room first.
func TestCrowdOfRequests(t *testing.T) {
	_, dial := crowded(t, 3, 4*4)
	const endless = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
	var busy []net.Conn
	begin := func() {
		t.Helper()
		conn := dial()
		if _, err := io.WriteString(conn, endless); err != nil {
			t.Fatal(err)
		}
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 100 {
			t.Fatal(answer, err)
		}
		busy = append(busy, conn)
	}
	begin()
	begin()
	begin()
	silent := dial()
	begin() // in place of that
	if !isClosed(t, silent, true) {
		t.Error("the one that says nothing stays")
	}
	for range 20 {
		if !isClosed(t, dial(), true) {
			t.Fatal("one address has more than its part")
		}
	}
	if err := busy[0].Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; {
		if err := ask(dial(), short); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatalf("a place that is free again: %v", err)
		}
	}
	for _, conn := range busy[1:] {
		if err := ask(conn, "ok"); err != nil {
			t.Error(err)
		}
	}
}

// A connection that was closed is counted no more, whatever is told of it later.
func TestCrowdForgetsTheClosed(t *testing.T) {
	l := limitedTCP(t, 4)
	defer l.Close()
	l.crowd.loopback = true
	near, conn, _, _ := from(t, l, "127.0.0.1")
	if len(l.crowd.waiting) != 1 {
		t.Fatal(l.crowd.waiting)
	}
	if err := errors.Join(conn.Close(), near.Close()); err != nil {
		t.Fatal(err)
	}
	watch(conn, http.StateIdle)
	if len(l.crowd.waiting) != 0 {
		t.Error(l.crowd.waiting)
	}
}
