//go:build harness

package cmd_test

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"deedkeep/app/client"
	"deedkeep/app/vaulttest"
)

// serverProcess is one run of `deedkeep serve`.
type serverProcess struct {
	cmd       *exec.Cmd
	stderr    *bytes.Buffer // standard error; to be read after the end
	address   chan string   // of the line that it answers; closed at the end of its output
	transport *http.Transport
	client    *client.Client
	baseURL   string // of its public address
}

// startNoWait starts the server and waits for nothing.
func (h *harness) startNoWait() *serverProcess {
	h.t.Helper()
	s := &serverProcess{stderr: &bytes.Buffer{}, address: make(chan string, 1), transport: &http.Transport{}}
	s.cmd = exec.Command(h.program, "serve", "--data", h.dir, "--listen", "127.0.0.1:0", "--log-level", "warn")
	s.cmd.Env = append(os.Environ(), "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "DEEDKEEP_DISK_RESERVE=64 MB")
	s.cmd.Stderr = s.stderr
	setProcessGroup(s.cmd)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatalf("StdoutPipe: %v", err)
	}
	if err := s.cmd.Start(); err != nil {
		h.t.Fatalf("start cmd: %v", err)
	}
	go func() {
		defer close(s.address)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				s.address <- address
			}
		}
	}()
	return s
}

// start starts the server and waits until it is ready, against the clock.
func (h *harness) start() *serverProcess {
	h.t.Helper()
	begun := time.Now()
	s := h.startNoWait()
	select {
	case address, ok := <-s.address:
		if !ok {
			s.kill()
			h.t.Fatalf("serve ended:\n%s", s.stderr)
		}
		s.baseURL, s.client = address, client.New(address, h.key, s.transport)
		if err := ready(s.transport, address); err != nil {
			s.kill()
			h.t.Fatalf("%v\n%s", err, s.stderr)
		}
	case <-time.After(20 * time.Second):
		s.kill()
		h.t.Fatalf("serve does not answer:\n%s", s.stderr)
	}
	h.stats.worstReady = max(h.stats.worstReady, time.Since(begun))
	h.t.Cleanup(s.kill)
	return s
}

func ready(transport http.RoundTripper, address string) error {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		answer, err := (&http.Client{Transport: transport}).Get(address + "/readyz")
		if err == nil {
			err = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return err
			}
		}
		if time.Now().After(end) {
			return err
		}
	}
}

// kill ends the server and all its children without a word, and waits for it.
func (s *serverProcess) kill() {
	if s.cmd.ProcessState != nil {
		return
	}
	killProcessGroup(s.cmd)
	for range s.address { // Wait closes the pipe, so its reader comes first
	}
	_ = s.cmd.Wait() // it was killed: that is no news
	s.transport.CloseIdleConnections()
}
