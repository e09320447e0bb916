//go:build harness

// The crash harness (PROMISES.md, row 3): a server is killed under load, over and
// over, and afterward every document that it acknowledged must be there, byte for
// byte, with nothing stray beside it.
//
//	go test -tags harness ./cmd -run Kill
//
//	DEEDKEEP_TEST_CYCLES   how many kills; 50 when not set
//	DEEDKEEP_TEST_MUTANT   record-before-bytes: kill a binary that commits the record
//	                       before its bytes, which must fail
package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

const (
	mutant       = "record-before-bytes"
	startLimit   = 2 * time.Second
	maxUntilKill = 1200 * time.Millisecond // after the server was ready
	// cyclesPerVault is after how many kills the data directory is given up for a new
	// one, so that a long run fits on a disk.
	cyclesPerVault = 10
	sweepLimit     = 10 * time.Second // for the sweep of the start
)

// stats is what a run counts.
type stats struct {
	acked, lost, stray, cycles int
	worstReady                 time.Duration
}

func (c stats) String() string {
	return fmt.Sprintf("acked=%d lost=%d stray=%d cycles=%d worst_ready_ms=%d", c.acked, c.lost, c.stray, c.cycles, c.worstReady.Milliseconds())
}

func TestKill(t *testing.T) {
	cycles := 50
	if text := os.Getenv("DEEDKEEP_TEST_CYCLES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DEEDKEEP_TEST_CYCLES is %q", text)
		}
		cycles = n
	}
	tags := ""
	switch kind := os.Getenv("DEEDKEEP_TEST_MUTANT"); kind {
	case "":
	case mutant:
		tags = "mutant"
	default:
		t.Fatalf("DEEDKEEP_TEST_MUTANT is %q: there is %s", kind, mutant)
	}
	h := newHarness(t, tags)
	h.run(cycles, nil)
	fmt.Println(h.stats)
	if h.stats.lost > 0 || h.stats.stray > 0 || h.stats.acked == 0 || h.stats.worstReady > startLimit {
		t.Error(h.stats)
	}
}

// The harness itself is tested: a vault that commits the record first must be caught.
func TestHarnessCatchesRecordBeforeBytes(t *testing.T) {
	h := newHarness(t, "mutant")
	h.run(20, func() bool { return h.stats.lost > 0 })
	fmt.Println(mutant+":", h.stats)
	if h.stats.lost == 0 {
		t.Errorf("not caught: %v", h.stats)
	}
}

// So must one acknowledged document that is gone, or another, after a restart.
func TestHarnessCatchesALostDocument(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(path string) error
	}{
		{"gone", os.Remove},
		{"another", func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, makePDF(1, 2000), 0o400)
		}},
	}
	h := newHarness(t, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h.newVault()
			for len(h.acked) == 0 {
				h.cycle()
			}
			var digest string
			for _, a := range h.acked {
				digest = a.digest
			}
			if err := tt.spoil(filepath.Join(h.dir, "blobs", digest[:2], digest)); err != nil {
				t.Fatalf("spoil: %v", err)
			}
			h.missing = map[int64]bool{}
			h.cycle()
			if len(h.missing) == 0 {
				t.Error("not caught by downloading")
			}
		})
	}
}

// harness is a run of the binary over data directories.
type harness struct {
	t       *testing.T
	program string
	rng     *rand.Rand
	stats   stats

	dir       string // the data directory
	key       string
	acked     map[int64]ackedDocument // in this data directory, by file
	missing   map[int64]bool          // of them, or of the records: without the right bytes
	unchecked []int64                 // acknowledged since the last restart
	seed      uint64                  // of the next document
}

func newHarness(t *testing.T, tags string) *harness {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	h := &harness{t: t, rng: rand.New(rand.NewPCG(seed, 0)), program: filepath.Join(t.TempDir(), "deedkeep.exe")}
	build := exec.Command("go", "build", "-trimpath", "-tags", strings.TrimSpace("nomsgpack "+tags), "-o", h.program, "deedkeep")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return h
}

// run kills the server so many times, or until enough says so.
func (h *harness) run(cycles int, enough func() bool) {
	for n := range cycles {
		if n%cyclesPerVault == 0 {
			h.removeVault()
			h.newVault()
		}
		h.cycle()
		if enough != nil && enough() {
			break
		}
	}
	h.removeVault()
}

