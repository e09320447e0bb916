//go:build harness && linux

package cmd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/memory"
)

const (
	floodAddresses = 200 // each tries a password again as soon as it has a response
	floodAttempts  = 25  // maximum number of attempts of each address
	floodMemory    = 120 << 20
)

// floodClient returns a client with cookies that connects from a loopback address.
func floodClient(t *testing.T, address string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatalf("create cookie jar: %v", err)
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Jar: jar, Transport: &http.Transport{DialContext: dialer.DialContext}, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// trySignIn tries a password and returns the status and how long the response took.
func (p *serverProcess) trySignIn(t *testing.T, c *http.Client, name, password string) (status int, took time.Duration) {
	t.Helper()
	start := time.Now()
	resp, err := c.PostForm(p.url+"/sign-in", url.Values{"name": {name}, "password": {password}})
	if err != nil {
		t.Errorf("sign in as %s: %v", name, err)
		return 0, time.Since(start)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end below
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("read response: %v", err)
	}
	return resp.StatusCode, time.Since(start)
}

// While 200 addresses try passwords, a user signs in from an address that the server knows, usually
// within two seconds, sessions keep working, and the memory of the server stays bounded. Afterward,
// the server returns the memory. A single sign-in may take longer: it syncs a session, and other
// tests use the disk.
func TestSignInFlood(t *testing.T) {
	const password = "a long walk to the courthouse"
	server := startServer(t, shortDataDir(t))
	withPassword := func(s *shell) { s.in = strings.NewReader(password + "\n") }
	got := runCLI(t.Context(), t, withPassword, "users", "create", "owner", "--role", "admin", "--password-stdin", "--data", server.data)
	if got.code != 0 {
		t.Fatalf("users create: got %+v, want exit code 0", got)
	}
	office := floodClient(t, "127.0.0.2")
	if status, _ := server.trySignIn(t, office, "owner", password); status != http.StatusSeeOther {
		t.Fatalf("first sign-in: got %d, want 303", status)
	}
	anonymous := func() int64 { return memory.Of(server.process.Process.Pid).Anonymous }
	before := anonymous()
	var flood, watch sync.WaitGroup
	var ended atomic.Bool
	var mu sync.Mutex
	statuses, longest := map[int]int{}, time.Duration(0)
	for i := range floodAddresses {
		c := floodClient(t, fmt.Sprintf("127.0.1.%d", i+1))
		flood.Go(func() {
			for n := 0; n < floodAttempts && !ended.Load(); n++ {
				status, took := server.trySignIn(t, c, fmt.Sprintf("user %d", n), "wrong password")
				mu.Lock()
				statuses[status]++
				longest = max(longest, took)
				mu.Unlock()
			}
		})
	}
	count := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range statuses {
			n += c
		}
		return n
	}
	for count() < 20 { // the flood is at work
		time.Sleep(10 * time.Millisecond)
	}
	peak := int64(0)
	var pages []time.Duration
	watch.Go(func() {
		for !ended.Load() {
			start := time.Now()
			resp, err := office.Get(server.url + "/orders")
			if err != nil {
				t.Errorf("get a page: %v", err)
				return
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("page of a session: got %d, %v, want 200", resp.StatusCode, err)
			}
			_ = resp.Body.Close() // read to its end
			pages = append(pages, time.Since(start))
			peak = max(peak, anonymous())
			time.Sleep(20 * time.Millisecond)
		}
	})
	var known []time.Duration
	for range 8 {
		status, took := server.trySignIn(t, floodClient(t, "127.0.0.2"), "owner", password)
		if known = append(known, took); status != http.StatusSeeOther {
			t.Errorf("right password from a known address: got %d after %v, want 303", status, took)
		}
	}
	slices.Sort(known)
	if median := known[len(known)/2]; median > 2*time.Second {
		t.Errorf("right password from a known address: took %v, want a median of at most 2s", known)
	}
	newcomer, tries, status := time.Now(), 0, 0
	for c := floodClient(t, "127.0.0.3"); status != http.StatusSeeOther && time.Since(newcomer) < time.Minute; tries++ {
		status, _ = server.trySignIn(t, c, "owner", password)
	}
	newcomerTook := time.Since(newcomer)
	ended.Store(true)
	flood.Wait()
	watch.Wait()
	slices.Sort(pages)
	p99 := pages[len(pages)*99/100]
	after := anonymous()
	for start := time.Now(); after > before+30<<20 && time.Since(start) < 30*time.Second; after = anonymous() {
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("flood %v, longest %v; known %v; new address %d after %v (%d tries)", statuses, longest, known, status, newcomerTook, tries)
	t.Logf("%d pages, p50 %v, p99 %v; memory %d MB, peak %d MB, after %d MB",
		len(pages), pages[len(pages)/2], p99, before>>20, peak>>20, after>>20)
	if status != http.StatusSeeOther {
		t.Errorf("right password from a new address: got %d after %v, want 303", status, newcomerTook)
	}
	if p99 > time.Second {
		t.Errorf("pages of a session: p99 %v, want at most 1s", p99)
	}
	if peak > before+floodMemory || after > before+30<<20 {
		t.Errorf("memory: %d MB before, peak %d MB, %d MB after; want at most %d MB and 30 MB more",
			before>>20, peak>>20, after>>20, floodMemory>>20)
	}
}
