package cmd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// restartedServer is a server in the process of the test, which an administrator uses and restarts.
type restartedServer struct {
	*http.Client
	origin    string
	addresses *bufio.Scanner
	messages  *syncBuffer
	stop      func() int
}

// syncBuffer is a bytes.Buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// waitStarted waits until the server prints its address.
func (s *restartedServer) waitStarted(t *testing.T, want string) {
	t.Helper()
	if !s.addresses.Scan() {
		t.Fatalf("serve ended: %v\n%s", s.addresses.Err(), s.messages)
	}
	s.origin = strings.TrimPrefix(s.addresses.Text(), "listening on ")
	if s.origin != want {
		t.Fatalf("address: got %s, want %s\n%s", s.origin, want, s.messages)
	}
}

// do requests a page, follows redirects, and returns the page. form is nil for GET.
func (s *restartedServer) do(t *testing.T, path string, form url.Values, wants ...string) string {
	t.Helper()
	resp, err := s.Get(s.origin + path)
	if form != nil && err == nil {
		err = resp.Body.Close()
	}
	if form != nil && err == nil {
		resp, err = s.PostForm(s.origin+path, form)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s, %v, want 200\n%s", path, resp.Status, err, body)
	}
	for _, want := range wants {
		if !strings.Contains(string(body), want) {
			t.Errorf("%s at %s: got a page without %q:\n%s", path, resp.Request.URL, want, body)
		}
	}
	return string(body)
}

var seenValue = regexp.MustCompile(`name="seen" value="([0-9a-f]+)"`)

// change stores settings of the group "access" and restarts the server.
func (s *restartedServer) change(t *testing.T, values url.Values) {
	t.Helper()
	const path = "/admin/settings/access"
	values.Set("seen", seenValue.FindStringSubmatch(s.do(t, path, nil))[1])
	s.do(t, path, values, "Settings saved.")
	s.do(t, "/admin/settings", nil, "Restart the server")
	resp, err := s.PostForm(s.origin+"/admin/settings/restart", nil)
	if err != nil {
		t.Fatalf("restart: %v", err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("restart: got %s, %v, want 200", resp.Status, err)
	}
}

// startRestartedServer starts a server on the address that is stored, and signs an administrator in.
func startRestartedServer(t *testing.T, data, origin string) *restartedServer {
	t.Helper()
	const password = "four unrelated horses"
	s, _, _ := testShell()
	s.in = strings.NewReader(password + "\n")
	if code := s.run(t.Context(), []string{"users", "create", "kim", "--role", "admin", "--password-stdin", "--data", data}); code != 0 {
		t.Fatalf("users create: got exit code %d", code)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatalf("create cookie jar: %v", err)
	}
	out, end := io.Pipe()
	//nolint:gosec // the test's own server
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	r := &restartedServer{Client: &http.Client{Jar: jar, Transport: transport}, addresses: bufio.NewScanner(out), messages: &syncBuffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	server, _, _ := testShell()
	server.out, server.messages = end, r.messages
	go func() {
		ended <- server.run(ctx, []string{"serve", "--data", data})
		_ = end.Close() // the reader gets io.EOF
	}()
	r.stop = sync.OnceValue(func() int {
		cancel()
		select {
		case code := <-ended:
			return code
		case <-time.After(time.Minute):
			return -1
		}
	})
	t.Cleanup(func() { r.stop() })
	r.waitStarted(t, origin)
	r.do(t, "/sign-in", url.Values{"name": {"kim"}, "password": {password}}, "Desk")
	return r
}

// freeAddress returns an address on this machine with a free port.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// An administrator restarts the server at another address, and with TLS. The session continues if that stays the same. If the server can't
// start with the changed settings, it goes back to those before.
func TestRestartFromTheBrowser(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	t.Setenv("DEEDKEEP_READER_CACHE", vaulttest.CacheDir())
	t.Setenv("DEEDKEEP_OCR_ENABLED", "false")
	states := notifySocket(t)
	first, second := freeAddress(t), freeAddress(t)
	storeSettings(t, data, map[string]string{"listen": first})
	s := startRestartedServer(t, data, "http://"+first)

	s.change(t, url.Values{"listen": {second}})
	s.waitStarted(t, "http://"+second)
	s.do(t, "/admin/settings", nil, "<h1>Settings</h1>", "Settings page")
	if got := runCLI(t.Context(), t, nil, "config", "show", "--data", data); !strings.Contains(got.out, second) {
		t.Errorf("config show: got %+v, want %s", got, second)
	}

	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	defer used.Close()
	s.change(t, url.Values{"listen": {used.Addr().String()}})
	s.waitStarted(t, "http://"+second)
	s.do(t, "/admin/settings", nil, "couldn't start with the changed settings", "choose another address with the setting listen")
	s.do(t, "/admin/activity", nil, "restarted the server", "Address and port: "+used.Addr().String()+" → "+second)
	if !strings.Contains(s.messages.String(), "goes back to those before") {
		t.Errorf("messages: got %s, want that the server went back", s.messages)
	}

	s.change(t, url.Values{"listen": {second}, "tls.self_signed": {"true"}})
	s.waitStarted(t, "https://"+second)
	s.do(t, "/admin/settings", nil, "<h1>Sign in</h1>") // the cookie of the session was sent without encryption
	if got := runCLI(t.Context(), t, nil, "status", "--data", data); !strings.Contains(got.out, second) {
		t.Errorf("status: got %+v, want %s", got, second)
	}
	if code := s.stop(); code != exitDone {
		t.Errorf("serve: got exit code %d, want 0\n%s", code, s.messages)
	}
	// The second restart fails at first, and the third one changes to TLS.
	want := "READY RELOADING READY RELOADING READY RELOADING READY STOPPING"
	if got := strings.Join(states(), " "); got != want {
		t.Errorf("the service manager got %s, want %s", got, want)
	}
}

// notifySocket creates the socket of a service manager, and returns a function that returns which states it got.
func notifySocket(t *testing.T) func() []string {
	t.Helper()
	path := filepath.Join(filepath.Dir(shortDataDir(t)), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return func() (states []string) {
		for buf := make([]byte, 1000); ; {
			_ = socket.SetReadDeadline(time.Now().Add(time.Second)) // what the server sent is there
			n, err := socket.Read(buf)
			if err != nil {
				return states
			}
			state, _, _ := strings.Cut(string(buf[:n]), "=")
			states = append(states, state)
		}
	}
}
