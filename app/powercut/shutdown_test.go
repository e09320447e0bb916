//go:build root && linux

package powercut

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/blockdev"
)

const (
	usualCycles  = 20
	serverCycles = 10 // cycles per disk
	cutWithin    = 600 * time.Millisecond
)

// TestShutdown checks that no acknowledged change is lost when the kernel shuts down the
// file system and discards unwritten data.
func TestShutdown(t *testing.T) {
	cycles, rng := number(t, "DEEDKEEP_TEST_CYCLES", usualCycles), rand.New(rand.NewPCG(seed(t), 1))
	binary := vaulttest.BuildProgram(t)
	for n := 0; n*serverCycles < cycles && !t.Failed(); n++ {
		kind := []string{"ext4", "xfs"}[n%2]
		t.Run(fmt.Sprintf("%d %s", n+1, kind), func(t *testing.T) {
			disk := blockdev.NewPlain(t, diskSizes[kind])
			disk.Mkfs(t, kind)
			h := newTestServer(t, binary, "", disk, rng)
			now := 0
			h.moment = func() int { return now }
			h.mount()
			for now = range min(serverCycles, cycles-n*serverCycles) {
				h.cycle(time.Duration(rng.Int64N(int64(cutWithin))))
				wrong, err := inspect(t.Context(), h.folder, h.journal, now+1)
				if err != nil || len(wrong) > 0 {
					t.Fatalf("cycle %d: got %v, %q, want nothing lost", now+1, err, wrong)
				}
			}
			t.Logf("cycles=%d acknowledged=%d lost=0", now+1, h.journal.acknowledged())
		})
	}
}

// cycle starts the server, shuts down the file system after the given time while requests
// are in progress, and mounts it again.
func (ts *testServer) cycle(after time.Duration) {
	ts.t.Helper()
	ts.start()
	done := make(chan error, 1)
	go func() { done <- ts.work(ts.workers, never) }()
	select {
	case err := <-done:
		ts.t.Fatalf("a request failed before the shutdown: %v\n%s", err, ts.said)
	case <-time.After(after):
	}
	ts.disk.CutPower(ts.t)
	ts.kill()
	if err := <-done; err == nil {
		ts.t.Fatal("the requests succeeded without a disk, want an error")
	}
	ts.disk.Unmount(ts.t)
	ts.mount()
}