// cycle starts the server, judges what the kill before left, loads it and kills it.
func (h *harness) cycle() {
	h.t.Helper()
	h.killDuringStart()
	s := h.start()
	h.check(s, h.unchecked)
	h.unchecked = nil
	h.uploadUntilKilled(s, time.Duration(h.rng.Int64N(int64(maxUntilKill))))
	h.stats.cycles++
}

// killDuringStart kills one start in eight before it answers.
func (h *harness) killDuringStart() {
	if h.rng.IntN(8) > 0 {
		return
	}
	s := h.startNoWait()
	time.Sleep(time.Duration(h.rng.Int64N(int64(80 * time.Millisecond))))
	s.kill()
}

// newVault begins a new data directory. Its path is short: a socket is to fit.
func (h *harness) newVault() {
	h.t.Helper()
	dir, err := os.MkdirTemp("", "dk")
	if err != nil {
		h.t.Fatalf("create temporary directory: %v", err)
	}
	h.t.Cleanup(func() { _ = os.RemoveAll(dir) }) // gone already, mostly
	h.dir, h.acked, h.missing, h.unchecked = dir, map[int64]ackedDocument{}, map[int64]bool{}, nil
	s := h.start()
	h.key = strings.TrimSpace(string(h.command("keys", "create", "harness", "--quiet")))
	s.kill()
	// The first document of all waits for the engine to be compiled and cached: it
	// may take longer than a cycle.
	s = h.start()
	warm := []client.Upload{{Filename: "first.pdf", Reader: bytes.NewReader(makePDF(0, minSize))}}
	if done, err := s.client.Upload(h.t.Context(), nil, warm); err != nil || !done.Success {
		h.t.Fatalf("%+v, %v", done, err)
	}
	s.kill()
}

// removeVault judges everything in the data directory once more, and removes it.
func (h *harness) removeVault() {
	h.t.Helper()
	if h.dir == "" {
		return
	}
	s := h.start()
	var all []int64
	for id := range h.acked {
		all = append(all, id)
	}
	h.check(s, all)
	s.kill()
	if err := os.RemoveAll(h.dir); err != nil {
		h.t.Fatalf("remove directory: %v", err)
	}
	h.dir = ""
}

// check waits for the sweep, downloads the documents and has the vault verified.
func (h *harness) check(s *serverProcess, ids []int64) {
	h.t.Helper()
	for _, id := range h.findDamaged(s, ids) {
		h.recordLoss(id, "is not what was acknowledged")
	}
	end := time.Now().Add(sweepLimit)
	report := h.verify()
	for report.Orphans+report.Leftovers > 0 && time.Now().Before(end) {
		time.Sleep(20 * time.Millisecond)
		report = h.verify()
	}
	for _, f := range report.Findings {
		id, err := strconv.ParseInt(f.Subject, 10, 64)
		if f.Kind != "file" || err != nil {
			h.t.Errorf("verify: %s %s: %s", f.Kind, f.Subject, f.Problem)
			continue
		}
		h.recordLoss(id, f.Problem)
	}
	if n := int(report.Orphans + report.Leftovers); n > 0 {
		h.t.Logf("%d orphans, %d leftovers stay", report.Orphans, report.Leftovers)
		h.stats.stray += n
	}
	if int(report.Files) < len(h.acked) {
		h.t.Errorf("%d records of %d acknowledged files", report.Files, len(h.acked))
	}
}

func (h *harness) recordLoss(id int64, why string) {
	if !h.missing[id] {
		h.missing[id] = true
		h.stats.lost++
		h.t.Logf("file %d: %s", id, why)
	}
}

// verify is `deedkeep verify --json`, through the door of the running server.
func (h *harness) verify() (report apitypes.Verify) {
	h.t.Helper()
	if err := json.Unmarshal(h.command("verify", "--json"), &report); err != nil {
		h.t.Fatalf("decode JSON: %v", err)
	}
	return report
}

// command runs a command on the data directory; damage is in its output.
func (h *harness) command(args ...string) []byte {
	h.t.Helper()
	run := exec.Command(h.program, append(args, "--data", h.dir)...)
	out, err := run.Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() != 3 {
		h.t.Fatalf("%s: %v\n%s", args[0], err, exit.Stderr)
	} else if !ok && err != nil {
		h.t.Fatal(err)
	}
	return out
}
