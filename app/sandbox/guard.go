package sandbox

import (
	"context"
	"time"
)

// watchEvery is how often the memory of a child at work is looked at.
const watchEvery = 50 * time.Millisecond

// guard watches over a child while it works.
type guard struct {
	p        *process
	deadline time.Duration
	late     error // what passing the deadline is called
	memory   int64 // bytes; 0: not watched
	stop     chan struct{}
	pause    chan bool // true: the parent works, and the child has to wait
	cause    chan error
}

// guard kills the child when ctx ends, after the deadline (late is then the
// cause), or above memory bytes (0: not watched). The caller releases the guard.
func (p *process) guard(ctx context.Context, deadline time.Duration, late error, memory int64) *guard {
	g := &guard{
		p: p, deadline: deadline, late: late, memory: memory,
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
func (g *guard) release() error {
	close(g.stop)
	return <-g.cause
}

// aside does work of the parent's own, whose time is not the child's.
func (g *guard) aside(work func() error) error {
	g.hold(true)
	defer g.hold(false)
	return work()
}

func (g *guard) hold(on bool) {
	select {
	case g.pause <- on:
	case <-g.p.exited: // nobody watches any more, or soon
	}
}

func (g *guard) watch(ctx context.Context) error {
	began, left := time.Now(), g.deadline
	timer := time.NewTimer(left)
	defer timer.Stop()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-g.stop:
			return nil
		case <-g.p.exited:
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
			return g.late
		case <-ticker.C:
			if g.memory > 0 && resident(g.p.cmd.Process.Pid) > g.memory {
				return errMemory
			}
		}
	}
}
