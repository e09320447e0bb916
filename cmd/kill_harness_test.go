//go:build harness

// The crash harness repeatedly kills a server under load. After each kill, all documents that the server acknowledged
// must be stored unchanged, and no other files may be left over.
//
//	go test -tags harness ./cmd -run Kill
//
//	DEEDKEEP_TEST_CYCLES   number of kills; default 50
//	DEEDKEEP_TEST_MUTANT   record-before-bytes: test a binary that commits a record before
//	                       its content, so that the test must fail
package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

const (
	mutant       = "record-before-bytes"
	startLimit   = 2 * time.Second
	maxUntilKill = 1200 * time.Millisecond // maximum time from when the server is ready until it is killed
	// cyclesPerVault is the number of kills after which the harness creates a new vault. This keeps a long run from
	// filling the disk.
	cyclesPerVault = 10
	sweepLimit     = 10 * time.Second // maximum time until the sweep at startup is done
)

// recordBeforeContent is a defect that the harness must detect: the server commits a record before the content file
// gets its final name.
var recordBeforeContent = vaulttest.Mutation{
	File: "app/vault/staged_upload.go",
	Line: "release, err = v.Blobs.Commit(ctx, staged...)",
	Before: `if true {
		return func() {
			time.Sleep(20 * time.Millisecond) // as on a slow disk
			if unpin, err := v.Blobs.Commit(ctx, staged...); err == nil {
				unpin()
			}
		}, nil
	}
	`,
	Import: "time",
}

// stats contains the results of a run.
type stats struct {
	acked, instruments, lost, stray, cycles int
	worstReady                              time.Duration
}

func (s stats) String() string {
	return fmt.Sprintf("acked=%d instruments=%d lost=%d stray=%d cycles=%d worst_ready_ms=%d", s.acked, s.instruments, s.lost, s.stray,
		s.cycles,
		s.worstReady.Milliseconds())
}

func TestKill(t *testing.T) {
	cycles := 50
	if text := os.Getenv("DEEDKEEP_TEST_CYCLES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DEEDKEEP_TEST_CYCLES: got %q, want a number greater than 0", text)
		}
		cycles = n
	}
	var mutations []vaulttest.Mutation
	switch kind := os.Getenv("DEEDKEEP_TEST_MUTANT"); kind {
	case "":
	case mutant:
		mutations = append(mutations, recordBeforeContent)
	default:
		t.Fatalf("DEEDKEEP_TEST_MUTANT: got %q, want %s", kind, mutant)
	}
	h := newHarness(t, mutations...)
	h.run(cycles, nil)
	fmt.Println(h.stats)
	if h.stats.lost > 0 || h.stats.stray > 0 || h.stats.acked == 0 || h.stats.worstReady > startLimit {
		t.Errorf("got %v, want acked > 0, nothing lost or stray, and starts within %v", h.stats, startLimit)
	}
}

// The harness detects a server that commits a record before its content.
func TestHarnessDetectsRecordBeforeContent(t *testing.T) {
	h := newHarness(t, recordBeforeContent)
	h.run(20, func() bool { return h.stats.lost > 0 })
	fmt.Println(mutant+":", h.stats)
	if h.stats.lost == 0 {
		t.Errorf("got %v, want lost documents", h.stats)
	}
}

// The harness detects if an acknowledged document is missing or changed after a restart.
func TestHarnessDetectsLostDocument(t *testing.T) {
	tests := []struct {
		name   string
		damage func(path string) error
	}{
		{"missing", os.Remove},
		{"changed", func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, makePDF(1, 2000), 0o400)
		}},
	}
	h := newHarness(t)
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
			if err := tt.damage(filepath.Join(h.dir, "blobs", digest[:2], digest)); err != nil {
				t.Fatalf("damage blob: %v", err)
			}
			h.missing = map[int64]bool{}
			h.cycle()
			if len(h.missing) == 0 {
				t.Error("the download didn't detect it")
			}
		})
	}
}

// harness runs the deedkeep binary, kills it, and checks its vaults.
type harness struct {
	t       *testing.T
	program string
	rng     *rand.Rand
	stats   stats

	env []string // additional environment variables of the server

	dir       string // the data directory
	key       string
	acked     map[int64]ackedDocument // acknowledged documents in this vault, by file ID
	missing   map[int64]bool          // IDs of files whose content is missing or wrong
	unchecked []int64                 // IDs of files acknowledged since the last restart

	instruments    map[int64]ackedInstrument // acknowledged instruments in this vault, by ID
	newInstruments []int64                   // IDs of instruments acknowledged since the last restart

	seed uint64 // seed of the next document
}

// newHarness builds the binary, with mutations of its source code if given. The test must create a vault.
func newHarness(t *testing.T, mutations ...vaulttest.Mutation) *harness {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return &harness{t: t, rng: rand.New(rand.NewPCG(seed, 0)), program: vaulttest.BuildProgram(t, mutations...)}
}

