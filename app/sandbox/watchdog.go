package sandbox

import (
	"context"
	"time"
)

// memoryCheckInterval is how often the memory of a child at work is looked at.
const memoryCheckInterval = 50 * time.Millisecond

// watchdog watches over a child while it works.
type watchdog struct {
	worker      *worker
	deadline    time.Duration
	deadlineErr error // what passing the deadline is called
	maxMemory   int64 // bytes; 0: not watched
	stop        chan struct{}
	pause       chan bool // true: the parent works, and the child has to wait
	cause       chan error
}

// watch kills the child when ctx ends, after the deadline (late is then the
// cause), or above memory bytes (0: not watched). The caller releases the guard.
func (p *worker) watch(ctx context.Context, deadline time.Duration, late error, memory int64) *watchdog {
	g := &watchdog{
		worker: p, deadline: deadline, deadlineErr: late, maxMemory: memory,
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

// release ends the guard, waits for it and returns why it has killed, or nil.
func (g *watchdog) release() error {
	close(g.stop)
	return <-g.cause
}

// pauseDeadline does work of the parent's own, whose time is not the child's.
func (g *watchdog) pauseDeadline(work func() error) error {
	g.setPaused(true)
	defer g.setPaused(false)
	return work()
}

func (g *watchdog) setPaused(on bool) {
	select {
	case g.pause <- on:
	case <-g.worker.exited: // nobody watches any more, or soon
	}
}

func (g *watchdog) watch(ctx context.Context) error {
	began, left := time.Now(), g.deadline
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
				left -= time.Since(began)
			} else {
				began = time.Now()
				timer.Reset(left)
			}
		case <-timer.C:
			return g.deadlineErr
		case <-ticker.C:
			if g.maxMemory > 0 && residentMemory(g.worker.cmd.Process.Pid) > g.maxMemory {
				return errMemory
			}
		}
	}
}
