//go:build root && linux

package powercut

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"deedkeep/app/vaulttest/blockdev"
)

const (
	usualCycles = 20
	houseCycles = 10 // on one disk
	cutWithin   = 600 * time.Millisecond
)

// TestShutdown has the kernel itself forget what it has not written.
func TestShutdown(t *testing.T) {
	cycles, chance := number(t, "DEEDKEEP_TEST_CYCLES", usualCycles), rand.New(rand.NewPCG(seed(t), 1))
	binary := program(t, nil)
	for n := 0; n*houseCycles < cycles && !t.Failed(); n++ {
		kind := []string{"ext4", "xfs"}[n%2]
		t.Run(fmt.Sprintf("%d %s", n+1, kind), func(t *testing.T) {
			disk := blockdev.NewPlain(t, diskSizes[kind])
			disk.Mkfs(t, kind)
			h := newHouse(t, binary, "", disk, chance)
			now := 0
			h.moment = func() int { return now }
			h.mount()
			for now = range min(houseCycles, cycles-n*houseCycles) {
				h.cycle(time.Duration(chance.Int64N(int64(cutWithin))))
				wrong, err := inspect(t.Context(), h.folder, h.book, now+1)
				if err != nil || len(wrong) > 0 {
					t.Fatalf("cycle %d: %v, %q", now+1, err, wrong)
				}
			}
			t.Logf("cycles=%d acknowledged=%d lost=0", now+1, h.book.acknowledged())
		})
	}
}

// cycle starts the server, shuts its file system down under load, and mounts it again.
func (h *house) cycle(after time.Duration) {
	h.t.Helper()
	h.start()
	done := make(chan error, 1)
	go func() { done <- h.work(h.workers, never) }()
	select {
	case err := <-done:
		h.t.Fatalf("a request failed before the shutdown: %v\n%s", err, h.said)
	case <-time.After(after):
	}
	h.disk.CutPower(h.t)
	h.kill()
	if err := <-done; err == nil {
		h.t.Fatal("requests ended without an error")
	}
	h.disk.Unmount(h.t)
	h.mount()
}
