//go:build harness && linux

// Two harnesses of the whole server, over its API. Bombs arrive beside honest
// documents, and the processes in which documents are opened are killed at random:
//
//	go test -tags harness -run 'TestBombs|TestChildren' -v ./cmd
//
//	DEEDKEEP_TEST_BOMBS   how often each bomb is sent; 3 when not set
//	DEEDKEEP_TEST_KILLS   how many children are killed; 30 when not set

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
	"deedkeep/app/client"
	"deedkeep/app/vaulttest"
)

func envNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q", name, text)
	}
	return n
}

// state is what /proc says of a living process: its parent and its group.
func state(pid string) (parent, group int, lives bool) {
	content, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0, 0, false // it has ended meanwhile
	}
	_, rest, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 3 || fields[0] == "Z" {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(fields[1]) // the system's own numbers
	group, _ = strconv.Atoi(fields[2])
	return parent, group, true
}

func processes(choose func(pid, parent, group int) bool) (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, entry := range entries {
		pid, err := strconv.Atoi(path.Base(entry))
		if parent, group, lives := state(path.Base(entry)); err == nil && lives && choose(pid, parent, group) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (s *serverProcess) childPIDs() []int {
	return processes(func(_, parent, _ int) bool { return parent == s.cmd.Process.Pid })
}

// resident are the bytes of memory that processes hold together.
func resident(pids ...int) (sum int64) {
	for _, pid := range pids {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if fields := strings.Fields(string(content)); err == nil && len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64) // the system's own number
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}

// watchMemory notes the peaks of memory until it is told to stop.
func (s *serverProcess) watchMemory() (stop func() (server, children int64)) {
	over, done := make(chan struct{}), make(chan struct{})
	var server, children int64
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				server, children = max(server, resident(s.cmd.Process.Pid)), max(children, resident(s.childPIDs()...))
			}
		}
	}()
	return func() (int64, int64) { close(over); <-done; return server, children }
}

// stop ends the server as an operator does; nothing of it may be left.
func (s *serverProcess) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for range s.address { // Wait closes the pipe, so its reader comes first
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("serve: %v\n%s", err, s.stderr)
	}
	s.transport.CloseIdleConnections()
	if left := processes(func(_, _, group int) bool { return group == s.cmd.Process.Pid }); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

// tryAgain is what upload gives for a 503: nothing was stored.
const tryAgain = "try again"

// upload sends one document; nil and the reason when it is refused.
func (s *serverProcess) upload(t *testing.T, name string, content []byte) (*apitypes.File, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	up, err := s.client.Upload(ctx, nil, []client.Upload{{Filename: name, Reader: bytes.NewReader(content)}})
	unavailable, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && unavailable.Status == http.StatusServiceUnavailable:
		return nil, tryAgain
	case err != nil:
		t.Errorf("%s got no answer: %v", name, err)
	case len(up.Files) == 1:
		return &up.Files[0], ""
	case len(up.Errors) == 1 && up.Errors[0].Error != "":
		return nil, up.Errors[0].Error
	default:
		t.Errorf("%s: %+v", name, up)
	}
	return nil, "?"
}

// waitIdle waits until nothing waits for its processing, and gives what failed.
func (h *harness) waitIdle(within time.Duration) (failures []apitypes.ProcessFailure, stored apitypes.Status) {
	h.t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		if err := json.Unmarshal(h.command("status", "--json"), &stored); err != nil {
			h.t.Fatal(err)
		}
		if stored.Queue == 0 {
			break
		}
		if time.Now().After(end) {
			h.t.Fatalf("%d are still waiting", stored.Queue)
		}
	}
	if err := json.Unmarshal(h.command("process", "list", "--json"), &failures); err != nil {
		h.t.Fatal(err)
	}
	for _, f := range failures {
		if f.Reason == "" {
			h.t.Errorf("file %d failed without a reason", f.ID)
		}
	}
	return failures, stored
}

// uploadHonest sends small documents one after another until it is told to stop.
func (h *harness) uploadHonest(s *serverProcess, stop func() bool) (took []time.Duration) {
	for !stop() {
		h.seed++
		content := makePDF(h.seed, 20<<10)
		begun := time.Now()
		if file, why := s.upload(h.t, "honest.pdf", content); file == nil {
			h.t.Errorf("an honest document was refused: %s", why)
		}
		took = append(took, time.Since(begun))
	}
	return took
}

func percentile(list []time.Duration, share float64) time.Duration {
	slices.Sort(list)
	return list[int(share*float64(len(list)-1))].Round(100 * time.Microsecond)
}

