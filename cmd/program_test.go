package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// serverProcess is a "deedkeep serve" process that runs the test binary.
type serverProcess struct {
	url, data string
	process   *exec.Cmd
	messages  *bytes.Buffer
	startup   time.Duration // time from the start until the address is printed
	done      chan struct{}
}

// startServer starts a server on a free port and waits until it prints its address. The server is
// killed when the test ends. settings are environment variables, and flags, which start with "--".
func startServer(t *testing.T, data string, settings ...string) *serverProcess {
	t.Helper()
	p := &serverProcess{data: data, messages: new(bytes.Buffer), done: make(chan struct{})}
	isFlag := func(setting string) bool { return strings.HasPrefix(setting, "--") }
	flags := slices.DeleteFunc(slices.Clone(settings), func(setting string) bool { return !isFlag(setting) })
	settings = slices.DeleteFunc(slices.Clone(settings), isFlag)
	p.process = exec.Command("deedkeep", append([]string{"serve", "--data", data}, flags...)...)
	p.process.Env = append(os.Environ(), "DEEDKEEP_LISTEN=127.0.0.1:0", "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "GORACE="+raceOptions,
		withoutOCR)
	p.process.Env = append(p.process.Env, settings...)
	p.process.Stderr = p.messages
	out, err := p.process.StdoutPipe()
	if err != nil {
		t.Fatalf("create pipe: %v", err)
	}
	start := time.Now()
	if err := p.process.Start(); err != nil {
		t.Fatalf("start server: %v", err)
	}
	buf := make([]byte, 100)
	n, err := out.Read(buf) // reads the only line, which is written at once
	p.startup = time.Since(start)
	url, ok := strings.CutPrefix(strings.TrimSpace(string(buf[:n])), "listening on ")
	p.url = url
	go func() {
		defer close(p.done)
		_, _ = io.Copy(io.Discard, out) // no more output is expected
		_ = p.process.Wait()            // ProcessState contains the result
	}()
	t.Cleanup(func() {
		_ = p.process.Process.Kill() // the process may have exited
		<-p.done
	})
	if err != nil || !ok {
		_ = p.process.Process.Kill() // the test fails anyway
		<-p.done
		t.Fatalf("serve printed %q, %v, want an address\n%s", buf[:n], err, p.messages)
	}
	return p
}

// signal sends a signal to the server.
func (p *serverProcess) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.process.Process.Signal(s); err != nil {
		t.Fatalf("send signal: %v", err)
	}
}

// waitExit waits until the server has exited and returns its exit code.
func (p *serverProcess) waitExit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.process.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		t.Fatal("serve still runs after 30 seconds")
		return 0
	}
}

// createKey creates an API key through the control socket and returns the key.
func (p *serverProcess) createKey(t *testing.T, name string, flags ...string) string {
	t.Helper()
	got := runCLI(t.Context(), t, nil, append([]string{"keys", "create", name, "--quiet", "--data", p.data}, flags...)...)
	if got.code != 0 {
		t.Fatalf("keys create: got %+v, want exit code 0", got)
	}
	return strings.TrimSpace(got.out)
}

// A server with an existing vault starts within one second.
func TestSecondStartIsFast(t *testing.T) {
	data := shortDataDir(t)
	fastest := time.Hour
	for range 6 {
		p := startServer(t, data)
		if p.createKey(t, "try"); p.startup < fastest {
			fastest = p.startup
		}
		p.signal(t, os.Interrupt)
		if code := p.waitExit(t); code != 0 {
			t.Fatalf("got exit code %d, want 0\n%s", code, p.messages)
		}
	}
	t.Logf("fastest start: %v", fastest)
	// The limit applies even on a busy machine or with the race detector.
	if fastest > time.Second {
		t.Errorf("the fastest start took %v, want at most 1s", fastest)
	}
}

// serve prints a message if it creates a vault but not if it opens an existing one.
func TestServeReportsNewVault(t *testing.T) {
	data := shortDataDir(t)
	for start, want := range []bool{true, false} {
		p := startServer(t, data)
		p.signal(t, os.Interrupt)
		code := p.waitExit(t)
		report := "initialized the data directory " + data + "; when running as a service, start with --existing"
		if got := strings.Contains(p.messages.String(), report); code != 0 || got != want {
			t.Errorf("start %d: got %v (exit code %d), want %v: %q\n%s", start, got, code, want, report, p.messages)
		}
	}
}

