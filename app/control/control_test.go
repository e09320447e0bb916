package control

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func testRand() io.Reader { return rand.NewChaCha8([32]byte{1}) }

// shortDir is a directory whose sockets fit their limit, which t.TempDir's may not.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// transports are those that this platform has; the port is everywhere.
func transports() map[string]transport {
	all := map[string]transport{"loopback": loopback{}}
	if runtime.GOOS != "windows" {
		all["socket"] = unixSocket{}
	}
	return all
}

func eachTransport(t *testing.T, test func(*testing.T, transport, string)) {
	for name, f := range transports() {
		t.Run(name, func(t *testing.T) { test(t, f, shortDir(t)) })
	}
}

func open(t *testing.T, f transport, dir string) *Listener {
	t.Helper()
	listener, err := f.listen(dir, testRand())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // A test may have closed it.
	return listener
}

// serve answers every request on listener until the test ends.
func serve(t *testing.T, listener net.Listener, token string) {
	t.Helper()
	server := &http.Server{Handler: Guard(http.HandlerFunc(echo), token)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Path", r.URL.Path)
	_, _ = io.Copy(w, r.Body) // The client checks what arrives.
}

func ask(t *testing.T, tripper http.RoundTripper, body string) (*http.Response, string, error) {
	t.Helper()
	client := &http.Client{Transport: tripper}
	defer client.CloseIdleConnections()
	answer, err := client.Post(BaseURL+"/admin/status", "text/plain", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer, string(text), nil
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return strings.Join(all, " ")
}

func TestRequest(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 1<<16)
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		listener := open(t, f, dir)
		serve(t, listener, listener.Token)
		answer, text, err := ask(t, roundTripper(f, dir), body)
		if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Path") != "/admin/status" || text != body {
			t.Errorf("%v, %v, %d bytes", answer, err, len(text))
		}
	})
	t.Run("memory", func(t *testing.T) {
		listener := ListenMemory()
		serve(t, listener, "")
		answer, text, err := ask(t, listener.RoundTripper(), body)
		if err != nil || answer.StatusCode != http.StatusOK || text != body {
			t.Errorf("%v, %v, %d bytes", answer, err, len(text))
		}
	})
	t.Run("native", func(t *testing.T) {
		dir := shortDir(t)
		listener, err := Listen(dir, testRand())
		if err != nil {
			t.Fatal(err)
		}
		serve(t, listener, listener.Token)
		if _, text, err := ask(t, RoundTripper(dir), "x"); err != nil || text != "x" {
			t.Errorf("%q, %v", text, err)
		}
		conn, err := Dial(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestDialWithoutServer(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		check := func(when, dir string) {
			t.Helper()
			if conn, err := f.dial(t.Context(), dir); !errors.Is(err, ErrNoServer) {
				t.Errorf("dial, %s: %v, %v", when, conn, err)
			}
			if _, _, err := ask(t, roundTripper(f, dir), "x"); !errors.Is(err, ErrNoServer) {
				t.Errorf("request, %s: %v", when, err)
			}
		}
		check("nothing there", dir)
		check("no directory", filepath.Join(dir, "absent"))
		listener := open(t, f, dir)
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		check("after Close", dir)
		if left := names(t, dir); left != "" {
			t.Errorf("left behind: %s", left)
		}
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestInUse(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		listener := open(t, f, dir)
		serve(t, listener, listener.Token)
		before := names(t, dir)
		if second, err := f.listen(dir, testRand()); !errors.Is(err, ErrInUse) {
			t.Errorf("a second listener: %v, %v", second, err)
		}
		if after := names(t, dir); after != before {
			t.Errorf("directory: %s, was %s", after, before)
		}
		if _, text, err := ask(t, roundTripper(f, dir), "still here"); err != nil || text != "still here" {
			t.Errorf("the first listener: %q, %v", text, err)
		}
	})
}

// abandon ends a listener as a killed process does: its file stays.
func abandon(t *testing.T, listener *Listener) {
	t.Helper()
	inner := listener.Listener
	switch own := inner.(type) {
	case *socketListener:
		inner = own.Listener
	case *loopbackListener:
		inner = own.Listener
	}
	if err := inner.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestListenReplacesSocketOfKilledServer(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		killed := open(t, f, dir)
		abandon(t, killed)
		if left := names(t, dir); left == "" {
			t.Fatal("nothing was left to be replaced")
		}
		if _, err := f.dial(t.Context(), dir); !errors.Is(err, ErrNoServer) {
			t.Errorf("dial: %v", err)
		}
		listener, err := f.listen(dir, rand.NewChaCha8([32]byte{2}))
		if err != nil {
			t.Fatal(err)
		}
		serve(t, listener, listener.Token)
		_ = killed.Close() // Fails in parts; it must not take the successor's file along.
		if _, text, err := ask(t, roundTripper(f, dir), "x"); err != nil || text != "x" {
			t.Errorf("%q, %v", text, err)
		}
	})
}

func TestOneRoundTripperOutlivesARestart(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		tripper := roundTripper(f, dir)
		for seed := range byte(2) {
			listener, err := f.listen(dir, rand.NewChaCha8([32]byte{seed}))
			if err != nil {
				t.Fatal(err)
			}
			t.Run("start", func(t *testing.T) {
				serve(t, listener, listener.Token)
				if answer, text, err := ask(t, tripper, "x"); err != nil || text != "x" {
					t.Errorf("%v, %q, %v", answer, text, err)
				}
			})
		}
	})
}

func TestDialEndsWithItsContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		open(t, f, dir)
		if _, err := f.dial(ended, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("dial: %v", err)
		}
	})
	listener := ListenMemory()
	if _, err := listener.Dial(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("memory: %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := listener.Dial(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Errorf("memory after Close: %v", err)
	}
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after Close: %v", err)
	}
	if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if a := listener.Addr(); a.Network() != "memory" || a.String() != "memory" {
		t.Errorf("address %v", a)
	}
}

func TestStopWhileAccepting(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		listener := open(t, f, dir)
		ended := make(chan error, 1)
		go func() {
			_, err := listener.Accept()
			ended <- err
		}()
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("accept: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("accept goes on after Close")
		}
	})
}
