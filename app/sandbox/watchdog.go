package sandbox

import (
	"context"
	"time"
)

// memoryCheckInterval is how often a busy worker's memory is checked.
const memoryCheckInterval = 50 * time.Millisecond

// watchdog supervises a worker while it runs a task.
type watchdog struct {
	worker      *worker
	deadline    time.Duration
	deadlineErr error // returned if the deadline expires
	maxMemory   int64 // maximum resident memory in bytes; 0 means unlimited
	onlyCPU     bool  // the deadline counts CPU time if it is known
	stop        chan struct{}
	pause       chan bool // true pauses the deadline, false resumes it
	cause       chan error
}

// watch starts a watchdog. The watchdog kills the worker when ctx is canceled, when the deadline
// expires, or when the worker uses more than memory bytes (0 means unlimited). deadlineErr is the
// cause that it reports after the deadline. If onlyCPU is true, the deadline counts CPU time.
// The caller must release the watchdog.
func (p *worker) watch(ctx context.Context, deadline time.Duration, deadlineErr error, memory int64, onlyCPU bool) *watchdog {
	g := &watchdog{
		worker: p, deadline: deadline, deadlineErr: deadlineErr, maxMemory: memory, onlyCPU: onlyCPU,
		stop: make(chan struct{}), pause: make(chan bool), cause: make(chan error, 1),
	}
	go func() {
		err := g.watch(ctx)
		if err != nil {
			p.kill()
		}
		g.cause <- err
		close(g.cause)
	}()
	return g
}

// release stops the watchdog and waits for it. It returns the reason why the watchdog killed the
// worker, or nil if it didn't.
func (g *watchdog) release() error {
	close(g.stop)
	return <-g.cause
}

// pauseDeadline runs work in the parent without counting its time toward the deadline.
func (g *watchdog) pauseDeadline(work func() error) error {
	g.setPaused(true)
	defer g.setPaused(false)
	return work()
}

func (g *watchdog) setPaused(on bool) {
	select {
	case g.pause <- on:
	case <-g.worker.exited: // the watchdog has stopped or is about to stop
	}
}

func (g *watchdog) watch(ctx context.Context) error {
	startedAt, startedCPU := time.Now(), cpuTime(g.worker.cmd.Process.Pid)
	resumedAt, left := startedAt, g.deadline
	timer := time.NewTimer(left)
	defer timer.Stop()
	ticker := time.NewTicker(memoryCheckInterval)
	defer ticker.Stop()
	for {
		select {
		case <-g.stop:
			return nil
		case <-g.worker.exited:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case on := <-g.pause:
			if on {
				timer.Stop()
				left -= time.Since(resumedAt)
			} else {
				resumedAt = time.Now()
				timer.Reset(left)
			}
		case <-timer.C:
			rest := g.unusedTime(startedCPU)
			if rest <= 0 || time.Since(startedAt) > maxStretch*g.deadline {
				return g.deadlineErr
			}
			timer.Reset(max(rest, time.Second))
		case <-ticker.C:
			if g.maxMemory > 0 && residentMemory(g.worker.cmd.Process.Pid) > g.maxMemory {
				return errMemory
			}
		}
	}
}

// maxStretch is how many times its deadline a worker may take on a busy computer if the deadline
// counts CPU time.
const maxStretch = 10

// unusedTime returns how much CPU time the worker may still use. startedCPU is what it had
// used at the start.
func (g *watchdog) unusedTime(startedCPU time.Duration) time.Duration {
	now := cpuTime(g.worker.cmd.Process.Pid)
	if !g.onlyCPU || now == 0 {
		return 0
	}
	return g.deadline - (now - startedCPU)
}
