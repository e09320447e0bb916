//go:build root && linux

package powercut

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/blockdev"
)

const (
	usualStates = 500
	// fromOne is the maximum number of states checked per recording.
	fromOne = 1000
	// In a long run, every xfsEach-th recording uses XFS. Checking an XFS state takes six times as long.
	xfsEach    = 5
	xfsShare   = 4 // XFS recordings check only 1/xfsShare as many states
	backupEach = 8 // the backup is verified in every backupEach-th state
	players    = 2
)

var diskSizes = map[string]int64{"ext4": 192 << 20, "xfs": 320 << 20}

// TestReplay checks that acknowledged changes survive a power failure.
func TestReplay(t *testing.T) {
	states, rng := number(t, "DEEDKEEP_TEST_STATES", usualStates), rand.New(rand.NewPCG(seed(t), 0))
	binary := vaulttest.BuildProgram(t)
	for n, left := 1, states; left > 0 && !t.Failed(); n++ {
		kind, some := "ext4", min(left, fromOne)
		if n%xfsEach == 0 {
			kind, some = "xfs", min(left, fromOne/xfsShare)
		}
		t.Run(fmt.Sprintf("%d %s", n, kind), func(t *testing.T) {
			r := record(t, binary, "", kind, rng, 8, 16)
			r.replay(r.moments(rng, some), 0)
			if r.lost > 0 || r.unopenable > 0 {
				t.Errorf("%d states lost data and %d can't be opened, want none", r.lost, r.unopenable)
			}
		})
		left -= some
	}
}

// run is a recording of a disk, with the journal of acknowledged requests and the results of the replay.
type run struct {
	t          *testing.T
	journal    *journal
	recording  *blockdev.Recording
	backup     int // position at which the backup was acknowledged
	mu         sync.Mutex
	lost       int
	unopenable int
}

// record runs the server on a disk whose writes are recorded. At first, all workers send requests concurrently. Then
// only one does, because the syncs of concurrent requests can hide an omitted sync.
func record(t *testing.T, binary, mutant, kind string, rng *rand.Rand, together, alone int) *run {
	t.Helper()
	start := time.Now()
	disk := blockdev.New(t, diskSizes[kind])
	disk.Mkfs(t, kind)
	h := newTestServer(t, binary, mutant, disk, rng)
	h.mount()
	r := &run{t: t, journal: h.journal, recording: disk.Record(t)}
	h.moment = r.recording.Len
	h.start()
	done := make(chan error, 1)
	go func() { done <- h.work(h.workers, together) }()
	h.command("backup", "create", "--to", backupIn(h.folder))
	r.backup = h.moment()
	err := errors.Join(<-done, h.work(h.workers[:1], alone))
	h.waitOCR()
	if err = errors.Join(err, h.work(h.workers[:1], 1)); err != nil {
		t.Fatalf("a request failed: %v\n%s", err, h.said)
	}
	h.stop()
	h.purge()
	r.recording.Stop()
	disk.Unmount(t)
	t.Logf("recorded %d writes and flushes, %d flushes, with %d acknowledged requests in %.1f s",
		r.recording.Len(), len(r.recording.Flushes()), r.journal.acknowledged(), time.Since(start).Seconds())
	return r
}

// purge empties the trash and records the deletions in the journal.
func (ts *testServer) purge() {
	ts.t.Helper()
	from := ts.moment()
	cmd := exec.CommandContext(ts.t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), purgeEnv+"="+dataIn(ts.folder))
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.t.Fatalf("purge: %v\n%s", err, out)
	}
	for _, w := range ts.workers {
		for _, f := range w.files {
			if f.trashed {
				ts.journal.add(fmt.Sprint("file ", f.id), change{from, ts.moment(), ""})
			}
		}
	}
}

// cut is a simulated power failure at a position in the recording.
type cut struct {
	moment int
	choice *rand.Rand // selects the unflushed writes that survive; nil: all survive
}

// moments returns the positions of power failures: right after flushes, right after acknowledgments, and at random.
func (r *run) moments(rng *rand.Rand, states int) []cut {
	cuts := slices.Concat(r.responses(rng), r.flushes(rng))
	rng.Shuffle(len(cuts), func(i, j int) { cuts[i], cuts[j] = cuts[j], cuts[i] })
	// A third of the positions are random.
	cuts = cuts[:min(len(cuts), states-states/3)]
	for len(cuts) < states {
		cuts = append(cuts, cut{rng.IntN(r.recording.Len() + 1), splitRand(rng)})
	}
	return sorted(cuts)
}