func TestBombs(t *testing.T) {
	times := envNumber(t, "DEEDKEEP_TEST_BOMBS", 3)
	all := bombs(t)
	for _, sample := range vaulttest.Samples(t) {
		if !strings.HasPrefix(sample.Path, "refuse/") && sample.Path != "real/bomb_giant.pdf" {
			continue
		}
		content, err := os.ReadFile(sample.File)
		if err != nil {
			t.Fatal(err)
		}
		all[path.Base(sample.Path)] = content
	}
	h := newHarness(t, "")
	h.newVault()
	s := h.start()
	alone := 0
	quiet := h.uploadHonest(s, func() bool { alone++; return alone > 100 })
	h.waitIdle(time.Minute)

	peaks := s.watchMemory()
	var senders sync.WaitGroup
	var sent, taken atomic.Int64
	var verdicts sync.Map // by name; "" when it was taken
	exploding := make(chan struct{})
	work := make(chan string)
	for range 4 {
		senders.Go(func() {
			for name := range work {
				file, why := s.upload(t, name, all[name])
				if file != nil {
					taken.Add(1)
				}
				verdicts.Store(name, why)
				sent.Add(1)
			}
		})
	}
	go func() {
		defer close(exploding)
		for range times {
			for name := range all {
				work <- name
			}
		}
		close(work)
		senders.Wait()
	}()
	begun := time.Now()
	beside := h.uploadHonest(s, func() bool {
		select {
		case <-exploding:
			return true
		default:
			return false
		}
	})
	uploaded := time.Since(begun)
	failures, stored := h.waitIdle(time.Duration(times) * time.Minute)
	took := time.Since(begun)
	server, children := peaks()
	for _, f := range failures {
		verdicts.Store(f.Filename, "taken; "+f.Reason)
		if f.Filename == "honest.pdf" {
			t.Errorf("an honest document failed: %s", f.Reason)
		}
	}
	verdicts.Range(func(name, why any) bool { t.Logf("%s: %s", name, why); return true })
	s.stop(t)
	fmt.Printf("bombs: %d of %d kinds sent in %v, %d taken, all processed after %v; %d files, %d failed with a reason\n",
		sent.Load(), len(all), uploaded.Round(time.Millisecond), taken.Load(), took.Round(time.Millisecond), stored.Files, len(failures))
	fmt.Printf("honest uploads alone:  %d, p50 %v, p99 %v\n", len(quiet), percentile(quiet, 0.5), percentile(quiet, 0.99))
	fmt.Printf("honest uploads beside: %d, p50 %v, p99 %v\n", len(beside), percentile(beside, 0.5), percentile(beside, 0.99))
	fmt.Printf("peak memory: %d MiB the server, %d MiB its children together\n", server>>20, children>>20)
	if server > 1<<30 || children > 2<<30 {
		t.Error("too much memory")
	}
}

func TestChildProcessesKilled(t *testing.T) {
	kills := envNumber(t, "DEEDKEEP_TEST_KILLS", 30)
	h := newHarness(t, "")
	h.newVault()
	s := h.start()
	before := h.storedFiles()
	ids := map[int64]bool{}
	refused := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	over := make(chan struct{})
	for n := range 4 {
		seed := h.seed + uint64(n+1)<<32
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				seed++
				file, why := s.upload(t, "deed.pdf", makePDF(seed, 20<<10))
				mu.Lock()
				switch {
				case file == nil:
					refused[why]++
				case ids[file.ID]:
					t.Errorf("file %d twice", file.ID)
				default:
					ids[file.ID] = true
				}
				mu.Unlock()
			}
		})
	}
	killed := 0
	for begun := time.Now(); killed < kills && time.Since(begun) < time.Hour; {
		time.Sleep(time.Duration(rand.Int64N(int64(100 * time.Millisecond))))
		if pids := s.childPIDs(); len(pids) > 0 && syscall.Kill(pids[rand.IntN(len(pids))], syscall.SIGKILL) == nil {
			killed++
		}
	}
	close(over)
	all.Wait()
	again := refused[tryAgain]
	if delete(refused, tryAgain); len(refused) > 0 {
		t.Errorf("sound documents were rejected: %v", refused)
	}
	failures, stored := h.waitIdle(10 * time.Minute)
	if got := int(stored.Files) - before; got != len(ids) {
		t.Errorf("%d files stored, %d acknowledged", got, len(ids))
	}
	for id := range ids {
		if file, err := s.client.File(t.Context(), id); err != nil || file.IsProcessing {
			t.Errorf("file %d: %+v, %v", id, file, err)
		}
	}
	// What two kills did is no fault of the documents.
	h.command("process", "retry")
	if left, _ := h.waitIdle(10 * time.Minute); len(left) > 0 {
		t.Errorf("failed in peace: %+v", left)
	}
	if report := h.verify(); len(report.Findings) > 0 {
		t.Errorf("%+v", report.Findings)
	}
	s.stop(t)
	fmt.Printf("children: %d killed; %d files taken, %d times 503; %d failed with a reason, none after a retry\n",
		killed, len(ids), again, len(failures))
}

func (h *harness) storedFiles() int {
	h.t.Helper()
	var status apitypes.Status
	if err := json.Unmarshal(h.command("status", "--json"), &status); err != nil {
		h.t.Fatal(err)
	}
	return int(status.Files)
}
