//go:build harness && linux

// These two tests use a server over its API. One uploads decompression bombs and similar
// files while another client uploads ordinary documents. The other kills, at random
// moments, the child processes that open documents.
//
//	go test -tags harness -run 'TestBombs|TestChildProcesses' -v ./cmd
//
//	DEEDKEEP_TEST_BOMBS   how often to send each bomb; default 3
//	DEEDKEEP_TEST_KILLS   how many child processes to kill; default 30

package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// envNumber returns the positive integer in an environment variable, or defaultValue if the
// variable is not set.
func envNumber(t *testing.T, name string, defaultValue int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return defaultValue
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s: got %q, want a positive number", name, text)
	}
	return n
}

// processState reads the parent and the process group of a process from /proc and reports
// whether the process is running.
func processState(pid string) (parent, group int, running bool) {
	content, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0, 0, false // the process has exited
	}
	_, rest, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 3 || fields[0] == "Z" {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(fields[1]) // the kernel writes valid numbers
	group, _ = strconv.Atoi(fields[2])
	return parent, group, true
}

// processes returns the IDs of the running processes for which match returns true.
func processes(match func(pid, parent, group int) bool) (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, entry := range entries {
		pid, err := strconv.Atoi(path.Base(entry))
		if parent, group, running := processState(path.Base(entry)); err == nil && running && match(pid, parent, group) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// childPIDs returns the IDs of the server's child processes.
func (s *serverProcess) childPIDs() []int {
	return processes(func(_, parent, _ int) bool { return parent == s.cmd.Process.Pid })
}

// resident returns the total resident memory of the given processes, in bytes.
func resident(pids ...int) (sum int64) {
	for _, pid := range pids {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if fields := strings.Fields(string(content)); err == nil && len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes a valid number
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}

// watchMemory starts to sample the memory of the server and its child processes. The
// returned function stops the sampling and returns the peaks in bytes.
func (s *serverProcess) watchMemory() (stop func() (server, children int64)) {
	quit, done := make(chan struct{}), make(chan struct{})
	var server, children int64
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				server = max(server, resident(s.cmd.Process.Pid))
				children = max(children, resident(s.childPIDs()...))
			}
		}
	}()
	return func() (int64, int64) { close(quit); <-done; return server, children }
}

// stop stops the server with SIGTERM and checks that no process in its group is still
// running.
func (s *serverProcess) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("send signal: %v", err)
	}
	for range s.address { // Wait closes the pipe, so the reader must finish first
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("serve: %v\n%s", err, s.stderr)
	}
	s.transport.CloseIdleConnections()
	if left := processes(func(_, _, group int) bool { return group == s.cmd.Process.Pid }); len(left) > 0 {
		t.Errorf("processes after stop: got %v, want none", left)
	}
}

// tryAgain is the reason that upload returns if the response is 503, which means that the
// server stored nothing.
const tryAgain = "try again"

// upload uploads one document. If the server rejects it, upload returns nil and the reason
// for the rejection.
func (s *serverProcess) upload(t *testing.T, name string, content []byte) (*apitypes.File, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	uploaded, err := s.client.Upload(ctx, nil, []client.Upload{{Filename: name, Reader: bytes.NewReader(content)}})
	unavailable, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && unavailable.Status == http.StatusServiceUnavailable:
		return nil, tryAgain
	case err != nil:
		t.Errorf("%s: upload: %v", name, err)
	case len(uploaded.Files) == 1:
		return &uploaded.Files[0], ""
	case len(uploaded.Errors) == 1 && uploaded.Errors[0].Error != "":
		return nil, uploaded.Errors[0].Error
	default:
		t.Errorf("%s: got %+v, want one file or one error", name, uploaded)
	}
	return nil, "?"
}

// waitIdle waits until the processing queue is empty. It returns the processing failures
// and the status of the vault.
func (h *harness) waitIdle(timeout time.Duration) (failures []apitypes.ProcessFailure, status apitypes.Status) {
	h.t.Helper()
	for end := time.Now().Add(timeout); ; time.Sleep(20 * time.Millisecond) {
		if err := json.Unmarshal(h.command("status", "--json"), &status); err != nil {
			h.t.Fatalf("decode status: %v", err)
		}
		if status.Queue == 0 {
			break
		}
		if time.Now().After(end) {
			h.t.Fatalf("after %v: got %d documents in the queue, want none", timeout, status.Queue)
		}
	}
	if err := json.Unmarshal(h.command("process", "list", "--json"), &failures); err != nil {
		h.t.Fatalf("decode failures: %v", err)
	}
	for _, f := range failures {
		if f.Reason == "" {
			h.t.Errorf("file %d: got no reason for its failure", f.ID)
		}
	}
	return failures, status
}

// uploadHonest uploads small documents one at a time until stop returns true. It returns
// how long each upload took.
func (h *harness) uploadHonest(s *serverProcess, stop func() bool) (took []time.Duration) {
	for !stop() {
		h.seed++
		content := makePDF(h.seed, 20<<10)
		start := time.Now()
		if file, reason := s.upload(h.t, "honest.pdf", content); file == nil {
			h.t.Errorf("honest document: got rejected: %s", reason)
		}
		took = append(took, time.Since(start))
	}
	return took
}

// percentile sorts list and returns the given percentile. share is between 0 and 1.
func percentile(list []time.Duration, share float64) time.Duration {
	slices.Sort(list)
	return list[int(share*float64(len(list)-1))].Round(100 * time.Microsecond)
}

