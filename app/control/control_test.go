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

// shortDir returns a directory whose path is short enough for a socket. The path of t.TempDir may be too long.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk")
	if err != nil {
		t.Fatalf("create directory: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove directory: %v", err)
		}
	})
	return dir
}

// transports returns the transports of this platform. Every platform has the loopback transport.
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
		t.Fatalf("listen: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // a test may already have closed it
	return listener
}

// serve serves every request on listener until the test ends.
func serve(t *testing.T, listener net.Listener, token string) {
	t.Helper()
	server := &http.Server{Handler: Guard(http.HandlerFunc(echo), token)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Errorf("close server: %v", err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.Errorf("serve: %v", err)
		}
	})
}

func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Path", r.URL.Path)
	_, _ = io.Copy(w, r.Body) // the client checks the response
}

func post(t *testing.T, tripper http.RoundTripper, body string) (*http.Response, string, error) {
	t.Helper()
	client := &http.Client{Transport: tripper}
	defer client.CloseIdleConnections()
	response, err := client.Post(BaseURL+"/admin/status", "text/plain", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatalf("read response: %v", err)
	}
	return response, string(text), nil
}

func fileNames(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("read directory: %v", err)
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
		response, text, err := post(t, roundTripper(f, dir), body)
		if err != nil || response.StatusCode != http.StatusOK || response.Header.Get("Path") != "/admin/status" || text != body {
			t.Errorf("got %v, %v, %d bytes, want status 200 and the %d bytes sent to /admin/status", response, err, len(text), len(body))
		}
	})
	t.Run("memory", func(t *testing.T) {
		listener := ListenMemory()
		serve(t, listener, "")
		response, text, err := post(t, listener.RoundTripper(), body)
		if err != nil || response.StatusCode != http.StatusOK || text != body {
			t.Errorf("got %v, %v, %d bytes, want status 200 and the %d bytes sent", response, err, len(text), len(body))
		}
	})
	t.Run("native", func(t *testing.T) {
		dir := shortDir(t)
		listener, err := Listen(dir, testRand())
		if err != nil {
			t.Fatalf("listen: %v", err)
		}
		serve(t, listener, listener.Token)
		if _, text, err := post(t, RoundTripper(dir), "x"); err != nil || text != "x" {
			t.Errorf("got %q, %v, want x", text, err)
		}
		conn, err := Dial(t.Context(), dir)
		if err != nil {
			t.Fatalf("dial: %v", err)
		}
		if err := conn.Close(); err != nil {
			t.Errorf("close connection: %v", err)
		}
	})
}

func TestDialWithoutServer(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		check := func(when, dir string) {
			t.Helper()
			if conn, err := f.dial(t.Context(), dir); !errors.Is(err, ErrNoServer) {
				t.Errorf("dial, %s: got %v, %v, want %v", when, conn, err, ErrNoServer)
			}
			if _, _, err := post(t, roundTripper(f, dir), "x"); !errors.Is(err, ErrNoServer) {
				t.Errorf("request, %s: got %v, want %v", when, err, ErrNoServer)
			}
		}
		check("nothing there", dir)
		check("no directory", filepath.Join(dir, "absent"))
		listener := open(t, f, dir)
		if err := listener.Close(); err != nil {
			t.Fatalf("close listener: %v", err)
		}
		check("after Close", dir)
		if left := fileNames(t, dir); left != "" {
			t.Errorf("files left: %s, want none", left)
		}
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second Close = %v, want %v", err, net.ErrClosed)
		}
	})
}

func TestSecondListenFails(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		listener := open(t, f, dir)
		serve(t, listener, listener.Token)
		before := fileNames(t, dir)
		if second, err := f.listen(dir, testRand()); !errors.Is(err, ErrInUse) {
			t.Errorf("second listen = %v, %v, want %v", second, err, ErrInUse)
		}
		if after := fileNames(t, dir); after != before {
			t.Errorf("directory has %s, want %s as before", after, before)
		}
		if _, text, err := post(t, roundTripper(f, dir), "still here"); err != nil || text != "still here" {
			t.Errorf("the first listener: got %q, %v, want still here", text, err)
		}
	})
}

// abandon closes a listener without removing its file, like a killed process.
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
		t.Fatalf("close listener: %v", err)
	}
}

func TestListenReplacesSocketOfKilledServer(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		killed := open(t, f, dir)
		abandon(t, killed)
		if left := fileNames(t, dir); left == "" {
			t.Fatal("the killed server left no file, want one that Listen replaces")
		}
		if _, err := f.dial(t.Context(), dir); !errors.Is(err, ErrNoServer) {
			t.Errorf("dial = %v, want %v", err, ErrNoServer)
		}
		listener, err := f.listen(dir, rand.NewChaCha8([32]byte{2}))
		if err != nil {
			t.Fatalf("listen again: %v", err)
		}
		serve(t, listener, listener.Token)
		_ = killed.Close() // Fails in part. It must not remove the file of the new listener.
		if _, text, err := post(t, roundTripper(f, dir), "x"); err != nil || text != "x" {
			t.Errorf("got %q, %v, want x", text, err)
		}
	})
}

func TestRoundTripperWorksAfterRestart(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		tripper := roundTripper(f, dir)
		for seed := range byte(2) {
			listener, err := f.listen(dir, rand.NewChaCha8([32]byte{seed}))
			if err != nil {
				t.Fatalf("listen: %v", err)
			}
			t.Run("start", func(t *testing.T) {
				serve(t, listener, listener.Token)
				if response, text, err := post(t, tripper, "x"); err != nil || text != "x" {
					t.Errorf("got %v, %q, %v, want x", response, text, err)
				}
			})
		}
	})
}

func TestDialWithCanceledContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		open(t, f, dir)
		if _, err := f.dial(ended, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("dial = %v, want %v", err, context.Canceled)
		}
	})
	listener := ListenMemory()
	if _, err := listener.Dial(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("dial of a memory listener = %v, want %v", err, context.Canceled)
	}
	if err := listener.Close(); err != nil {
		t.Fatalf("close listener: %v", err)
	}
	if _, err := listener.Dial(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Errorf("dial after Close = %v, want %v", err, ErrNoServer)
	}
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close = %v, want %v", err, net.ErrClosed)
	}
	if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second Close = %v, want %v", err, net.ErrClosed)
	}
	if a := listener.Addr(); a.Network() != "memory" || a.String() != "memory" {
		t.Errorf("Addr() = %v, want memory", a)
	}
}

func TestCloseEndsAccept(t *testing.T) {
	eachTransport(t, func(t *testing.T, f transport, dir string) {
		listener := open(t, f, dir)
		ended := make(chan error, 1)
		go func() {
			_, err := listener.Accept()
			ended <- err
		}()
		if err := listener.Close(); err != nil {
			t.Fatalf("close listener: %v", err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("Accept = %v, want %v", err, net.ErrClosed)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("Accept still waits 10 s after Close")
		}
	})
}
