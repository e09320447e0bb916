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
	"deedkeep/app/client"
	"deedkeep/app/vaulttest"
)

// testServer is a vault in a directory of its own and the program that serves it.
type testServer struct {
	t       *testing.T
	program string
	dir     string
	address string // host and port; the same after a restart
	origin  string // http://host:port
	env     []string

	process *exec.Cmd
	stderr  *buffer
	exited  chan struct{}
}

// buffer may be read while a process writes into it.
type buffer struct {
	sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.text.String()
}

// newServer serves an empty vault. Settings are environment variables.
func (env *browserEnv) newServer(t *testing.T, settings ...string) *testServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk") // short: a socket is to fit
	if err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // it lies with the temporary files
	srv := &testServer{t: t, program: env.binary(t), dir: filepath.Join(dir, "d"), address: "127.0.0.1:0"}
	srv.env = append(srv.env, "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "DEEDKEEP_DISK_RESERVE=64 MB")
	srv.env = append(srv.env, settings...)
	srv.start()
	t.Cleanup(srv.kill)
	return srv
}

// environment is what the program gets to see: not what is meant for these tests.
func (srv *testServer) environment() []string {
	var env []string
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "DEEDKEEP_") {
			env = append(env, line)
		}
	}
	return append(env, srv.env...)
}

// start serves the vault, where it was served before.
func (srv *testServer) start() {
	srv.t.Helper()
	srv.process = exec.Command(srv.program, "serve", "--data", srv.dir, "--listen", srv.address, "--log-level", "warn")
	srv.stderr, srv.exited = &buffer{}, make(chan struct{})
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
	answers := make(chan string, 1)
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if origin, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				answers <- origin
			}
		}
		_, _ = io.Copy(io.Discard, out) // nothing more comes
		_ = process.Wait()              // its state tells
	}()
	select {
	case srv.origin = <-answers:
	case <-ended:
		srv.t.Fatalf("serve ended: %v\n%s", process.ProcessState, srv.stderr)
	case <-time.After(30 * time.Second):
		srv.kill()
		srv.t.Fatalf("serve does not answer\n%s", srv.stderr)
	}
	at, err := url.Parse(srv.origin)
	if err != nil {
		srv.t.Fatalf("parse URL: %v", err)
	}
	srv.address = at.Host
	if _, _, err := net.SplitHostPort(srv.address); err != nil {
		srv.t.Fatalf("split address: %v", err)
	}
}

// stop asks the server to stop, as an administrator does, and waits for it.
func (srv *testServer) stop() {
	srv.t.Helper()
	if err := srv.process.Process.Signal(syscall.SIGTERM); err != nil {
		srv.t.Fatalf("send signal: %v", err)
	}
	select {
	case <-srv.exited:
	case <-time.After(30 * time.Second):
		srv.t.Fatalf("serve does not stop\n%s", srv.stderr)
	}
	if code := srv.process.ProcessState.ExitCode(); code != 0 {
		srv.t.Fatalf("serve ended with %d\n%s", code, srv.stderr)
	}
}

// kill ends the server and its children without a word.
func (srv *testServer) kill() {
	select {
	case <-srv.exited:
		return // its number may be another's by now
	default:
	}
	killProcessGroup(srv.process)
	<-srv.exited
}

// setupLink is the path of the link that a new vault shows.
func (srv *testServer) setupLink() string {
	srv.t.Helper()
	// What is said comes through a pipe of its own, perhaps after the address.
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		_, rest, _ := strings.Cut(srv.stderr.String(), "make the first administrator within 24 hours at "+srv.origin)
		if link, _, whole := strings.Cut(rest, "\n"); whole {
			return strings.TrimSpace(link)
		}
	}
	srv.t.Fatalf("serve shows no link:\n%s", srv.stderr)
	return ""
}

// command runs another command of the program on the vault.
func (srv *testServer) command(input string, args ...string) string {
	srv.t.Helper()
	run := exec.Command(srv.program, append(args, "--data", srv.dir)...)
	run.Env, run.Stdin = srv.environment(), strings.NewReader(input)
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		srv.t.Fatalf("deedkeep %s: %v\n%s", strings.Join(args, " "), err, &said)
	}
	return strings.TrimSpace(string(out))
}

// password is everybody's.
const password = "fourteen old oak doors"

// createUser makes somebody who can sign in with the password, and gives the number.
func (srv *testServer) createUser(name, role string) int64 {
	srv.t.Helper()
	var made apitypes.UserLinked
	if err := json.Unmarshal([]byte(srv.command(password+"\n", "users", "create", name, "--role", role, "--password-stdin", "--json")), &made); err != nil {
		srv.t.Fatalf("decode JSON: %v", err)
	}
	return made.Data.ID
}

// inviteUser makes somebody who has yet to choose a password, and gives the path of the
// link for that.
func (srv *testServer) inviteUser(name, role string) string {
	srv.t.Helper()
	var made apitypes.UserLinked
	if err := json.Unmarshal([]byte(srv.command("", "users", "create", name, "--role", role, "--json")), &made); err != nil {
		srv.t.Fatalf("decode JSON: %v", err)
	}
	link, err := url.Parse(made.Link)
	if err != nil {
		srv.t.Fatalf("parse URL: %v", err)
	}
	return link.Path
}

// apiClient speaks to the vault as a program does.
func (srv *testServer) apiClient() *client.Client {
	srv.t.Helper()
	transport := &http.Transport{}
	srv.t.Cleanup(transport.CloseIdleConnections)
	return client.New(srv.origin, srv.command("", "keys", "create", "tests", "--quiet"), transport)
}
