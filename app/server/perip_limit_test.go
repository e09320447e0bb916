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

// from is a connection, with its other end.
func from(t *testing.T, l *limitedListener) (other net.Conn, conn *limitedConn) {
	t.Helper()
	other, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return other, accepted.(*limitedConn)
}

func TestPlaces(t *testing.T) {
	c := newConnLimiter(config.Default().Limits, []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")})
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
		place := c.addressGroupOf(netip.MustParseAddr(row.address))
		if place == trustedGroup != (row.place == "") || place != trustedGroup && place.String() != row.place {
			t.Errorf("%s: %s", row.address, place)
		}
	}
	if place := c.addressGroupOf(netip.Addr{}); place != trustedGroup {
		t.Errorf("no address is %s", place)
	}
}

// crowded is a server with a limit of connections. As an address, this machine has its part
// of them, and a number (most) without a request; else it has three quarters.
func crowded(t *testing.T, most, connections int, address bool) (*limitedListener, func() net.Conn) {
	t.Helper()
	l := limitedTCP(t, connections)
	l.limiter.maxIdlePerAddress, l.limiter.loopback = most, address
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
		if n := len(l.limiter.groups); n != 0 || len(l.limiter.slots) != 0 || l.limiter.pending != 0 {
			t.Errorf("connections of %d addresses are still counted, %d slots are taken, %d wait", n, len(l.limiter.slots), l.limiter.pending)
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

// ask sends one request and reads the response.
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

// closed reports whether the server has closed a connection. It doesn't close one that is open.
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
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// accepted waits until the listener has n connections.
func (l *limitedListener) accepted(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); len(l.limiter.slots) != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections, want %d", len(l.limiter.slots), n)
		}
	}
}

// waits returns when a connection waits for a slot.
func (l *limitedListener) waits(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		l.limiter.mu.Lock()
		waits := l.limiter.pending == 1
		l.limiter.mu.Unlock()
		if waits {
			return
		}
		if time.Now().After(end) {
			t.Fatal("none waits for a slot")
		}
	}
}

func TestCrowd(t *testing.T) {
	l, dial := crowded(t, 3, 1000, true)
	accepted := func(n int) { l.accepted(t, n) }
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

// endless starts a request and never sends its body.
func endless(t *testing.T, conn net.Conn) net.Conn {
	t.Helper()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 100 {
		t.Fatal(answer, err)
	}
	return conn
}

// Requests that never end hold no more than their address's part of all connections;
// one that says nothing makes room first.
func TestCrowdOfRequests(t *testing.T) {
	_, dial := crowded(t, 3, 4*4, true)
	var busy []net.Conn
	begin := func() {
		t.Helper()
		busy = append(busy, endless(t, dial()))
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

// More idle connections of this machine than there are slots keep no one out: it has its
// part, of which the oldest without a request are closed, and the rest is free for others.
func TestCrowdOfThisMachine(t *testing.T) {
	const connections, idle = 1024, 1100
	l, dial := crowded(t, 128, connections, false)
	busy := endless(t, dial())
	var silent []net.Conn
	for range idle {
		silent = append(silent, dial())
	}
	l.accepted(t, connections*3/4)
	if err := ask(dial(), short); err != nil {
		t.Errorf("a request beside them: %v", err)
	}
	gone := idle + 2 - connections*3/4 // the busy one and the new one stay
	for _, at := range []int{0, gone - 1} {
		if !isClosed(t, silent[at], true) {
			t.Errorf("number %d stays", at)
		}
	}
	for _, at := range []int{gone, idle - 1} {
		if isClosed(t, silent[at], false) {
			t.Errorf("number %d was closed", at)
		}
	}
	if err := ask(busy, "ok"); err != nil {
		t.Errorf("the one at work: %v", err)
	}
}

// When all slots are taken, the oldest connection without a request makes way, of the
// address that has the most of them. Where there is none, the first one whose request ends.
func TestCrowdMakesWay(t *testing.T) {
	l, dial := crowded(t, 3, 5, false)
	l.limiter.maxTrusted = 6 // more than there are, so that it's never closed for its part
	// One of another address, idle and older than all others.
	elsewhere, _ := from(t, limitedTCP(t, 1))
	other := &limitedConn{TCPConn: elsewhere.(*net.TCPConn), limiter: l.limiter, hasSlot: true, group: netip.MustParsePrefix("192.0.2.1/32"), counted: true}
	l.limiter.groups[other.group] = &connGroup{open: 1}
	l.limiter.slots <- struct{}{}
	l.limiter.markIdle(other)

	first, second, third := endless(t, dial()), dial(), dial()
	l.accepted(t, 4)
	fourth := endless(t, dial())
	fifth := endless(t, dial())
	if !isClosed(t, second, true) {
		t.Error("the oldest of the fullest address stays")
	}
	sixth := endless(t, dial())
	if _, err := other.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the oldest of all stays: %v", err)
	}
	endless(t, third) // now each one has a request
	last, answered := dial(), make(chan error)
	go func() { answered <- ask(last, short) }()
	l.waits(t)
	if err := ask(first, "ok"); err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
	for _, conn := range []net.Conn{third, fourth, fifth, sixth} {
		if err := ask(conn, "ok"); err != nil {
			t.Errorf("one at work: %v", err)
		}
	}
}

// A closed connection no longer counts, even if its state is reported again.
func TestCrowdForgetsTheClosed(t *testing.T) {
	l := limitedTCP(t, 4)
	defer l.Close()
	l.limiter.loopback = true
	other, conn := from(t, l)
	if conn.idleElement == nil || len(l.limiter.groups) != 1 {
		t.Fatal(l.limiter.groups)
	}
	if err := errors.Join(conn.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	trackState(conn, http.StateIdle)
	if len(l.limiter.groups) != 0 {
		t.Error(l.limiter.groups)
	}
}
