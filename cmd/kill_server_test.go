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

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// serverProcess is a running `deedkeep serve` process.
type serverProcess struct {
	cmd       *exec.Cmd
	stderr    *bytes.Buffer // read this only after the process has exited
	address   chan string   // address printed by the server; closed at the end of its output
	transport *http.Transport
	client    *client.Client
	baseURL   string // base URL of the public address
}

// startNoWait starts a server without waiting until it is ready.
func (h *harness) startNoWait() *serverProcess {
	h.t.Helper()
	s := &serverProcess{stderr: &bytes.Buffer{}, address: make(chan string, 1), transport: &http.Transport{}}
	s.cmd = exec.Command(h.program, "serve", "--data", h.dir, "--listen", "127.0.0.1:0", "--log-level", "warn")
	s.cmd.Env = append(os.Environ(), "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "DEEDKEEP_DISK_RESERVE=64 MB", "DEEDKEEP_OCR_ENABLED=false")
	s.cmd.Env = append(s.cmd.Env, h.env...)
	s.cmd.Stderr = s.stderr
	setProcessGroup(s.cmd)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatalf("create pipe: %v", err)
	}
	if err := s.cmd.Start(); err != nil {
		h.t.Fatalf("start server: %v", err)
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

// start starts a server, waits until it is ready, and records how long the start took.
func (h *harness) start() *serverProcess {
	h.t.Helper()
	start := time.Now()
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
			h.t.Fatalf("server isn't ready: %v\n%s", err, s.stderr)
		}
	case <-time.After(20 * time.Second):
		s.kill()
		h.t.Fatalf("serve prints no address in 20 seconds:\n%s", s.stderr)
	}
	h.stats.worstReady = max(h.stats.worstReady, time.Since(start))
	h.t.Cleanup(s.kill)
	return s
}

// ready waits until /readyz returns status 200. It returns an error if that takes too long.
func ready(transport http.RoundTripper, address string) error {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		resp, err := (&http.Client{Transport: transport}).Get(address + "/readyz")
		if err == nil {
			err = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return err
			}
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// kill kills the server and its child processes and waits until the server has exited.
func (s *serverProcess) kill() {
	if s.cmd.ProcessState != nil {
		return
	}
	killProcessGroup(s.cmd)
	for range s.address { // Wait closes the pipe, so the reader must finish first
	}
	_ = s.cmd.Wait() // always an error, because the process was killed
	s.transport.CloseIdleConnections()
}