// run kills the server n times. It stops early if done returns true.
func (h *harness) run(n int, done func() bool) {
	for i := range n {
		if i%cyclesPerVault == 0 {
			h.removeVault()
			h.newVault()
		}
		h.cycle()
		if done != nil && done() {
			break
		}
	}
	h.removeVault()
}

// cycle starts the server, checks the vault after the previous kill, and kills the server while clients are uploading
// documents.
func (h *harness) cycle() {
	h.t.Helper()
	h.killDuringStart()
	s := h.start()
	h.check(s, h.unchecked, h.newInstruments)
	h.unchecked, h.newInstruments = nil, nil
	h.uploadUntilKilled(s, time.Duration(h.rng.Int64N(int64(maxUntilKill))))
	h.stats.cycles++
}

// killDuringStart starts a server and kills it during startup, in one out of eight calls. Otherwise, it does nothing.
func (h *harness) killDuringStart() {
	if h.rng.IntN(8) > 0 {
		return
	}
	s := h.startNoWait()
	time.Sleep(time.Duration(h.rng.Int64N(int64(80 * time.Millisecond))))
	s.kill()
}

// newVault creates a vault in a directory whose path is short enough for a Unix socket.
func (h *harness) newVault() {
	h.t.Helper()
	dir, err := os.MkdirTemp("", "dk")
	if err != nil {
		h.t.Fatalf("create temporary directory: %v", err)
	}
	h.t.Cleanup(func() { _ = os.RemoveAll(dir) }) // usually already removed
	h.dir, h.acked, h.missing, h.unchecked = dir, map[int64]ackedDocument{}, map[int64]bool{}, nil
	h.instruments, h.newInstruments = map[int64]ackedInstrument{}, nil
	s := h.start()
	h.key = strings.TrimSpace(string(h.command("keys", "create", "harness", "--quiet")))
	s.kill()
	// Upload a first document. It takes longer than a cycle, because PDFium must be compiled and cached.
	s = h.start()
	first := []client.Upload{{Filename: "first.pdf", Reader: bytes.NewReader(makePDF(0, minSize))}}
	if done, err := s.client.Upload(h.t.Context(), nil, first); err != nil || !done.Success {
		h.t.Fatalf("upload of the first document: got %+v, %v, want success", done, err)
	}
	s.kill()
}

// removeVault checks all documents in the vault one last time and then removes the vault.
func (h *harness) removeVault() {
	h.t.Helper()
	if h.dir == "" {
		return
	}
	s := h.start()
	h.check(s, slices.Collect(maps.Keys(h.acked)), slices.Collect(maps.Keys(h.instruments)))
	s.kill()
	if err := os.RemoveAll(h.dir); err != nil {
		h.t.Fatalf("remove directory: %v", err)
	}
	h.dir = ""
}

// check downloads the given documents, reads the given instruments, and verifies the vault when the sweep is done. It
// records what was lost.
func (h *harness) check(s *serverProcess, ids, instruments []int64) {
	h.t.Helper()
	for _, id := range h.lostInstruments(s, instruments) {
		h.stats.lost++
		h.t.Logf("instrument %d differs from the acknowledged one", id)
	}
	for _, id := range h.findDamaged(s, ids) {
		h.recordLoss(id, "download differs from the acknowledged document")
	}
	deadline := time.Now().Add(sweepLimit)
	report := h.verify()
	for report.Orphans+report.Leftovers > 0 && time.Now().Before(deadline) {
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
		h.t.Logf("%d orphans and %d leftovers after the sweep", report.Orphans, report.Leftovers)
		h.stats.stray += n
	}
	if int(report.Files) < len(h.acked) {
		h.t.Errorf("got %d records, want at least %d acknowledged files", report.Files, len(h.acked))
	}
}

// recordLoss counts a lost document. Each document is counted only once.
func (h *harness) recordLoss(id int64, why string) {
	if !h.missing[id] {
		h.missing[id] = true
		h.stats.lost++
		h.t.Logf("file %d: %s", id, why)
	}
}

// verify returns the report of `deedkeep verify --json`. If a server is running, the command uses its control socket.
func (h *harness) verify() (report apitypes.Verify) {
	h.t.Helper()
	if err := json.Unmarshal(h.command("verify", "--json"), &report); err != nil {
		h.t.Fatalf("decode report: %v", err)
	}
	return report
}

// command runs a command on the vault and returns its output. The exit code may be 0 or 3 (damage found).
func (h *harness) command(args ...string) []byte {
	h.t.Helper()
	cmd := exec.Command(h.program, append(args, "--data", h.dir)...)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() != 3 {
		h.t.Fatalf("%s: %v\n%s", args[0], err, exit.Stderr)
	} else if !ok && err != nil {
		h.t.Fatalf("%s: %v", args[0], err)
	}
	return out
}
