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
func (w *worker) watch(ctx context.Context, deadline time.Duration, deadlineErr error, memory int64, onlyCPU bool) *watchdog {
	g := &watchdog{
		worker: w, deadline: deadline, deadlineErr: deadlineErr, maxMemory: memory, onlyCPU: onlyCPU,
		stop: make(chan struct{}), pause: make(chan bool), cause: make(chan error, 1),
	}
	go func() {
		err := g.watch(ctx)
		if err != nil {
			w.kill()
		}
		g.cause <- err
		close(g.cause)
	}()
	return g
}

// release stops the watchdog and waits for it. It returns the reason why the watchdog killed the
// worker, or nil if it didn't.
func (w *watchdog) release() error {
	close(w.stop)
	return <-w.cause
}

// pauseDeadline runs work in the parent without counting its time toward the deadline.
func (w *watchdog) pauseDeadline(work func() error) error {
	w.setPaused(true)
	defer w.setPaused(false)
	return work()
}

func (w *watchdog) setPaused(on bool) {
	select {
	case w.pause <- on:
	case <-w.worker.exited: // the watchdog has stopped or is about to stop
	}
}

func (w *watchdog) watch(ctx context.Context) error {
	startedAt, startedCPU := time.Now(), cpuTime(w.worker.cmd.Process.Pid)
	resumedAt, left := startedAt, w.deadline
	timer := time.NewTimer(left)
	defer timer.Stop()
	ticker := time.NewTicker(memoryCheckInterval)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return nil
		case <-w.worker.exited:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case on := <-w.pause:
			if on {
				timer.Stop()
				left -= time.Since(resumedAt)
			} else {
				resumedAt = time.Now()
				timer.Reset(left)
			}
		case <-timer.C:
			rest := w.unusedTime(startedCPU)
			if rest <= 0 || time.Since(startedAt) > maxStretch*w.deadline {
				return w.deadlineErr
			}
			timer.Reset(max(rest, time.Second))
		case <-ticker.C:
			if w.maxMemory > 0 && residentMemory(w.worker.cmd.Process.Pid) > w.maxMemory {
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
func (w *watchdog) unusedTime(startedCPU time.Duration) time.Duration {
	now := cpuTime(w.worker.cmd.Process.Pid)
	if !w.onlyCPU || now == 0 {
		return 0
	}
	return w.deadline - (now - startedCPU)
}
