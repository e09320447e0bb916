//go:build harness && linux

package cmd

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/vaulttest/client"
)

// slowReaders are clients from four addresses that send requests without waiting and don't read, or hardly read, the
// responses.
type slowReaders struct {
	conns  []net.Conn
	reads  sync.WaitGroup
	closed chan struct{}
}

const (
	slowConnections = 760
	slowRequests    = 20 // on each connection
)

// openSlowReaders opens the connections and sends the requests.
func openSlowReaders(t *testing.T, p *serverProcess, path, headers string) *slowReaders {
	t.Helper()
	address, err := url.Parse(p.url)
	if err != nil {
		t.Fatalf("parse address: %v", err)
	}
	s := &slowReaders{closed: make(chan struct{})}
	t.Cleanup(s.close)
	requests := strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: "+address.Host+"\r\n"+headers+"\r\n", slowRequests)
	for i := range slowConnections {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%4))}, Timeout: 10 * time.Second}
		conn, err := dialer.DialContext(t.Context(), "tcp", address.Host)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		s.conns = append(s.conns, conn)
		if _, err := io.WriteString(conn, requests); err != nil {
			t.Fatalf("write on connection %d: %v", i, err)
		}
	}
	return s
}

// readSlowly reads rate bytes per second from each connection until the connection ends.
func (s *slowReaders) readSlowly(rate int) {
	for _, conn := range s.conns {
		s.reads.Go(func() {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for part := make([]byte, rate); ; {
				if _, err := io.ReadFull(conn, part); err != nil {
					return
				}
				select {
				case <-tick.C:
				case <-s.closed:
					return
				}
			}
		})
	}
}

// openConnections returns the number of connections of slow readers that the server has open. A client can't tell, because it first
// reads what its own system has received.
func openConnections(t *testing.T, p *serverProcess) (open int) {
	t.Helper()
	address, err := url.Parse(p.url)
	if err != nil {
		t.Fatalf("parse address: %v", err)
	}
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		t.Fatalf("parse port: %v", err)
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	const established, honest = "01", "0100007F:" // see the man page proc_pid_net(5); the others have other addresses
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) && f[3] == established && !strings.HasPrefix(f[2], honest) {
			open++
		}
	}
	return open
}

func (s *slowReaders) close() {
	select {
	case <-s.closed:
		return
	default:
		close(s.closed)
	}
	for _, conn := range s.conns {
		_ = conn.Close() // usually closed by the server already
	}
	s.reads.Wait()
}

// honestClient requests addresses in turn for the given time, each on a new connection, and returns how long the
// requests took.
func honestClient(t *testing.T, p *serverProcess, duration time.Duration, paths ...string) []time.Duration {
	t.Helper()
	c := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var took []time.Duration
	for start, i := time.Now(), 0; time.Since(start) < duration; i++ {
		since := time.Now()
		resp, err := c.Get(p.url + paths[i%len(paths)])
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			err = errors.Join(err, resp.Body.Close())
		}
		if err != nil {
			t.Errorf("request %d of an honest client: %v after %v", i, err, time.Since(since))
		} else if resp.StatusCode != http.StatusOK {
			t.Errorf("request %d of an honest client: status %d, want 200", i, resp.StatusCode)
		}
		took = append(took, time.Since(since))
		time.Sleep(20 * time.Millisecond) // the rate of a client, not a wait for a result
	}
	return took
}