// responses returns power failures right after each acknowledgment.
func (r *run) responses(rng *rand.Rand) (cuts []cut) {
	for _, changes := range r.journal.changes {
		for _, c := range changes {
			cuts = append(cuts, cut{c.to, splitRand(rng)})
		}
	}
	for _, up := range r.journal.uploads {
		for _, c := range up.confirmed {
			cuts = append(cuts, cut{c.at, splitRand(rng)})
		}
	}
	return sorted(cuts)
}

// flushes returns power failures right after each flush, with no later write.
func (r *run) flushes(*rand.Rand) (cuts []cut) {
	for _, at := range r.recording.Flushes() {
		cuts = append(cuts, cut{at, nil})
	}
	return cuts
}

func sorted(cuts []cut) []cut {
	slices.SortFunc(cuts, func(a, b cut) int { return a.moment - b.moment })
	return cuts
}

// splitRand returns a new generator, seeded from rng, for use by one goroutine.
func splitRand(rng *rand.Rand) *rand.Rand {
	return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
}

// replay checks the states after power failures at cuts. It stops when it has found the given number of damaged states;
// 0 means that it checks all of them.
func (r *run) replay(cuts []cut, enough int) {
	r.t.Helper()
	start := time.Now()
	var all sync.WaitGroup
	var checked int
	for n := range players {
		player := r.recording.Replayer(r.t)
		all.Go(func() {
			for i := n; i < len(cuts); i += players {
				r.checkState(player, cuts[i], i%backupEach == 0)
				r.mu.Lock()
				checked++
				stop := enough > 0 && r.lost+r.unopenable >= enough
				r.mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	all.Wait()
	r.t.Logf("states=%d lost=%d unopenable=%d in %.1f s", checked, r.lost, r.unopenable, time.Since(start).Seconds())
}

// checkState checks the state after one power failure and counts it if data was lost or the vault can't be opened.
func (r *run) checkState(player *blockdev.Replayer, c cut, backup bool) {
	wrong, err := r.checkDisk(player, c, backup)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(wrong) > 0 {
		r.lost++
	}
	if err != nil {
		r.unopenable++
		wrong = append(wrong, err.Error())
	}
	if r.lost+r.unopenable <= 5 && len(wrong) > 0 {
		r.t.Logf("power cut after %d of %d writes and flushes:\n%q", c.moment, r.recording.Len(), wrong[:min(len(wrong), 10)])
	}
}

func (r *run) checkDisk(player *blockdev.Replayer, c cut, backup bool) (wrong []string, err error) {
	disk, err := player.Replay(c.moment, c.choice)
	if err != nil {
		return nil, err
	}
	folder, err := disk.TryMount()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, disk.TryUnmount()) }()
	if err := os.MkdirAll(dataIn(folder), 0o700); err != nil { // the power failed before the data directory was created
		return nil, err
	}
	wrong, err = inspect(context.Background(), folder, r.journal, c.moment)
	if err == nil && backup && r.backup <= c.moment {
		wrong, err = checkBackup(wrong, backupIn(folder))
	}
	return wrong, err
}

// inspect opens the vault on a mounted disk and checks it against the journal. It returns an error if the vault can't
// be opened.
func inspect(ctx context.Context, folder string, b *journal, moment int) (wrong []string, err error) {
	v, err := instance.Open(ctx, options(dataIn(folder), time.Now))
	if err != nil {
		return nil, fmt.Errorf("open the vault: %w", err)
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return b.check(ctx, v, moment)
}

// checkBackup verifies the acknowledged backup and appends a message for each finding to wrong.
func checkBackup(wrong []string, folder string) ([]string, error) {
	a, err := archive.Open(folder, archive.Options{Now: time.Now})
	if err != nil {
		return nil, err
	}
	report, err := a.Verify(context.Background(), "", func(int64, int64) {})
	if err != nil {
		return nil, err
	}
	for _, f := range report.Findings {
		wrong = append(wrong, fmt.Sprintf("backup: %+v", f))
	}
	return wrong, nil
}
