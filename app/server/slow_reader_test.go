package server

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/config"
)

// A client is too slow if it receives less than the minimum rate, measured over the stall time. Pauses don't matter if
// the rate is high enough. A client that has received everything isn't slow.
func TestPace(t *testing.T) {
	const minRate, stall, never = 1024, 30, 0
	for _, row := range []struct {
		name   string
		bytes  func(second int64) int64 // received in each second; negative: everything that was sent
		tooBad int64                    // the second in which the client is too slow
		slow   bool                     // may be disconnected if the server is full
	}{
		{"reads nothing", func(int64) int64 { return 0 }, 30, true},
		{"200 bytes per second", func(int64) int64 { return 200 }, 38, true},
		{"reads 100 KB and stops", func(s int64) int64 { return max(0, 100<<10-100<<10*min(1, s-1)) }, 31, true},
		{"just above the minimum", func(int64) int64 { return 1100 }, never, true},
		{"64 KB every 25 seconds", func(s int64) int64 { return s / 25 * 25 / max(1, s) * 64 << 10 }, never, false},
		{"256 kbit/s", func(int64) int64 { return 32_000 }, never, false},
		{"10 MB per second", func(int64) int64 { return 10 << 20 }, never, false},
		{"waits for more", func(int64) int64 { return -1 }, never, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var p pace
			total, ended := int64(0), int64(never)
			for second := int64(1); second <= 3600 && ended == never; second++ {
				received := row.bytes(second)
				total += max(0, received)
				p.measure(time.Second, total, received >= 0, minRate)
				if p.behind >= stall*time.Second {
					ended = second
				}
			}
			if ended != row.tooBad || p.isSlow() != row.slow {
				t.Errorf("too slow in second %d, slow %t; want %d, %t", ended, p.isSlow(), row.tooBad, row.slow)
			}
		})
	}
}

// serveSlow starts a server whose connections have send buffers of the given size, and returns the limiter and a function
// that opens a connection. Clients must receive minRate bytes per second, measured over stall.
func serveSlow(
	t *testing.T, buffer int, h http.HandlerFunc, connections int, minRate int64, stall time.Duration,
) (*connLimiter, func() *net.TCPConn) {
	t.Helper()
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	opts := config.Default()
	opts.Limits.Connections, opts.Timeouts.Stall = connections, stall
	limiter := newConnLimiter(opts.Limits, opts.Timeouts, nil)
	limiter.minRate = minRate
	l := newLimitedListener(tcp, limiter)
	server := newServer(Options{Config: opts, Log: slog.New(slog.DiscardHandler)}, h)
	result := make(chan error, 1)
	go func() { result <- server.Serve(bufferListener{l, buffer}) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
		if err := <-result; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve = %v, want http.ErrServerClosed", err)
		}
	})
	return limiter, func() *net.TCPConn {
		conn, err := net.DialTCP("tcp", nil, tcp.Addr().(*net.TCPAddr))
		if err != nil {
			t.Fatalf("dial: %v", err)
		}
		t.Cleanup(func() { _ = conn.Close() }) // usually closed by the server already
		if err := errors.Join(conn.SetReadBuffer(16<<10), conn.SetDeadline(time.Now().Add(30*time.Second))); err != nil {
			t.Fatalf("set up connection: %v", err)
		}
		return conn
	}
}

// bufferListener sets the size of the send buffers of its connections.
type bufferListener struct {
	*limitedListener
	size int
}

func (l bufferListener) Accept() (net.Conn, error) {
	conn, err := l.limitedListener.Accept()
	if err != nil {
		return nil, err
	}
	return conn, conn.(*limitedConn).SetWriteBuffer(l.size)
}

// A client that reads a response more slowly than the minimum rate is disconnected, even if it never stops reading and
// the server writes only small parts. A faster client gets all of it.
func TestSlowReaderIsDisconnected(t *testing.T) {
	const size, minRate, stall = 256 << 10, 32 << 10, time.Second
	content := bytes.Repeat([]byte("x"), size)
	name := filepath.Join(t.TempDir(), "document")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	for _, row := range []struct {
		name string
		send http.HandlerFunc
	}{
		{"one part", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }},
		{"small parts", func(w http.ResponseWriter, _ *http.Request) {
			for at := 0; at < size; at += 512 {
				_, _ = w.Write(content[at : at+512])
			}
		}},
		{"file", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, name) }},
	} {
		for _, fast := range []bool{false, true} {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				_, dial := serveSlow(t, 4<<10, row.send, 100, minRate, stall)
				conn := dial()
				if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
					t.Fatalf("write request: %v", err)
				}
				var got int64
				var err error
				if fast {
					got, err = io.Copy(io.Discard, conn)
				} else {
					got, err = readSlowly(conn)
				}
				if complete := err == nil && got > size; complete != fast {
					t.Errorf("client that reads fast: %t: read %d bytes, then %v; want a complete response: %t", fast, got, err, fast)
				}
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error("the connection is still open")
				}
			})
		}
	}
}

// readSlowly reads about 5 KB per second until the connection ends.
func readSlowly(conn net.Conn) (read int64, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for part := make([]byte, 100); err == nil; <-tick.C {
		var n int
		n, err = conn.Read(part)
		read += int64(n)
	}
	return read, err
}

// If no connection is free and none is idle, the slowest client is disconnected and the new one is served.
func TestSlowestClientMakesSpace(t *testing.T) {
	const connections = 8
	limiter, dial := serveSlow(t, 4<<10, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			_, _ = w.Write(make([]byte, 4<<20))
		}
	}, connections, 1, time.Minute)
	limiter.maxTrusted = connections
	for range connections {
		if _, err := io.WriteString(dial(), "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatalf("write request: %v", err)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		if err := roundTrip(dial(), shortRequest); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("request while all others wait for their clients: %v", err)
		}
	}
}

// Several listeners share a limiter, as with tls.redirect_listen. Time doesn't pass faster for their clients: one that
// receives nothing is disconnected after the stall time, not after half of it.
func TestListenersMeasureOnce(t *testing.T) {
	t.Parallel()
	const stall = 2 * time.Second
	limiter, dial := serveSlow(t, 4<<10, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 4<<20))
	}, 100, 1<<10, stall)
	for range 2 {
		tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatalf("listen: %v", err)
		}
		other := newLimitedListener(tcp, limiter)
		t.Cleanup(func() {
			if err := other.Close(); err != nil {
				t.Errorf("close listener: %v", err)
			}
		})
	}
	begin := time.Now()
	if _, err := io.WriteString(dial(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatalf("write request: %v", err)
	}
	limiter.mu.Lock()
	for limiter.open == 0 {
		limiter.changed.Wait()
	}
	for limiter.open > 0 {
		limiter.changed.Wait()
	}
	limiter.mu.Unlock()
	if took := time.Since(begin); took < stall*3/4 {
		t.Errorf("disconnected after %v, want about %v", took, stall)
	}
}