// Clients that send requests and don't read the responses cost the other clients neither time nor connections, and the
// server little memory. The responses are the largest that the server sends without a sign-in, and a list of an API
// client.
func TestSlowReaders(t *testing.T) {
	const (
		maxGrowth = 150 << 20
		// The memory limit of the server: it creates lists for a client with a key as fast as it can.
		maxGrowthWithKey = 192 << 20
		maxP99           = time.Second
	)
	asset := func(p *serverProcess) string {
		resp, err := http.Get(p.url + "/docs")
		if err != nil {
			t.Fatalf("get /docs: %v", err)
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		page, err := io.ReadAll(resp.Body)
		found := regexp.MustCompile(`"(/assets/[^"]*swagger-ui\.js)"`).FindSubmatch(page)
		if err != nil || found == nil {
			t.Fatalf("page /docs: %v, no script in %s", err, page)
		}
		return string(found[1])
	}
	for _, row := range []struct {
		name, path, headers string
		withKey             bool
	}{
		{name: "description of the API", path: "/openapi.json"},
		{name: "page", path: "/sign-in"},
		{name: "script"},
		{name: "compressed script", headers: "Accept-Encoding: gzip\r\n"},
		{name: "list", path: "/v1/abstracts", withKey: true},
		{name: "compressed list", path: "/v1/abstracts", headers: "Accept-Encoding: gzip\r\n", withKey: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := startServer(t, shortDataDir(t))
			createOwner(t, p)
			if row.path == "" {
				row.path = asset(p)
			}
			if row.withKey {
				key := p.createKey(t, "slow")
				createLongAbstracts(t, p, key)
				row.headers += "Authorization: Bearer " + key + "\r\n"
			}
			honestClient(t, p, time.Second, "/healthz", "/sign-in", "/openapi.json")
			pid := p.process.Process.Pid
			peakMemory(t, pid)
			before := peakMemory(t, pid)
			started := time.Now()
			openSlowReaders(t, p, row.path, row.headers)
			opened := time.Since(started)
			// A full server needs two seconds and some measurements to tell which clients are slow, and a request may
			// wait for that. After it, readers must cost other clients no time.
			var p99 time.Duration
			for window := 1; window <= 3; window++ {
				took := honestClient(t, p, 4*time.Second, "/healthz", "/sign-in", "/openapi.json")
				slices.Sort(took)
				p99 = took[len(took)*99/100]
				t.Logf("slow readers sent after %v; %d honest requests: median %v, p99 %v, at most %v",
					opened, len(took), took[len(took)/2], p99, took[len(took)-1])
				if p99 <= maxP99 {
					break
				}
			}
			peak := peakMemory(t, pid)
			t.Logf("%d MB before, peak of %d MB", before>>20, peak>>20)
			limit := maxGrowth
			if row.withKey {
				limit = maxGrowthWithKey
			}
			if grown := peak - before; grown > limit {
				t.Errorf("resident memory grew by %d MB, want at most %d MB", grown>>20, limit>>20)
			}
			if p99 > maxP99 {
				t.Errorf("99%% of the honest requests took up to %v, want at most %v", p99, maxP99)
			}
		})
	}
}

// A client that reads less than the minimum rate is disconnected, even if it always reads a little.
func TestSlowReadersEnd(t *testing.T) {
	p := startServer(t, shortDataDir(t))
	key := p.createKey(t, "slow")
	createLongAbstracts(t, p, key)
	readers := openSlowReaders(t, p, "/v1/abstracts", "Authorization: Bearer "+key+"\r\n")
	readers.readSlowly(200)
	if n := openConnections(t, p); n < slowConnections/2 {
		t.Fatalf("%d connections are open at first, want most of %d", n, slowConnections)
	}
	const within = time.Minute
	for deadline := time.Now().Add(within); openConnections(t, p) > 0; time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d connections that read 200 bytes per second are open after %v, want 0",
				openConnections(t, p), slowConnections, within)
		}
	}
}

// createOwner creates the first user, without whom the server has no page for signing in.
func createOwner(t *testing.T, p *serverProcess) {
	t.Helper()
	password := func(s *shell) { s.in = strings.NewReader("wexcombe county deeds since 1911\n") }
	got := runCLI(t.Context(), t, password, "users", "create", "Owner", "--role", "admin", "--password-stdin", "--data", p.data)
	if got.code != 0 {
		t.Fatalf("users create: got %+v, want exit code 0", got)
	}
}

// createLongAbstracts creates abstracts that fill a page of the list with about 250 KB.
func createLongAbstracts(t *testing.T, p *serverProcess, key string) {
	t.Helper()
	c, long := client.New(p.url, key, nil), strings.Repeat("Wexcombe ", 220)
	for i := range 25 {
		draft := client.AbstractDraft{Address: long, City: long, County: long, State: long, TaxMap: fmt.Sprint(long, i)}
		if _, err := c.CreateAbstract(t.Context(), draft); err != nil {
			t.Fatalf("create abstract %d: %v", i, err)
		}
	}
}
