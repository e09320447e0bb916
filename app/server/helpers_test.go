package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
)

// running is a server on a free port. Its control socket is in a directory with a short path.
type running struct {
	address, key string
	addresses    server.Addresses
	vault        *instance.Instance
	stop         context.CancelFunc
	result       chan error
}

// shortDir creates a directory whose path is short enough for a Unix socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove directory: %v", err)
		}
	})
	return dir
}

// options returns the options for a server with a new vault. change can modify the configuration
// first.
func options(t *testing.T, change func(*config.Config)) server.Options {
	t.Helper()
	vaultOpts := vaulttest.Options(t)
	vaultOpts.Dir, vaultOpts.Now = shortDir(t), time.Now
	c := config.Default()
	c.Data, c.Listen = vaultOpts.Dir, "127.0.0.1:0"
	if change != nil {
		change(&c)
	}
	return server.Options{
		Config: c, App: vaulttest.Open(t, vaultOpts), Build: control.Build{Version: "test"}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

// serve starts a server that is stopped when the test ends. change can modify its configuration
// first.
func serve(t *testing.T, change func(*config.Config)) *running {
	t.Helper()
	return serveWith(t, options(t, change))
}

// serveWith starts a server with the given options. It is stopped when the test ends.
func serveWith(t *testing.T, opts server.Options) *running {
	t.Helper()
	key, _, err := opts.App.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, model.KeyDraft{Name: "test"})
	if err != nil {
		t.Fatalf("create key: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{key: key, vault: opts.App, stop: cancel, result: make(chan error, 1)}
	started := make(chan server.Addresses, 1)
	opts.OnStarted = func(a server.Addresses) { started <- a }
	go func() { r.result <- server.Serve(ctx, opts) }()
	select {
	case r.addresses = <-started:
		r.address = r.addresses.Address
	case err := <-r.result:
		t.Fatalf("start server: %v", err)
	}
	t.Cleanup(func() {
		cancel()
		if err := r.waitStopped(t); err != nil {
			t.Errorf("stop server: %v", err)
		}
	})
	return r
}

// waitStopped waits until the server has stopped and returns its error. A second call returns nil.
func (r *running) waitStopped(t *testing.T) error {
	t.Helper()
	select {
	case err, first := <-r.result:
		if first {
			close(r.result)
		}
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("server still runs 20 seconds after its context was canceled")
		return nil
	}
}

// dial opens a connection to the server.
func (r *running) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", r.address)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // usually closed by the server already
	if err := conn.SetDeadline(time.Now().Add(15 * time.Second)); err != nil {
		t.Fatalf("set deadline: %v", err)
	}
	return conn
}

// raw opens a connection, sends the request bytes unchanged, and reads one response.
func (r *running) raw(t *testing.T, method, request string) (*http.Response, string) {
	t.Helper()
	conn := r.dial(t)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatalf("write request: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	return resp, string(body)
}

// createKey creates an API key with only the given ability.
func createKey(t *testing.T, r *running, ability string) string {
	t.Helper()
	draft := model.KeyDraft{Name: ability, Abilities: []string{ability}}
	key, _, err := r.vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, draft)
	if err != nil {
		t.Fatalf("create key: %v", err)
	}
	return key
}

// keyDraft returns the draft of a key. Its name is different for each n.
func keyDraft(n int) apitypes.KeyCreate {
	return apitypes.KeyCreate{Name: fmt.Sprintf("creator %d", n)}
}

// notifyReader closes started when its first Read returns.
type notifyReader struct {
	io.Reader
	started chan struct{}
	once    sync.Once
}

func newNotifyReader(r io.Reader) *notifyReader {
	return &notifyReader{Reader: r, started: make(chan struct{})}
}

func (r *notifyReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.once.Do(func() { close(r.started) })
	return n, err
}

// waitFor polls until the condition is true.
func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatal("condition is still false after 10 seconds")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