// If the port is in use, serve fails before it creates a vault.
func TestServePortInUse(t *testing.T) {
	data := shortDataDir(t)
	other, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	defer other.Close() //nolint:errcheck // only occupies the port
	got := runCLI(t.Context(), t, nil, "serve", "--data", data, "--listen", other.Addr().String())
	if got.code != 1 || !strings.Contains(got.messages, "address already in use; choose another address with the setting listen (--listen)") {
		t.Errorf("serve: got %+v, want exit code 1 and the setting", got)
	}
	if _, err := os.Stat(filepath.Join(data, "vault.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("vault.db: got %v, want none", err)
	}
}

// If the server receives SIGTERM during an upload, the upload is completed, acknowledged, and
// stored.
func TestSIGTERMCompletesUpload(t *testing.T) {
	data := shortDataDir(t)
	p := startServer(t, data)
	c := client.New(p.url, p.createKey(t, "upload"), nil)
	content := []byte("This deed, made the first day of May.\n")
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		uploaded, err := c.Upload(context.Background(), nil, []client.Upload{{Filename: "deed.txt", Reader: pr}})
		if err == nil && len(uploaded.Files) != 1 {
			err = fmt.Errorf("got %+v, want one file", uploaded)
		}
		done <- err
	}()
	if _, err := pw.Write(content[:5]); err != nil { // returns when the HTTP client has read the bytes
		t.Fatalf("write to body: %v", err)
	}
	p.signal(t, syscall.SIGTERM)
	for deadline := time.Now().Add(10 * time.Second); ; {
		if _, err := c.OrderFields(t.Context()); err != nil {
			break // the server now rejects new requests
		}
		if time.Now().After(deadline) {
			t.Fatal("new requests still succeed 10 seconds after SIGTERM")
		}
	}
	_, err := pw.Write(content[5:])
	if err = errors.Join(err, pw.Close(), <-done); err != nil {
		t.Fatalf("complete the upload: %v", err)
	}
	if code := p.waitExit(t); code != 0 {
		t.Errorf("got exit code %d, want 0\n%s", code, p.messages)
	}
	if got := runCLI(t.Context(), t, nil, "verify", "--data", data); got.code != 0 || !strings.Contains(got.out, "1 document (38 B)") {
		t.Errorf("verify: got %+v, want one document of 38 bytes", got)
	}
}

// While a server repeatedly starts and stops, each command either succeeds or reports that the
// vault is locked. All keys that the commands reported exist.
func TestKeysDuringServerRestarts(t *testing.T) {
	data := shortDataDir(t)
	first := startServer(t, data)
	first.signal(t, syscall.SIGTERM)
	if code := first.waitExit(t); code != 0 {
		t.Fatalf("got exit code %d, want 0\n%s", code, first.messages)
	}
	var creators sync.WaitGroup
	defer creators.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	created, codes := map[string]bool{}, map[int]int{}
	for range 3 {
		creators.Go(func() {
			for ctx.Err() == nil {
				got := runCLI(t.Context(), t, nil, "keys", "create", "storm", "--quiet", "--data", data)
				mu.Lock()
				codes[got.code]++
				if got.code == 0 {
					created[strings.TrimSpace(got.out)] = true
				} else if got.code != exitLocked {
					t.Errorf("keys create: got %+v, want exit code 0 or %d", got, exitLocked)
				}
				mu.Unlock()
			}
		})
	}
	const rounds = 8
	for range rounds {
		p := startServer(t, data)
		p.createKey(t, "storm")
		p.signal(t, syscall.SIGTERM)
		if code := p.waitExit(t); code != 0 {
			t.Errorf("got exit code %d, want 0\n%s", code, p.messages)
		}
	}
	cancel()
	creators.Wait()
	t.Logf("exit codes: %v", codes)
	got := runCLI(t.Context(), t, nil, "keys", "list", "--json", "--data", data)
	if n := strings.Count(got.out, `"name": "storm"`); n != len(created)+rounds {
		t.Errorf("got %d keys, want %d as created", n, len(created)+rounds)
	}
}