func TestBombs(t *testing.T) {
	rounds := envNumber(t, "DEEDKEEP_TEST_BOMBS", 3)
	files := bombs(t)
	for _, sample := range vaulttest.Samples(t) {
		if !strings.HasPrefix(sample.Path, "refuse/") && sample.Path != "real/bomb_giant.pdf" {
			continue
		}
		content, err := os.ReadFile(sample.File)
		if err != nil {
			t.Fatalf("read sample: %v", err)
		}
		files[path.Base(sample.Path)] = content
	}
	h := newHarness(t)
	h.newVault()
	s := h.start()
	uploads := 0
	alone := h.uploadHonest(s, func() bool { uploads++; return uploads > 100 })
	h.waitIdle(time.Minute)

	peaks := s.watchMemory()
	var senders sync.WaitGroup
	var sent, accepted atomic.Int64
	var outcomes sync.Map // by file name; "" if the server accepted the file
	allSent := make(chan struct{})
	work := make(chan string)
	for range 4 {
		senders.Go(func() {
			for name := range work {
				file, reason := s.upload(t, name, files[name])
				if file != nil {
					accepted.Add(1)
				}
				outcomes.Store(name, reason)
				sent.Add(1)
			}
		})
	}
	go func() {
		defer close(allSent)
		for range rounds {
			for name := range files {
				work <- name
			}
		}
		close(work)
		senders.Wait()
	}()
	start := time.Now()
	during := h.uploadHonest(s, func() bool {
		select {
		case <-allSent:
			return true
		default:
			return false
		}
	})
	uploaded := time.Since(start)
	failures, status := h.waitIdle(time.Duration(rounds) * time.Minute)
	took := time.Since(start)
	server, children := peaks()
	for _, f := range failures {
		outcomes.Store(f.Filename, "accepted; "+f.Reason)
		if f.Filename == "honest.pdf" {
			t.Errorf("honest document: got failure: %s", f.Reason)
		}
	}
	outcomes.Range(func(name, outcome any) bool { t.Logf("%s: %s", name, outcome); return true })
	s.stop(t)
	fmt.Printf("bombs: %d of %d types sent in %v, %d accepted, all processed after %v; %d files, %d failed with a reason\n",
		sent.Load(), len(files), uploaded.Round(time.Millisecond), accepted.Load(), took.Round(time.Millisecond), status.Files, len(failures))
	fmt.Printf("honest uploads alone:  %d, p50 %v, p99 %v\n", len(alone), percentile(alone, 0.5), percentile(alone, 0.99))
	fmt.Printf("honest uploads during: %d, p50 %v, p99 %v\n", len(during), percentile(during, 0.5), percentile(during, 0.99))
	fmt.Printf("peak memory: server %d MiB, child processes in total %d MiB\n", server>>20, children>>20)
	if server > 1<<30 || children > 2<<30 {
		t.Errorf("peak memory: got server %d bytes, child processes %d bytes, want at most %d and %d", server, children, 1<<30, 2<<30)
	}
}

func TestChildProcessesKilled(t *testing.T) {
	kills := envNumber(t, "DEEDKEEP_TEST_KILLS", 30)
	h := newHarness(t)
	h.newVault()
	s := h.start()
	before := h.storedFiles()
	ids := map[int64]bool{}
	rejected := map[string]int{} // number of rejections by reason
	var mu sync.Mutex
	var uploaders sync.WaitGroup
	quit := make(chan struct{})
	for n := range 4 {
		seed := h.seed + uint64(n+1)<<32
		uploaders.Go(func() {
			for {
				select {
				case <-quit:
					return
				default:
				}
				seed++
				file, reason := s.upload(t, "deed.pdf", makePDF(seed, 20<<10))
				mu.Lock()
				switch {
				case file == nil:
					rejected[reason]++
				case ids[file.ID]:
					t.Errorf("got file ID %d twice", file.ID)
				default:
					ids[file.ID] = true
				}
				mu.Unlock()
			}
		})
	}
	killed := 0
	for start := time.Now(); killed < kills && time.Since(start) < time.Hour; {
		time.Sleep(time.Duration(rand.Int64N(int64(100 * time.Millisecond))))
		if pids := s.childPIDs(); len(pids) > 0 && syscall.Kill(pids[rand.IntN(len(pids))], syscall.SIGKILL) == nil {
			killed++
		}
	}
	close(quit)
	uploaders.Wait()
	unavailable := rejected[tryAgain]
	if delete(rejected, tryAgain); len(rejected) > 0 {
		t.Errorf("rejected documents: got %v, want none", rejected)
	}
	failures, status := h.waitIdle(10 * time.Minute)
	if got := int(status.Files) - before; got != len(ids) {
		t.Errorf("stored files: got %d, want the %d that were acknowledged", got, len(ids))
	}
	for id := range ids {
		if file, err := s.client.File(t.Context(), id); err != nil || file.IsProcessing {
			t.Errorf("file %d: got %+v, %v, want it processed", id, file, err)
		}
	}
	// If the process of a document was killed twice, processing has failed, although the
	// document is intact.
	h.command("process", "retry")
	if left, _ := h.waitIdle(10 * time.Minute); len(left) > 0 {
		t.Errorf("failures after a retry without kills: got %+v, want none", left)
	}
	if report := h.verify(); len(report.Findings) > 0 {
		t.Errorf("verify: got findings %+v, want none", report.Findings)
	}
	s.stop(t)
	fmt.Printf("child processes: %d killed; %d files accepted, %d times 503; %d failed with a reason, none after a retry\n",
		killed, len(ids), unavailable, len(failures))
}

// storedFiles returns the number of files in the vault.
func (h *harness) storedFiles() int {
	h.t.Helper()
	var status apitypes.Status
	if err := json.Unmarshal(h.command("status", "--json"), &status); err != nil {
		h.t.Fatalf("decode status: %v", err)
	}
	return int(status.Files)
}
