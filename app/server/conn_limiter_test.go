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

// acceptConn dials the listener and returns the client's and the server's end of the
// connection.
func acceptConn(t *testing.T, l *limitedListener) (remote net.Conn, conn *limitedConn) {
	t.Helper()
	remote, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = remote.Close() })
	accepted, err := l.Accept()
	if err != nil {
		t.Fatalf("accept: %v", err)
	}
	return remote, accepted.(*limitedConn)
}

func TestAddressGroupOf(t *testing.T) {
	defaults, trusted := config.Default(), []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}
	c := newConnLimiter(defaults.Limits, defaults.Timeouts, trusted)
	for _, row := range []struct{ address, group string }{ // an empty group is trustedGroup
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
		t.Run(row.address, func(t *testing.T) {
			group := c.addressGroupOf(netip.MustParseAddr(row.address))
			if group == trustedGroup != (row.group == "") || group != trustedGroup && group.String() != row.group {
				t.Errorf("addressGroupOf(%s) = %s, want %q", row.address, group, row.group)
			}
		})
	}
	if group := c.addressGroupOf(netip.Addr{}); group != trustedGroup {
		t.Errorf("addressGroupOf(netip.Addr{}) = %s, want trustedGroup", group)
	}
}

// serveLimited starts a server with a limited number of connections and returns its listener
// and a function that opens a connection. If limitLoopback is set, this machine may have up to
// maxIdle idle connections, like any other address. Otherwise, it may use up to three quarters
// of all connections.
func serveLimited(t *testing.T, maxIdle, connections int, limitLoopback bool) (*limitedListener, func() net.Conn) {
	t.Helper()
	l := limitedTCP(t, connections)
	l.limiter.maxIdlePerAddress, l.limiter.loopback = maxIdle, limitLoopback
	opts := Options{Config: config.Default(), Log: slog.New(slog.DiscardHandler)}
	opts.Config.Timeouts.Header = 20 * time.Second
	server := newServer(opts, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the client sees an error
	}))
	result := make(chan error, 1)
	go func() { result <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close()); err != nil {
			t.Errorf("close server: %v", err)
		}
		if err := <-result; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve = %v, want http.ErrServerClosed", err)
		}
		if n := len(l.limiter.groups); n != 0 || l.limiter.openCount() != 0 {
			t.Errorf("after Close: got %d groups and %d connections, want 0", n, l.limiter.openCount())
		}
	})
	return l, func() net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatalf("dial: %v", err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatalf("set deadline: %v", err)
		}
		return conn
	}
}

// roundTrip sends a request and returns an error if the status of the response is not 200.
func roundTrip(conn net.Conn, request string) error {
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return err
}

const shortRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// isClosed reports whether the server has closed a connection. It waits up to 10 seconds if
// wantClosed is set, and 50 ms otherwise. The client's end stays open.
func isClosed(t *testing.T, conn net.Conn, wantClosed bool) bool {
	t.Helper()
	timeout := 50 * time.Millisecond
	if wantClosed {
		timeout = 10 * time.Second
	}
	if err := conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatalf("set read deadline: %v", err)
	}
	_, err := conn.Read(make([]byte, 1))
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatalf("set read deadline: %v", err)
	}
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// openCount returns the number of open connections.
func (c *connLimiter) openCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// waitOpen waits until the listener has n open connections.
func (l *limitedListener) waitOpen(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); l.limiter.openCount() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %d connections after 10 seconds, want %d", l.limiter.openCount(), n)
		}
	}
}

// waitsForSlot is enough time for a new connection to reach the limiter, which lets it wait.
const waitsForSlot = 50 * time.Millisecond

// When an address exceeds its limit of idle connections, its oldest ones are closed. A
// connection with a request in progress isn't idle.
func TestIdleConnectionsAreClosed(t *testing.T) {
	l, dial := serveLimited(t, 3, 1000, true)
	waitOpen := func(n int) { l.waitOpen(t, n) }
	unused, idle, active := dial(), dial(), dial()
	waitOpen(3)
	if err := roundTrip(idle, shortRequest); err != nil {
		t.Fatalf("request: %v", err)
	}
	// The server has read only the header of the request, so the request is in progress and the
	// connection isn't idle.
	startRequest(t, active)
	third := dial()
	waitOpen(4)
	fourth := dial()
	if !isClosed(t, unused, true) {
		t.Error("the oldest idle connection is still open")
	}
	waitOpen(4)
	for name, conn := range map[string]net.Conn{"idle": idle, "third": third, "fourth": fourth} {
		if isClosed(t, conn, false) {
			t.Errorf("connection %q was closed", name)
		}
	}
	for range 3 { // each new connection gets a response, and an older idle connection is closed
		if err := roundTrip(dial(), shortRequest); err != nil {
			t.Errorf("request on a new connection: %v", err)
		}
	}
	if !isClosed(t, idle, true) || !isClosed(t, third, true) || !isClosed(t, fourth, true) {
		t.Error("an older idle connection is still open")
	}
	if err := roundTrip(active, "ok"); err != nil {
		t.Errorf("complete the request in progress: %v", err)
	}
}

