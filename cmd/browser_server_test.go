//go:build browser

package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// testServer is a `deedkeep serve` process with its own data directory.
type testServer struct {
	t       *testing.T
	program string
	dir     string
	address string // host and port; restarts don't change them
	origin  string // http://host:port
	env     []string

	process *exec.Cmd
	stderr  *syncBuffer
	exited  chan struct{}
	origins chan string // address of each run after a restart from the browser
}

// syncBuffer is a buffer that can be read while a process writes to it.
type syncBuffer struct {
	sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.text.String()
}

// newServer starts a server with an empty vault, which is stopped when the test ends.
// settings are environment variables.
func (env *browserEnv) newServer(t *testing.T, settings ...string) *testServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk") // a short path, because the path of a Unix socket is limited
	if err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // files left in the temporary directory are harmless
	srv := &testServer{t: t, program: env.binary(t), dir: filepath.Join(dir, "d"), address: "127.0.0.1:0"}
	srv.env = append(srv.env, "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "DEEDKEEP_DISK_RESERVE=64 MB")
	srv.env = append(srv.env, settings...)
	srv.start()
	t.Cleanup(srv.kill)
	return srv
}

// environment returns the environment variables for the server. It removes the DEEDKEEP_
// variables that control the tests.
func (srv *testServer) environment() []string {
	var env []string
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "DEEDKEEP_") {
			env = append(env, line)
		}
	}
	return append(append(env, "DEEDKEEP_OCR_ENABLED=false"), srv.env...) // reading a page takes seconds
}

// start starts the server and waits until it listens. After a stop, it uses the same
// address as before.
func (srv *testServer) start() {
	srv.t.Helper()
	srv.process = exec.Command(srv.program, "serve", "--data", srv.dir, "--listen", srv.address, "--log-level", "warn")
	srv.stderr, srv.exited = &syncBuffer{}, make(chan struct{})
	srv.process.Env, srv.process.Stderr = srv.environment(), srv.stderr
	setProcessGroup(srv.process)
	out, err := srv.process.StdoutPipe()
	if err != nil {
		srv.t.Fatalf("open pipe: %v", err)
	}
	if err := srv.process.Start(); err != nil {
		srv.t.Fatalf("start server: %v", err)
	}
	process, ended := srv.process, srv.exited
	origins := make(chan string, 10) // one for each restart from the browser
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if origin, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				origins <- origin
			}
		}
		_, _ = io.Copy(io.Discard, out) // the scanner stops at a line that is too long
		_ = process.Wait()              // ProcessState has the outcome
	}()
	select {
	case srv.origin = <-origins:
	case <-ended:
		srv.t.Fatalf("serve exited: %v\n%s", process.ProcessState, srv.stderr)
	case <-time.After(30 * time.Second):
		srv.kill()
		srv.t.Fatalf("serve doesn't listen after 30 seconds\n%s", srv.stderr)
	}
	origin, err := url.Parse(srv.origin)
	if err != nil {
		srv.t.Fatalf("parse origin: %v", err)
	}
	srv.address, srv.origins = origin.Host, origins
	if _, _, err := net.SplitHostPort(srv.address); err != nil {
		srv.t.Fatalf("split address: %v", err)
	}
}

// waitRestarted waits until the server listens again after a restart from the browser.
func (srv *testServer) waitRestarted() {
	srv.t.Helper()
	select {
	case <-srv.origins:
	case <-time.After(30 * time.Second):
		srv.t.Fatalf("serve doesn't listen again after 30 seconds\n%s", srv.stderr)
	}
}

// stop stops the server with SIGTERM and waits until it exits.
func (srv *testServer) stop() {
	srv.t.Helper()
	if err := srv.process.Process.Signal(syscall.SIGTERM); err != nil {
		srv.t.Fatalf("send signal: %v", err)
	}
	select {
	case <-srv.exited:
	case <-time.After(30 * time.Second):
		srv.t.Fatalf("serve doesn't exit within 30 seconds\n%s", srv.stderr)
	}
	if code := srv.process.ProcessState.ExitCode(); code != 0 {
		srv.t.Fatalf("serve: got exit code %d, want 0\n%s", code, srv.stderr)
	}
}

// kill kills the server and its child processes with SIGKILL.
func (srv *testServer) kill() {
	select {
	case <-srv.exited:
		return // its process ID may have been reused
	default:
	}
	killProcessGroup(srv.process)
	<-srv.exited
}

// setupLink returns the path of the link to create the first administrator. The server
// prints the link for a new vault.
func (srv *testServer) setupLink() string {
	srv.t.Helper()
	// The link on standard error may arrive later than the address on standard output.
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		_, rest, _ := strings.Cut(srv.stderr.String(), "No administrator account yet. Create it within 24 hours at "+srv.origin)
		if link, _, complete := strings.Cut(rest, "\n"); complete {
			return strings.TrimSpace(link)
		}
	}
	srv.t.Fatalf("messages of serve: got no link\n%s", srv.stderr)
	return ""
}

// command runs a command on the data directory, with input as standard input, and returns
// its output.
func (srv *testServer) command(input string, args ...string) string {
	srv.t.Helper()
	run := exec.Command(srv.program, append(args, "--data", srv.dir)...)
	run.Env, run.Stdin = srv.environment(), strings.NewReader(input)
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		srv.t.Fatalf("deedkeep %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// password is the password of all test users.
const password = "fourteen old oak doors"

// createUser creates a user who can sign in with password, and returns the user's ID.
func (srv *testServer) createUser(name, role string) int64 {
	srv.t.Helper()
	out := srv.command(password+"\n", "users", "create", name, "--role", role, "--password-stdin", "--json")
	var created apitypes.UserLinked
	if err := json.Unmarshal([]byte(out), &created); err != nil {
		srv.t.Fatalf("decode user: %v", err)
	}
	return created.Data.ID
}

// inviteUser creates a user without a password. It returns the path of the link to choose
// one.
func (srv *testServer) inviteUser(name, role string) string {
	srv.t.Helper()
	var created apitypes.UserLinked
	if err := json.Unmarshal([]byte(srv.command("", "users", "create", name, "--role", role, "--json")), &created); err != nil {
		srv.t.Fatalf("decode user: %v", err)
	}
	link, err := url.Parse(created.Link)
	if err != nil {
		srv.t.Fatalf("parse link: %v", err)
	}
	return link.Path
}

// apiClient returns an API client that uses a new key.
func (srv *testServer) apiClient() *client.Client {
	srv.t.Helper()
	transport := &http.Transport{}
	srv.t.Cleanup(transport.CloseIdleConnections)
	return client.New(srv.origin, srv.command("", "keys", "create", "tests", "--quiet"), transport)
}
