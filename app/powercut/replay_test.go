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
	"deedkeep/app/vaulttest/blockdev"
)

const (
	usualStates = 500
	// fromOne is how many states one recording is good for.
	fromOne = 1000
	// xfsEach is of how many recordings one is of XFS, in the long form: its states
	// take six times as long.
	xfsEach    = 5
	xfsShare   = 4 // of the states of such a recording, one in xfsShare
	backupEach = 8 // of how many states one has its backup verified
	players    = 2
)

var diskSizes = map[string]int64{"ext4": 192 << 20, "xfs": 320 << 20}

// TestReplay is the row "survive a power failure" of what the vault guarantees.
func TestReplay(t *testing.T) {
	states, chance := number(t, "DEEDKEEP_TEST_STATES", usualStates), rand.New(rand.NewPCG(seed(t), 0))
	binary := program(t, nil)
	for n, left := 1, states; left > 0 && !t.Failed(); n++ {
		kind, some := "ext4", min(left, fromOne)
		if n%xfsEach == 0 {
			kind, some = "xfs", min(left, fromOne/xfsShare)
		}
		t.Run(fmt.Sprintf("%d %s", n, kind), func(t *testing.T) {
			r := record(t, binary, "", kind, chance, 8, 16)
			r.replay(r.moments(chance, some), 0)
			if r.lost > 0 || r.unopenable > 0 {
				t.Errorf("%d states have lost something, %d do not open", r.lost, r.unopenable)
			}
		})
		left -= some
	}
}

// run is a recording, and what was acknowledged in it.
type run struct {
	t          *testing.T
	book       *book
	recording  *blockdev.Recording
	backup     int // the moment at which one was acknowledged
	mu         sync.Mutex
	lost       int
	unopenable int
}

// record has the server work on a disk that is recorded. All workers send requests at
// the same time, then one of them alone: the syncs of others hide one that is left out.
func record(t *testing.T, binary, mutant, kind string, chance *rand.Rand, together, alone int) *run {
	t.Helper()
	begun := time.Now()
	disk := blockdev.New(t, diskSizes[kind])
	disk.Mkfs(t, kind)
	h := newHouse(t, binary, mutant, disk, chance)
	h.mount()
	r := &run{t: t, book: h.book, recording: disk.Record(t)}
	h.moment = r.recording.Len
	h.start()
	done := make(chan error, 1)
	go func() { done <- h.work(h.workers, together) }()
	h.command("backup", "create", "--to", backupIn(h.folder))
	r.backup = h.moment()
	err := errors.Join(<-done, h.work(h.workers[:1], alone))
	if err != nil {
		t.Fatalf("a request failed: %v\n%s", err, h.said)
	}
	h.stop()
	h.purge()
	r.recording.Stop()
	disk.Unmount(t)
	t.Logf("recorded %d writes and flushes, %d flushes, with %d acknowledged requests in %.1f s",
		r.recording.Len(), len(r.recording.Flushes()), r.book.acknowledged(), time.Since(begun).Seconds())
	return r
}

// purge ends what is in the trash.
func (h *house) purge() {
	h.t.Helper()
	from := h.moment()
	cmd := exec.CommandContext(h.t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), purgeVariable+"="+dataIn(h.folder))
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("purge: %v\n%s", err, out)
	}
	for _, w := range h.workers {
		for _, f := range w.files {
			if f.trashed {
				h.book.add(fmt.Sprint("file ", f.id), change{from, h.moment(), ""})
			}
		}
	}
}

// cut is a moment at which the power fails, and whether all that was written by then is
// on the disk, or a choice of what came since the last flush.
type cut struct {
	moment int
	choice *rand.Rand // nil: all
}

// moments chooses where to cut: right after flushes, right after what was acknowledged,
// and any others.
func (r *run) moments(chance *rand.Rand, states int) []cut {
	cuts := r.responses(chance)
	for _, at := range r.recording.Flushes() {
		cuts = append(cuts, cut{at, nil})
	}
	chance.Shuffle(len(cuts), func(i, j int) { cuts[i], cuts[j] = cuts[j], cuts[i] })
	// A third is left for moments between.
	cuts = cuts[:min(len(cuts), states-states/3)]
	for len(cuts) < states {
		cuts = append(cuts, cut{chance.IntN(r.recording.Len() + 1), split(chance)})
	}
	return sorted(cuts)
}

// responses are the moments right after what was acknowledged.
func (r *run) responses(chance *rand.Rand) (cuts []cut) {
	for _, changes := range r.book.changes {
		for _, c := range changes {
			cuts = append(cuts, cut{c.to, split(chance)})
		}
	}
	return sorted(cuts)
}

func sorted(cuts []cut) []cut {
	slices.SortFunc(cuts, func(a, b cut) int { return a.moment - b.moment })
	return cuts
}

// split gives chance for one goroutine.
func split(chance *rand.Rand) *rand.Rand {
	return rand.New(rand.NewPCG(chance.Uint64(), chance.Uint64()))
}

// replay looks at the states, until enough are wrong; 0: at all of them.
func (r *run) replay(cuts []cut, enough int) {
	r.t.Helper()
	begun := time.Now()
	var all sync.WaitGroup
	var looked int
	for n := range players {
		player := r.recording.Replayer(r.t)
		all.Go(func() {
			for i := n; i < len(cuts); i += players {
				r.look(player, cuts[i], i%backupEach == 0)
				r.mu.Lock()
				looked++
				stop := enough > 0 && r.lost+r.unopenable >= enough
				r.mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	all.Wait()
	r.t.Logf("states=%d lost=%d unopenable=%d in %.1f s", looked, r.lost, r.unopenable, time.Since(begun).Seconds())
}

// look judges one state.
func (r *run) look(player *blockdev.Replayer, c cut, backup bool) {
	wrong, err := r.judge(player, c, backup)
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

func (r *run) judge(player *blockdev.Replayer, c cut, backup bool) (wrong []string, err error) {
	disk, err := player.Replay(c.moment, c.choice)
	if err != nil {
		return nil, err
	}
	folder, err := disk.TryMount()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, disk.TryUnmount()) }()
	if err := os.MkdirAll(dataIn(folder), 0o700); err != nil { // cut before it was there
		return nil, err
	}
	wrong, err = inspect(context.Background(), folder, r.book, c.moment)
	if err == nil && backup && r.backup <= c.moment {
		wrong, err = intact(wrong, backupIn(folder))
	}
	return wrong, err
}

// inspect opens the vault on a mounted disk, and judges it.
func inspect(ctx context.Context, folder string, b *book, moment int) (wrong []string, err error) {
	v, err := instance.Open(ctx, options(dataIn(folder), time.Now))
	if err != nil {
		return nil, fmt.Errorf("open the vault: %w", err)
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return b.check(ctx, v, moment)
}

// intact adds what is damaged in the backup that was acknowledged.
func intact(wrong []string, folder string) ([]string, error) {
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