// startRequest sends the header of a request with a two-byte body and waits until the server
// asks for the body.
func startRequest(t *testing.T, conn net.Conn) net.Conn {
	t.Helper()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"); err != nil {
		t.Fatalf("write request header: %v", err)
	}
	if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 100 {
		t.Fatalf("read response: got %v, %v, want status 100", resp, err)
	}
	return conn
}

// Requests that never complete can't use more connections than the limit of their address. When
// the limit is reached, an idle connection of the address is closed first.
func TestConnectionsPerAddressLimit(t *testing.T) {
	_, dial := serveLimited(t, 3, 4*4, true)
	var active []net.Conn
	startOne := func() {
		t.Helper()
		active = append(active, startRequest(t, dial()))
	}
	startOne()
	startOne()
	startOne()
	unused := dial()
	startOne() // closes the idle connection
	if !isClosed(t, unused, true) {
		t.Error("the idle connection is still open")
	}
	for range 20 {
		if !isClosed(t, dial(), true) {
			t.Fatal("an address has more connections than its limit")
		}
	}
	if err := active[0].Close(); err != nil {
		t.Fatalf("close connection: %v", err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		if err := roundTrip(dial(), shortRequest); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("request after a connection was closed: %v", err)
		}
	}
	for _, conn := range active[1:] {
		if err := roundTrip(conn, "ok"); err != nil {
			t.Errorf("complete a request in progress: %v", err)
		}
	}
}

// Even if this machine opens more idle connections than there are slots, other clients aren't
// blocked: when this machine exceeds its limit, its oldest idle connections are closed and the
// other slots stay free.
func TestIdleConnectionsOfThisMachine(t *testing.T) {
	const connections, idle = 1024, 1100
	l, dial := serveLimited(t, 128, connections, false)
	active := startRequest(t, dial())
	var unused []net.Conn
	for range idle {
		unused = append(unused, dial())
	}
	l.waitOpen(t, connections*3/4)
	if err := roundTrip(dial(), shortRequest); err != nil {
		t.Errorf("request with %d idle connections: %v", idle, err)
	}
	closed := idle + 2 - connections*3/4 // the active connection and the newest one stay open
	for _, i := range []int{0, closed - 1} {
		if !isClosed(t, unused[i], true) {
			t.Errorf("idle connection %d is still open", i)
		}
	}
	for _, i := range []int{closed, idle - 1} {
		if isClosed(t, unused[i], false) {
			t.Errorf("idle connection %d was closed", i)
		}
	}
	if err := roundTrip(active, "ok"); err != nil {
		t.Errorf("complete the request in progress: %v", err)
	}
}

// When no slot is free, the oldest idle connection of the address with the most idle
// connections is closed. If no connection is idle, a new connection waits until a request
// completes.
func TestConnectionsWithoutFreeSlot(t *testing.T) {
	l, dial := serveLimited(t, 3, 5, false)
	l.limiter.maxTrusted = 6 // higher than the number of slots, so this limit never applies
	// The connection of the other address has been idle longer than all others.
	otherConn, _ := acceptConn(t, limitedTCP(t, 1))
	remote := &limitedConn{TCPConn: otherConn.(*net.TCPConn), limiter: l.limiter, group: netip.MustParsePrefix("192.0.2.1/32"), counted: true}
	l.limiter.groups[remote.group] = &connGroup{conns: map[*limitedConn]struct{}{remote: {}}}
	l.limiter.open++
	l.limiter.setIdle(remote, true)

	first, second, third := startRequest(t, dial()), dial(), dial()
	l.waitOpen(t, 4)
	fourth := startRequest(t, dial())
	fifth := startRequest(t, dial())
	if !isClosed(t, second, true) {
		t.Error("the oldest idle connection of the address with the most is still open")
	}
	sixth := startRequest(t, dial())
	if _, err := remote.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read from the oldest idle connection: got %v, want net.ErrClosed", err)
	}
	startRequest(t, third) // now every connection has a request in progress
	last, responded := dial(), make(chan error)
	go func() { responded <- roundTrip(last, shortRequest) }()
	time.Sleep(waitsForSlot)
	if err := roundTrip(first, "ok"); err != nil {
		t.Errorf("complete the first request: %v", err)
	}
	if err := <-responded; err != nil {
		t.Errorf("request that waited for a slot: %v", err)
	}
	for _, conn := range []net.Conn{third, fourth, fifth, sixth} {
		if err := roundTrip(conn, "ok"); err != nil {
			t.Errorf("complete a request in progress: %v", err)
		}
	}
}

// A closed connection is no longer counted, even if its state is reported again.
func TestClosedConnectionIsNotCounted(t *testing.T) {
	l := limitedTCP(t, 4)
	defer l.Close()
	l.limiter.loopback = true
	remote, conn := acceptConn(t, l)
	if conn.idleElement == nil || len(l.limiter.groups) != 1 {
		t.Fatalf("new connection: idle element %v, groups %v, want one group with it", conn.idleElement, l.limiter.groups)
	}
	if err := errors.Join(conn.Close(), remote.Close()); err != nil {
		t.Fatalf("close both ends: %v", err)
	}
	trackState(conn, http.StateIdle)
	if len(l.limiter.groups) != 0 {
		t.Errorf("after Close: got groups %v, want none", l.limiter.groups)
	}
}
