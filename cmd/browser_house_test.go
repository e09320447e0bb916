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

// house is a vault in a directory of its own and the program that serves it.
type house struct {
	t       *testing.T
	program string
	dir     string
	address string // host and port; the same after a restart
	origin  string // http://host:port
	env     []string

	process *exec.Cmd
	said    *buffer
	ended   chan struct{}
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

// house serves an empty vault. Settings are environment variables.
func (on *bench) house(t *testing.T, settings ...string) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk") // short: a socket is to fit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // it lies with the temporary files
	h := &house{t: t, program: on.built(t), dir: filepath.Join(dir, "d"), address: "127.0.0.1:0"}
	h.env = append(h.env, "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "DEEDKEEP_DISK_RESERVE=64 MB")
	h.env = append(h.env, settings...)
	h.start()
	t.Cleanup(h.kill)
	return h
}

// environment is what the program gets to see: not what is meant for these tests.
func (h *house) environment() []string {
	var env []string
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "DEEDKEEP_") {
			env = append(env, line)
		}
	}
	return append(env, h.env...)
}

// start serves the vault, where it was served before.
func (h *house) start() {
	h.t.Helper()
	h.process = exec.Command(h.program, "serve", "--data", h.dir, "--listen", h.address, "--log-level", "warn")
	h.said, h.ended = &buffer{}, make(chan struct{})
	h.process.Env, h.process.Stderr = h.environment(), h.said
	ownGroup(h.process)
	out, err := h.process.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.process.Start(); err != nil {
		h.t.Fatal(err)
	}
	process, ended := h.process, h.ended
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
	case h.origin = <-answers:
	case <-ended:
		h.t.Fatalf("serve ended: %v\n%s", process.ProcessState, h.said)
	case <-time.After(30 * time.Second):
		h.kill()
		h.t.Fatalf("serve does not answer\n%s", h.said)
	}
	at, err := url.Parse(h.origin)
	if err != nil {
		h.t.Fatal(err)
	}
	h.address = at.Host
	if _, _, err := net.SplitHostPort(h.address); err != nil {
		h.t.Fatal(err)
	}
}

// stop asks the server to stop, as an administrator does, and waits for it.
func (h *house) stop() {
	h.t.Helper()
	if err := h.process.Process.Signal(syscall.SIGTERM); err != nil {
		h.t.Fatal(err)
	}
	select {
	case <-h.ended:
	case <-time.After(30 * time.Second):
		h.t.Fatalf("serve does not stop\n%s", h.said)
	}
	if code := h.process.ProcessState.ExitCode(); code != 0 {
		h.t.Fatalf("serve ended with %d\n%s", code, h.said)
	}
}

// kill ends the server and its children without a word.
func (h *house) kill() {
	select {
	case <-h.ended:
		return // its number may be another's by now
	default:
	}
	killGroup(h.process)
	<-h.ended
}

// firstLink is the path of the link that a new vault shows.
func (h *house) firstLink() string {
	h.t.Helper()
	// What is said comes through a pipe of its own, perhaps after the address.
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		_, rest, _ := strings.Cut(h.said.String(), "make the first administrator within 24 hours at "+h.origin)
		if link, _, whole := strings.Cut(rest, "\n"); whole {
			return strings.TrimSpace(link)
		}
	}
	h.t.Fatalf("serve shows no link:\n%s", h.said)
	return ""
}

// command runs another command of the program on the vault.
func (h *house) command(input string, args ...string) string {
	h.t.Helper()
	run := exec.Command(h.program, append(args, "--data", h.dir)...)
	run.Env, run.Stdin = h.environment(), strings.NewReader(input)
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		h.t.Fatalf("deedkeep %s: %v\n%s", strings.Join(args, " "), err, &said)
	}
	return strings.TrimSpace(string(out))
}

// password is everybody's.
const password = "fourteen old oak doors"

// user makes somebody who can sign in with the password, and gives the number.
func (h *house) user(name, role string) int64 {
	h.t.Helper()
	var made apitypes.UserLinked
	if err := json.Unmarshal([]byte(h.command(password+"\n", "users", "create", name, "--role", role, "--password-stdin", "--json")), &made); err != nil {
		h.t.Fatal(err)
	}
	return made.Data.ID
}

// invite makes somebody who has yet to choose a password, and gives the path of the
// link for that.
func (h *house) invite(name, role string) string {
	h.t.Helper()
	var made apitypes.UserLinked
	if err := json.Unmarshal([]byte(h.command("", "users", "create", name, "--role", role, "--json")), &made); err != nil {
		h.t.Fatal(err)
	}
	link, err := url.Parse(made.Link)
	if err != nil {
		h.t.Fatal(err)
	}
	return link.Path
}

// api speaks to the vault as a program does.
func (h *house) api() *client.Client {
	h.t.Helper()
	transport := &http.Transport{}
	h.t.Cleanup(transport.CloseIdleConnections)
	return client.New(h.origin, h.command("", "keys", "create", "tests", "--quiet"), transport)
}
